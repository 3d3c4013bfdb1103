"""`uniform`, the baseline: every bucket equally often, whatever happens."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from kolmocli.curriculum.base import Ladder, Result
from kolmocli.curriculum.kinds import built_in
from kolmocli.curriculum.levels import LevelBase


@built_in("uniform")
class UniformLevel(LevelBase):
    @property
    def level(self) -> float:
        """The mean of what is drawn."""
        return (self.ladder.bottom + self.ladder.top) / 2

    def draw(self, rng: random.Random) -> int:
        return rng.randint(self.ladder.bottom, self.ladder.top)

    def begin(self, rates: Mapping[int, tuple[float, int]]) -> None:
        raise ValueError("uniform uses no pass rates; remove it")

    def observe(self, results: Sequence[Result]) -> list[str]:
        return []

    def state(self) -> str:
        return "uniform"

    @classmethod
    def floors(cls, ladders: Mapping[str, Ladder]) -> dict[str, float]:
        """By the number of levels. They add to 1, so that nothing is left to be given by signal."""
        sizes = {family: ladder.top - ladder.bottom + 1 for family, ladder in ladders.items()}
        return {family: size / sum(sizes.values()) for family, size in sizes.items()}
