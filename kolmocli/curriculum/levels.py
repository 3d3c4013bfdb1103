"""Inside one family: which level next. Every kind of controller has one small class of this shape."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from copy import deepcopy
from itertools import pairwise
from typing import Any, ClassVar, Protocol

from kolmocli.curriculum.base import Belief, Bucket, Ladder, Result
from kolmocli.curriculum.mixture import freshness

_MASTERED = 0.1
_OUT_OF_REACH = 0.25
"""So far above the target at the hardest level, or below it at the easiest, nothing is left to control."""


class LevelController(Protocol):
    """The level of one family. `LevelBase` has most of it."""

    ladder: Ladder

    @property
    def level(self) -> float:
        """Current level of this family; may lie between two."""
        ...

    def draw(self, rng: random.Random) -> int:
        """The level of the next group, on the ladder. Changes nothing but the random numbers. A kind whose groups of one step depend
        on each other has `choose(groups, rng)` beside it, which gives the levels of them all."""
        ...

    def observe(self, results: Sequence[Result]) -> list[str]:
        """Take in the groups of one step that have a rollout and a level on the ladder, if any, in a fixed order.

        Returns what is worth an event, in words.
        """
        ...

    def state(self) -> str:
        """`tracking`, `mastered` or `out of reach`; what holds no level says its own name."""
        ...

    def belief(self) -> Belief | None:
        """The pass rate to expect at `level`, where there is a model of it."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """State for a checkpoint: a copy, in plain JSON."""
        ...

    def load_state_dict(self, state: dict[str, Any]) -> None: ...

    @classmethod
    def floors(cls, ladders: Mapping[str, Ladder]) -> dict[str, float]:
        """The least share of the groups for each family. The rest of the groups goes to families with signal."""
        ...


class LevelBase:
    """Default behaviour of a `LevelController`. A subclass brings `level`, an attribute or a property, and
    `observe`."""

    saved: ClassVar[tuple[str, ...]] = ()
    """The attributes that a checkpoint keeps, plain JSON; all others come from the constructor."""

    def __init__(self, ladder: Ladder) -> None:
        self.ladder = ladder

    def draw(self: LevelController, rng: random.Random) -> int:
        return between(self.level, rng)

    def begin(self: LevelController, rates: Mapping[int, tuple[float, int]]) -> None:
        """Begin with measured pass rates: by level the rate and its number of rollouts. Here they are observed as one step's.

        Raises ValueError for a kind that uses no pass rates."""
        self.observe(measured(rates))

    def state(self) -> str:
        return "tracking"

    def belief(self) -> Belief | None:
        return None

    def state_dict(self) -> dict[str, Any]:
        return {name: deepcopy(getattr(self, name)) for name in self.saved}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        for name, value in zip(self.saved, take(state, *self.saved), strict=True):
            setattr(self, name, deepcopy(value))

    @classmethod
    def floors(cls, ladders: Mapping[str, Ladder]) -> dict[str, float]:
        return {family: ladder.floor for family, ladder in ladders.items()}


def between(level: float, rng: random.Random) -> int:
    """One of the two levels around `level`, so that their mean is `level`."""
    low = math.floor(level)
    return low + (rng.random() < level - low)


def by_level(ladder: Ladder, results: Sequence[Result]) -> list[list[tuple[float, Result]]]:
    """For each level of the ladder its results, with their weights by age."""
    found: list[list[tuple[float, Result]]] = [[] for _ in range(ladder.bottom, ladder.top + 1)]
    for r in results:
        if r.bucket.level in ladder:
            found[r.bucket.level - ladder.bottom].append((freshness(r.age), r))
    return found


def measured(rates: Mapping[int, tuple[float, int]], family: str = "") -> list[Result]:
    """Measured pass rates as one group of each level."""
    return [Result(Bucket(family, level), round(rate * n), n) for level, (rate, n) in sorted(rates.items())]


def crossing(rates: Mapping[int, tuple[float, int]], target: float) -> float:
    """The level at which measured rates fall to the target: between two levels in proportion, an end where all lie on one side."""
    levels = sorted(rates)
    for low, high in pairwise(levels):
        above, below = rates[low][0], rates[high][0]
        if above >= target > below:
            return low + (high - low) * (above - target) / (above - below)
    return float(levels[0] if rates[levels[0]][0] < target else levels[-1])


def standing(ladder: Ladder, at_bottom: float, at_top: float) -> str:
    """The state of a family by its pass rates at the easiest and at the hardest level."""
    if at_top > ladder.target + _MASTERED:
        return "mastered"
    if at_bottom < ladder.target - _OUT_OF_REACH:
        return "out of reach"
    return "tracking"


def take(state: dict[str, Any], *names: str) -> list[Any]:
    """The values of a saved state, in this order. Raises ValueError unless it holds these names and no other."""
    if set(state) != set(names):
        raise ValueError(f"a saved state holds {sorted(state)}, not {sorted(names)}")
    return [state[name] for name in names]
