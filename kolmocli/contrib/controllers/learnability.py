"""`learnability`: levels weighted by a drawn pass rate's chance of a group that is not dead, as Marin's sampler weights bins."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Annotated

from kolmocli.curriculum.base import Ladder, Result
from kolmocli.curriculum.kinds import register_controller
from kolmocli.curriculum.levels import LevelBase, by_level
from kolmocli.curriculum.settings import Setting


@register_controller("learnability")
class LearnabilityLevel(LevelBase):
    """Counts of every level fade by `memory` a step. A pass rate p is drawn from Beta(1 + passes, 1 + failures) of each, and a
    level is drawn in proportion to 1 − pⁿ − (1 − p)ⁿ, or to p(1 − p) where n is 0, with a least share for each.

    `reversion` adds this many rollouts a step that passed half the time: a level that reads 0 because its grader is broken is
    asked again. Source: the samplers "learnability" of Marin's fork of SkyRL (marin-community/marin#8765, rounds 3 and 4), whose
    bins hold prompts of one source and grade; the defaults are theirs, with a group of 8.
    """

    saved = ("counts",)

    def __init__(
        self,
        ladder: Ladder,
        *,
        memory: Annotated[float, Setting("of the counts, per step", least=0.0, most=1.0)] = 0.95,
        group: Annotated[int, Setting("n, rollouts of a group; 0: weigh by p(1 - p)", least=0)] = 8,
        least: Annotated[float, Setting("share that all levels divide evenly, at least", least=0.0, most=1.0)] = 0.05,
        reversion: Annotated[float, Setting("rollouts a step that count as half passed", least=0.0)] = 0.0,
    ) -> None:
        super().__init__(ladder)
        self.memory, self.group, self.least, self.reversion = memory, group, least, reversion
        self.counts = [[0.0, 0.0] for _ in range(ladder.bottom, ladder.top + 1)]
        """Passes and rollouts of each level."""

    @property
    def level(self) -> float:
        """The mean of what is drawn, at the expected pass rates."""
        weights = self._weights([(1.0 + k) / (2.0 + n) for k, n in self.counts])
        return math.fsum(w * n for n, w in enumerate(weights, self.ladder.bottom)) / math.fsum(weights)

    def draw(self, rng: random.Random) -> int:
        weights = self._weights([rng.betavariate(1.0 + k, 1.0 + n - k) for k, n in self.counts])
        return rng.choices(range(self.ladder.bottom, self.ladder.top + 1), weights)[0]

    def _weights(self, rates: Sequence[float]) -> list[float]:
        n = self.group
        raw = [1.0 - p**n - (1.0 - p) ** n if n else p * (1.0 - p) for p in rates]
        total = math.fsum(raw)
        if total <= 0.0:
            return [1.0] * len(raw)
        return [max(w / total, self.least / len(raw)) for w in raw]

    def observe(self, results: Sequence[Result]) -> list[str]:
        seen_at = by_level(self.ladder, results)
        for i, ((passes, rollouts), seen) in enumerate(zip(self.counts, seen_at, strict=True)):
            self.counts[i] = [
                self.memory * passes + self.reversion / 2 + math.fsum(w * r.passes for w, r in seen),
                self.memory * rollouts + self.reversion + math.fsum(w * r.rollouts for w, r in seen),
            ]
        return []

    def state(self) -> str:
        """It holds no level."""
        return "learnability"
