"""Across families: a share for each, its floor plus what is left in proportion to what its groups teach."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Literal, TypeVar

from kolmocli.curriculum.base import Result
from kolmocli.curriculum.information import dead, signal

_MEMORY = 0.9
"""Share of the mean signal that is kept in each step with groups of the family."""
Weigh = Literal["signal", "alive"]
"""Value of a group: U, the estimate of p(1−p); or whether some of its n rollouts passed and some failed, the estimate of
1−pⁿ−(1−p)ⁿ, which is nearly flat between p = .2 and p = .8."""
_FULL: dict[Weigh, float] = {"signal": 0.25, "alive": 1.0}
"""At p = 1/2: the value of a family before its first group."""
_AGE_MEMORY, _OLDEST = 0.9, 1000
"""Beyond the oldest a weight would be 0 at some age, and some means would have none."""

T = TypeVar("T")


def freshness(age: int) -> float:
    """Weight of a result that was sampled `age` policy updates ago: 1 at age 0, half at 7.

    For controllers without a model of how ability moves; the tracker of `rasch` has one.
    """
    return _AGE_MEMORY ** min(age, _OLDEST)


def counted(results: Sequence[Result]) -> tuple[float, float]:
    """Passes and rollouts of these groups, late ones counting less."""
    passes = math.fsum(freshness(r.age) * r.passes for r in results)
    return passes, math.fsum(freshness(r.age) * r.rollouts for r in results)


class Mixture:
    """Shares of the groups among families.

    Args:
        floors: least share of the groups per family. Raises ValueError when they add to more than 1.
        weigh: the value by which the rest of the groups is shared.
    """

    def __init__(self, floors: Mapping[str, float], weigh: Weigh = "signal") -> None:
        if math.fsum(floors.values()) > 1.0 + 1e-9:
            raise ValueError(
                f"the floors of {len(floors)} families add to {math.fsum(floors.values()):g}, which is above 1; "
                "lower controller.floor"
            )
        self.floors = dict(floors)
        self.weigh = weigh
        self.signal = dict.fromkeys(floors, _FULL[weigh])
        """Mean value of the groups of each family."""

    def expect(self, family: str, rate: float, rollouts: int = 8) -> None:
        """Begin with a measured pass rate, as if of groups of `rollouts` rollouts."""
        alive = 1.0 - rate**rollouts - (1.0 - rate) ** rollouts
        self.signal[family] = alive if self.weigh == "alive" else rate * (1.0 - rate)

    def weights(self) -> dict[str, float]:
        """Shares that add to 1, each at least its floor."""
        free = max(0.0, 1.0 - math.fsum(self.floors.values()))
        total = math.fsum(self.signal.values())
        if total == 0:
            return {family: floor + free / len(self.floors) for family, floor in self.floors.items()}
        return {family: floor + free * self.signal[family] / total for family, floor in self.floors.items()}

    def observe(self, family: str, results: Sequence[Result]) -> None:
        """Blend in the signal of a step; groups of fewer than two rollouts have none, late ones count less."""
        weighted = [(freshness(r.age), self._counts(r)) for r in results if r.rollouts > 1]
        if weighted:
            fresh = math.fsum(w for w, _ in weighted)
            mean = math.fsum(w * u for w, u in weighted) / fresh
            blend = (1.0 - _MEMORY) * fresh / len(weighted)
            self.signal[family] += blend * (mean - self.signal[family])

    def _counts(self, result: Result) -> float:
        k, n = result.passes, result.rollouts
        return signal(k, n) if self.weigh == "signal" else float(not dead(k, n))


def systematic(items: Sequence[T], weights: Sequence[float], count: int, rng: random.Random) -> list[T]:
    """`count` items, each within one of `count` times its weight: systematic resampling, less noisy than
    independent draws. Weights add to 1."""
    edges, total = [], 0.0
    for w in weights:
        total += w
        edges.append(total)
    start = rng.random()
    chosen, i = [], 0
    for k in range(count):
        point = (start + k) / count * total
        while i < len(edges) - 1 and point >= edges[i]:
            i += 1
        chosen.append(items[i])
    return chosen
