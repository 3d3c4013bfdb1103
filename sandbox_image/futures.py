"""`concurrent.futures` where no thread can be started: what a pool of threads is given has run when `submit` returns.

Futures, and what waits for them, are Python's own. A pool of processes is refused: its workers would share no variables.
"""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import threads

_SAME = (
    "ALL_COMPLETED", "BrokenExecutor", "CancelledError", "Executor", "FIRST_COMPLETED", "FIRST_EXCEPTION", "Future",
    "InvalidStateError", "TimeoutError", "as_completed", "wait",
)  # fmt: skip


def names() -> dict[str, Any]:
    """What a program has of the module; nothing where it is not loaded."""
    base: ModuleType | None = sys.modules.get("concurrent.futures._base")
    if base is None:
        return {}
    found = vars(base)
    found["threading"] = threads  # a future that nobody completes is not waited for
    Executor: Any = found["Executor"]

    class ThreadPoolExecutor(Executor):  # type: ignore[misc]
        def __init__(
            self,
            max_workers: int | None = None,
            thread_name_prefix: str = "",
            initializer: Callable[..., object] | None = None,
            initargs: tuple[Any, ...] = (),
        ) -> None:
            if max_workers is not None and max_workers <= 0:
                raise ValueError("max_workers must be greater than 0")
            self._over = False
            if initializer is not None:
                initializer(*initargs)

        def submit(self, fn: Callable[..., object], /, *args: Any, **kwargs: Any) -> Any:
            if self._over:
                raise RuntimeError("cannot schedule new futures after shutdown")
            future = found["Future"]()
            future.set_running_or_notify_cancel()
            try:
                future.set_result(fn(*args, **kwargs))
            except (MemoryError, PermissionError):  # of the program as a whole, as in a thread
                raise
            except BaseException as error:
                future.set_exception(error)
            return future

        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
            self._over = True

    return {name: found[name] for name in _SAME} | {"ThreadPoolExecutor": ThreadPoolExecutor}
