"""`thompson`: a Beta belief per level, and the level whose drawn pass rate is nearest to the target (MoPPS)."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Annotated

from kolmocli.curriculum.base import Ladder, Result
from kolmocli.curriculum.kinds import register_controller
from kolmocli.curriculum.levels import LevelBase, by_level, standing
from kolmocli.curriculum.settings import Setting


@register_controller("thompson")
class ThompsonLevel(LevelBase):
    """alpha ← memory·alpha + (1−memory) + passes, beta alike with failures; then one draw per level.

    Source: MoPPS (Qu et al. 2025, arXiv 2507.04632), whose arms are prompts and whose λ is `memory`. Forgetting pulls a
    level that is not seen back to Beta(1, 1), whose mean of ½ is the usual target: it looks perfect for as long as
    it does not look. On an ordered ladder that costs much; it is here to be compared with.
    """

    saved = ("counts",)

    def __init__(
        self,
        ladder: Ladder,
        *,
        memory: Annotated[float, Setting("of the counts, per step", least=0.0, most=1.0)] = 0.9,
    ) -> None:
        super().__init__(ladder)
        self.memory = memory
        self.counts = [[1.0, 1.0] for _ in range(ladder.bottom, ladder.top + 1)]

    @property
    def level(self) -> float:
        """The level whose expected pass rate is nearest to the target."""
        means = [alpha / (alpha + beta) for alpha, beta in self.counts]
        return float(self.ladder.bottom + self._nearest(means))

    def draw(self, rng: random.Random) -> int:
        return self.ladder.bottom + self._nearest([rng.betavariate(alpha, beta) for alpha, beta in self.counts])

    def _nearest(self, rates: Sequence[float]) -> int:
        return min(range(len(rates)), key=lambda i: abs(rates[i] - self.ladder.target))

    def observe(self, results: Sequence[Result]) -> list[str]:
        seen_at = by_level(self.ladder, results)
        for i, ((alpha, beta), seen) in enumerate(zip(self.counts, seen_at, strict=True)):
            passes = math.fsum(w * r.passes for w, r in seen)
            failures = math.fsum(w * (r.rollouts - r.passes) for w, r in seen)
            self.counts[i] = [
                self.memory * alpha + (1.0 - self.memory) + passes,
                self.memory * beta + (1.0 - self.memory) + failures,
            ]
        return []

    def state(self) -> str:
        rates = [alpha / (alpha + beta) for alpha, beta in self.counts]
        return standing(self.ladder, rates[0], rates[-1])
