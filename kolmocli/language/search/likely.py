"""Whole weaves, the likeliest first by what a guide thinks of their parts.

The search ranks ways by price, and the price of a core that is still interleaved says little: of three, the
right way to undo the outermost is the cheapest of forty in one case out of seven. A guide may look at whatever it likes.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple, Protocol

from kolmocli.language.search.budget import Budget
from kolmocli.language.search.fronts import Front, Way
from kolmocli.language.search.strands import Weave
from kolmocli.language.search.weaves import Guess, child, opened

_DEEPEST = 8
"""Interleavings that are undone, one inside the other."""
_UNLIKELY, _HOPELESS = -6.0, -12.0
"""Log-probabilities below which a way is not looked at, and below which a weave is not proposed."""
_WHOLE = -1
"""In place of a depth: a weave that is not taken apart further."""
_RANKED = 40
"""Steps for each way that a guide ranks."""


class View(NamedTuple):
    """A weave whose core may be unzipped, and the ways to do so."""

    guess: Guess
    depth: int
    """Interleavings that are undone already."""
    front: Front
    ways: list[Way]
    """At least one. The cheapest first."""


def look(guess: Guess, depth: int, budget: Budget) -> View | None:
    """The view of a weave, in which so many interleavings are undone; None if there is nothing to choose."""
    front, ways = opened(guess, budget)
    return None if front is None or not ways else View(guess, depth, front, ways)


class Guide(Protocol):
    """Ranks the ways to take a sequence apart."""

    def log_probs(self, view: View) -> Sequence[float]:
        """Natural logarithms of the probabilities of the view's ways, and last that of leaving the core as it is."""


class LikelyWeaves:
    """Weaves of one sequence, in the order of their probability."""

    def __init__(self, first: Guess, guide: Guide, budget: Budget) -> None:
        """`first`: the guess for the core alone."""
        self._guide, self._budget = guide, budget
        self._number = count()
        """Makes entries of equal probability come in the order in which they were found."""
        self._open: list[tuple[float, int, Guess, int]] = []
        """Minus the log-probability, a number, and what is looked at next: at this depth, or `_WHOLE`."""
        self._push(0.0, first, 0)

    def next(self) -> Weave | None:
        """The likeliest weave that was not proposed yet; None if there is no other.

        Raises:
            Spent: if the budget ends before.
        """
        while self._open and -self._open[0][0] > _HOPELESS:
            minus, _, guess, depth = heappop(self._open)
            if depth == _WHOLE:
                return guess.weave
            self._look(-minus, guess, depth)
        return None

    def _look(self, so_far: float, guess: Guess, depth: int) -> None:
        view = look(guess, depth, self._budget) if depth < _DEEPEST else None
        if view is None:
            self._push(so_far, guess, _WHOLE)
            return
        self._budget.spend(_RANKED * len(view.ways))
        *likely, whole = self._guide.log_probs(view)
        self._push(so_far + whole, guess, _WHOLE)
        for way, log_prob in zip(view.ways, likely, strict=True):
            if log_prob > _UNLIKELY:
                self._push(so_far + log_prob, child(guess, way), depth + 1)

    def _push(self, log_prob: float, guess: Guess, depth: int) -> None:
        heappush(self._open, (-log_prob, next(self._number), guess, depth))
