"""Progress of a command that trains nothing: drawn in place on a terminal that can, now and then a line elsewhere.

with counter("evaluate", quiet=False) as pace:
    evaluate(..., pace=pace)
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from kolmocli.console import enduring, shared_console, warn
from kolmocli.monitor.display import Sayings, draws
from kolmocli.monitor.words import so_far
from kolmocli.pace import Pace

_DRAWN_EVERY = 0.25
"""Seconds."""


@contextmanager
def counter(what: str, quiet: bool) -> Iterator[Pace]:
    """A pace whose count is shown on stderr while this is entered."""
    pace = Pace()
    if quiet:
        yield pace
    elif draws():
        with shared_console().status(what) as status:
            drawn = time.monotonic()

            def draw() -> None:
                nonlocal drawn
                if time.monotonic() - drawn >= _DRAWN_EVERY:
                    drawn, reached = time.monotonic(), pace.reached
                    with enduring():
                        status.update(what if reached is None else f"{what} {so_far(reached)}")

            pace.listener = draw
            yield pace
    else:
        sayings = Sayings()

        def say() -> None:
            reached = pace.reached
            if sayings.due(reached):
                assert reached is not None
                with enduring():
                    warn(f"{what} {so_far(reached)}")

        pace.listener = say
        yield pace
