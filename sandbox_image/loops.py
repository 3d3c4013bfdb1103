"""`asyncio` where nothing can wake a program but time: Python's own, on a loop that sleeps until the next timer.

No thread can be started: what an executor is given has run when `run_in_executor` returns. Sockets and processes are refused.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

from threads import Waiting

_OUTSIDE = (
    "create_subprocess_exec", "create_subprocess_shell", "open_connection", "open_unix_connection", "start_server",
    "start_unix_server",
)  # fmt: skip


def names() -> dict[str, Any]:
    """What a program has of the module; nothing where it is not loaded."""
    real = sys.modules.get("asyncio")
    if real is None:
        return {}
    public = {name for name in vars(real) if name[0] != "_"}.union(real.__all__).difference(_OUTSIDE)
    own = {name: vars(real)[name] for name in public}
    return own | {"SelectorEventLoop": own["new_event_loop"]}


def prepare() -> None:
    """Let `asyncio` begin with such loops."""
    import asyncio

    class Loop(asyncio.BaseEventLoop):
        """Its own selector, which no event comes to."""

        def __init__(self) -> None:
            super().__init__()
            self._selector = self

        def select(self, timeout: float | None) -> list[Any]:
            if timeout is None:
                raise Waiting(1, "a loop in which every task waits for another one")
            time.sleep(timeout)
            return []

        def _process_events(self, events: list[Any]) -> None:
            """There are none."""

        def _write_to_self(self) -> None:
            """Nobody else is there to wake it."""

        def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:  # type: ignore[override]
            future = self.create_future()
            try:
                future.set_result(func(*args))
            except (MemoryError, PermissionError):  # of the program as a whole, as in a thread
                raise
            except BaseException as error:
                future.set_exception(error)
            return future

    asyncio.unix_events._UnixDefaultEventLoopPolicy._loop_factory = Loop  # type: ignore[attr-defined]
