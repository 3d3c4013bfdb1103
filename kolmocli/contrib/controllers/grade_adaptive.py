"""`grade_adaptive`: most groups at one level, which is left for the next when its groups stay dead, as in Marin's sampler."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Annotated

from kolmocli.curriculum.base import Ladder, Result
from kolmocli.curriculum.kinds import register_controller
from kolmocli.curriculum.levels import LevelBase, by_level
from kolmocli.curriculum.settings import Setting


@register_controller("grade_adaptive")
class GradeAdaptiveLevel(LevelBase):
    """Up by one when the fading share of groups at `at` with a pass and a failure was below `informative` for `steps` steps in a
    row. It never goes down, and cannot tell a level that is mastered from one that is out of reach. Other levels share
    `exploration`.

    Source: the sampler "grade-adaptive" of Marin's fork of SkyRL (marin-community/marin#8765), with its defaults.
    """

    saved = ("at", "dull", "counts")

    def __init__(
        self,
        ladder: Ladder,
        *,
        exploration: Annotated[float, Setting("share of the groups at other levels", least=0.0, most=1.0)] = 0.2,
        informative: Annotated[float, Setting("share of groups that keeps a level", least=0.0, most=1.0)] = 0.1,
        steps: Annotated[int, Setting("in a row with fewer, after which it goes up", least=1)] = 10,
        memory: Annotated[float, Setting("of the groups, per step", least=0.0, most=1.0)] = 0.95,
    ) -> None:
        super().__init__(ladder)
        self.exploration, self.informative, self.steps, self.memory = exploration, informative, steps, memory
        self.at = ladder.bottom
        self.dull = 0
        """Steps in a row with too few informative groups."""
        self.counts = [[0.0, 0.0] for _ in range(ladder.bottom, ladder.top + 1)]
        """Informative groups and groups of each level."""

    @property
    def level(self) -> float:
        return float(self.at)

    def draw(self, rng: random.Random) -> int:
        others = [level for level in range(self.ladder.bottom, self.ladder.top + 1) if level != self.at]
        return rng.choice(others) if others and rng.random() < self.exploration else self.at

    def begin(self, rates: Mapping[int, tuple[float, int]]) -> None:
        """The first level that does not pass nine times in ten."""
        hard = [level for level, (rate, _) in sorted(rates.items()) if rate <= 1.0 - self.informative]
        self.at = hard[0] if hard else self.ladder.top

    def observe(self, results: Sequence[Result]) -> list[str]:
        seen_at = by_level(self.ladder, results)
        for i, ((told, groups), seen) in enumerate(zip(self.counts, seen_at, strict=True)):
            self.counts[i] = [
                self.memory * told + math.fsum(w for w, r in seen if 0 < r.passes < r.rollouts),
                self.memory * groups + math.fsum(w for w, _ in seen),
            ]
        told, groups = self.counts[self.at - self.ladder.bottom]
        if groups > 0.0:
            self.dull = self.dull + 1 if told < self.informative * groups else 0
        if self.dull >= self.steps and self.at < self.ladder.top:
            self.at, self.dull = self.at + 1, 0
        return []

    def state(self) -> str:
        return "grade_adaptive"
