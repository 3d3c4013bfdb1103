"""Progress of the work at hand, and the places where it may be interrupted.

Long work counts its parts, and looks up between two of them; the listener shows the count, or ends the work by raising:

    with pace.counting(len(tasks), "rollouts") as done:
        for task in tasks:
            work_on(task, pace.look)        # called as often as may be: it should never be seconds until the next time
            done(1)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

Look = Callable[[], None]
"""Called between two parts of long work. An exception interrupts the work."""
Done = Callable[[int], None]
"""Called with the number of further parts done."""


def unheard() -> None:
    """For work without a listener."""


@dataclass(frozen=True, slots=True)
class Reached:
    """`done` of `of` units are done (None: of an unknown number), all but the `first` of them in the last `seconds`."""

    done: int
    of: int | None
    unit: str
    seconds: float
    first: int = 0

    @property
    def per_second(self) -> float | None:
        made = self.done - self.first
        return made / self.seconds if made > 0 and self.seconds > 0 else None

    @property
    def seconds_left(self) -> float | None:
        """By the pace so far; None before the first is done, and where their number is unknown."""
        return None if self.per_second is None or self.of is None else (self.of - self.done) / self.per_second


class Pace:
    def __init__(self, listener: Look = unheard) -> None:
        self.listener = listener
        self._of: int | None = None
        self._unit, self._done, self._first, self._began = "", 0, 0, 0.0

    def look(self) -> None:
        """Between two parts of what is counted, or of anything else that takes long."""
        self.listener()

    @contextmanager
    def counting(self, of: int | None, unit: str, done: int = 0) -> Iterator[Done]:
        """Count up to `of` from what is done already. Within other work that counts, this is a part of that: its units are
        counted there where they are the same, and nowhere where they are not."""
        if self._unit:
            yield self._add if unit == self._unit else self._pass_over
            return
        self._of, self._unit, self._done, self._first, self._began = of, unit, done, done, time.monotonic()
        try:
            yield self._add
        finally:
            self._unit = ""

    @property
    def reached(self) -> Reached | None:
        """None where nothing is counted."""
        if not self._unit:
            return None
        return Reached(self._done, self._of, self._unit, time.monotonic() - self._began, self._first)

    def _add(self, count: int) -> None:
        self._done += count
        self.look()

    def _pass_over(self, count: int) -> None:
        self.look()
