"""Budget of a search: steps, which are counted, and seconds, which only end it."""

from __future__ import annotations

import time

_LOOK = 256
"""Steps between two looks at the clock."""
_PER_SECOND = 1_000_000
"""Steps that a slow machine takes in a second: what a move between two looks at the clock would take is judged by it."""


class Spent(Exception):
    """The budget is used up; what was found so far holds."""


class Budget:
    """A step is about one item looked at once. The same number of steps ends at the same place on every machine."""

    __slots__ = ("_clock", "_until", "left", "used")

    def __init__(self, steps: int | None, seconds: float) -> None:
        self.left = steps
        self.used = 0
        self._until = time.monotonic() + seconds
        self._clock = 0

    def spend(self, steps: int) -> None:
        """Account for work that is about to be done.

        Raises:
            Spent: if there is not enough left for it.
        """
        if self.left is not None:
            if self.left < steps:
                self.left = 0
                raise Spent
            self.left -= steps
        self.used += steps
        self._clock -= steps
        if self._clock <= 0:
            self._clock = _LOOK
            if time.monotonic() >= self._until:
                raise Spent

    def affords(self, steps: int) -> bool:
        """Whether there is enough left for a move that does not look at the clock."""
        if self.left is not None and self.left < steps:
            return False
        return steps <= _PER_SECOND * (self._until - time.monotonic())
