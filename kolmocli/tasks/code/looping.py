"""What runs a program's coroutines for the tests that await them (`awaiting.py`): a part of what stands below it (`keeper.py`)."""

import contextlib as _contextlib
from typing import Any as _Any

WITHIN, WITHOUT = "in a loop", "in no loop"
"""What it is called with, too: a test that is a coroutine begins, or another one does."""
_MOST_LISTED = 1 << 12
"""Items of an object that tests go through: a generator may have no end."""
_loops: list[_Any] = []
"""The one that runs what tests await, from when on they do."""
_within: list[_Any] = []
"""The same, while the test itself is a coroutine: what a program begins in a call goes on in it."""


def _awaited(what: _Any, *given: _Any, **by_name: _Any) -> _Any:
    """What comes of a coroutine of this function, of the method of this name, or of a part of asyncio; or what has begun in the loop."""
    import asyncio as _asyncio

    if not _loops:
        _loops.append(_asyncio.new_event_loop())
    if isinstance(what, str) and what in (WITHIN, WITHOUT):
        _within[:] = _loops if what == WITHIN else []
        return None

    async def run() -> _Any:
        if what is None:
            return await given[0]
        if what == "async for":
            return await _listed(given[0])
        if not isinstance(what, str):
            return await what(*given, **by_name)
        begun, _, part = what.partition(".")
        if part:
            made = getattr(_asyncio, part)(*given, **by_name)
            return made if begun == "started" else await made
        return await getattr(given[0], what)(*given[1:], **by_name)

    with _running(False):
        return _loops[0].run_until_complete(run())


@_contextlib.contextmanager
def _running(now: bool) -> _Any:
    """Whether the loop is one that runs, for what a program asks it to begin."""
    if not _within:
        yield
        return
    import asyncio as _asyncio

    _asyncio._set_running_loop(_within[0] if now else None)
    try:
        yield
    finally:
        _asyncio._set_running_loop(None if now else _loops[0])


async def _listed(items: _Any) -> list[_Any]:
    found: list[_Any] = []
    async for item in items:
        if len(found) == _MOST_LISTED:
            break
        found.append(item)
    return found
