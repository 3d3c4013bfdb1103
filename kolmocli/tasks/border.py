"""Check values that a user's own family returns, once, where they come in.

A check that is wrong must not pass everything: what is no verdict ends the run with one line, and is never a reward.
"""

from __future__ import annotations

import inspect
import logging
import math
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from kolmocli.console import printable, writable
from kolmocli.errors import KolmoError, UsageError
from kolmocli.registry import blame
from kolmocli.tasks.outcome import Outcome

_log = logging.getLogger(__name__)
MOST_LEVELS = 10_000
"""Most levels of one family: with more, the table of levels alone would take minutes to make."""


def truth(value: Any, whose: str) -> bool:
    """The verdict of a check: True or False, Python's or numpy's.

    Raises:
        UsageError: anything else, whatever its truth value. NaN, "no", [False] and a coroutine all count as true.
    """
    if isinstance(value, bool):
        return value
    kind = type(value)
    if kind.__module__ == "numpy" and kind.__name__ in ("bool", "bool_"):
        return bool(value)
    if inspect.iscoroutine(value):
        value.close()
        raise UsageError(f"{whose}: its check is an async function; make it a plain one")
    raise UsageError(
        f"{whose}: its check returned {kind.__name__} {shown(value)} and not True or False; wrap it in bool()"
    )


def sound(outcome: Outcome, whose: str) -> Outcome:
    """The outcome of a user's judge and reward rule. Raises UsageError for a value that is no outcome."""
    reward = outcome.reward
    if reward is not None and not (isinstance(reward, (int, float)) and math.isfinite(reward)):
        raise UsageError(
            f"{whose}: its judge paid {shown(reward)}; a reward is a finite number, or None where there is none"
        )
    passed: Any = outcome.passed
    return outcome if isinstance(passed, bool) else replace(outcome, passed=truth(passed, whose))


def text(value: Any, what: str, whose: str) -> str:
    """A prompt or a reference: a string that UTF-8 can write."""
    if not isinstance(value, str):
        raise UsageError(f"{whose}: its {what} is {type(value).__name__} {shown(value)} and not a string")
    if not writable(value):
        raise UsageError(f"{whose}: its {what} holds a lone surrogate, which no tokenizer reads: {value!a:.40}")
    return value


def shown(value: Any) -> str:
    """The beginning of what Python writes for it, where it can: not of an integer of 5,000 digits."""
    try:
        return repr(value)[:40]
    except Exception as error:
        return f"(no repr: {type(error).__name__})"


@contextmanager
def at_work(whose: str, what: str) -> Iterator[None]:
    """Around what somebody else wrote: while it does not return, a line now and then names it. It may be in an endless loop,
    and a run that stands still would say nothing.

    >>> with at_work("family primes: level 1, task 0", "its function"): ...
    """
    thread = threading.get_ident()
    around = _running.get(thread)
    _running[thread] = (f"{whose}: {what}", time.monotonic())
    if _watched_by[0] != os.getpid():  # a fork has no threads but its own
        _watched_by[0] = os.getpid()
        threading.Thread(target=_watch, name="kolmo-families", daemon=True).start()
    try:
        yield
    finally:
        if around is None:
            _running.pop(thread, None)
        else:
            _running[thread] = around


PATIENCE_SECONDS = 10.0
"""Before the first line; each further one comes after twice the time."""
_running: dict[int, tuple[str, float]] = {}
_watched_by = [0]


def _watch() -> None:
    said: dict[tuple[str, float], float] = {}
    while True:
        time.sleep(PATIENCE_SECONDS / 5)
        now, running = time.monotonic(), list(_running.values())
        said = {at: due for at, due in said.items() if at in running}
        for whose, since in running:
            due = said.setdefault((whose, since), PATIENCE_SECONDS)
            if now - since >= due:
                said[whose, since] = 2 * due
                _log.warning("%s has run for %.0f s and has not returned", printable(whose), now - since)


def failed(error: BaseException, whose: str) -> KolmoError:
    """The line for what the code of a family raised, with the place in that code."""
    if isinstance(error, KolmoError):
        return error
    return UsageError(f"{whose}: {blame(error, 'its function')}")
