"""`pool`: levels are weighted by the pass rate they had last, as prime-rl's difficulty pools weight tasks."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Sequence
from typing import Annotated

from kolmocli.curriculum.base import Ladder, Result
from kolmocli.curriculum.kinds import register_controller
from kolmocli.curriculum.levels import LevelBase
from kolmocli.curriculum.mixture import counted
from kolmocli.curriculum.settings import Setting


@register_controller("pool")
class PoolLevel(LevelBase):
    """Levels far from the target get `weight`, the others and those never seen get 1.

    prime-rl keeps the latest mean reward of every task, and has the pools hard (≤ 0.25, weight 0.2), normal
    (≤ 0.75, weight 1) and easy (weight 0.2). Tasks here do not come twice, so the levels are pooled. `band` is how
    far from the target the normal pool reaches on either side.
    """

    saved = ("rates",)

    def __init__(
        self,
        ladder: Ladder,
        *,
        band: Annotated[
            float,
            Setting("levels that last passed so near the target are drawn with weight 1", least=0.0, most=1.0),
        ] = 0.25,
        weight: Annotated[float, Setting("of the other levels", above=0)] = 0.2,
    ) -> None:
        super().__init__(ladder)
        self.band = band
        self.weight = weight
        self.rates: list[float | None] = [None] * (ladder.top - ladder.bottom + 1)

    @property
    def level(self) -> float:
        """The mean of what is drawn."""
        weights = self._weights()
        return math.fsum(w * n for n, w in enumerate(weights, self.ladder.bottom)) / math.fsum(weights)

    def draw(self, rng: random.Random) -> int:
        return rng.choices(range(self.ladder.bottom, self.ladder.top + 1), self._weights())[0]

    def _weights(self) -> list[float]:
        return [1.0 if p is None or abs(p - self.ladder.target) <= self.band else self.weight for p in self.rates]

    def observe(self, results: Sequence[Result]) -> list[str]:
        by_level: dict[int, list[Result]] = defaultdict(list)
        for r in results:
            by_level[r.bucket.level].append(r)
        for level, groups in by_level.items():
            passes, rollouts = counted(groups)
            rate = passes / rollouts
            fresh = rollouts / sum(r.rollouts for r in groups)
            before = self.rates[level - self.ladder.bottom]
            self.rates[level - self.ladder.bottom] = rate if before is None else before + fresh * (rate - before)
        return []

    def state(self) -> str:
        """It holds no level, and the latest rate of one would flicker."""
        return "pool"
