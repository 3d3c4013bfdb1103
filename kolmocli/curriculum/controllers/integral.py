"""`integral`: the level moves by what the pass rate is off the target, as in AdaRFT (Shi et al. 2025)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated

from kolmocli.curriculum.base import Ladder, Result
from kolmocli.curriculum.kinds import built_in
from kolmocli.curriculum.levels import LevelBase, crossing, standing
from kolmocli.curriculum.mixture import counted
from kolmocli.curriculum.settings import Setting

_RATE_MEMORY = 0.8


@built_in("integral")
class IntegralLevel(LevelBase):
    """level ← clip(level + gain · tanh(sensitivity · (pass rate − target))), arXiv 2504.05520, equation 1.

    Two things differ from the source: a level that lies between two is both of them in proportion, where the
    source takes the nearest tasks; and late results move it less. `gain` is η of the source, which has one half and
    batches of 1024; `sensitivity` is its α.
    """

    saved = ("level", "rate")

    def __init__(
        self,
        ladder: Ladder,
        *,
        gain: Annotated[float, Setting("share of the ladder that the level moves in a step at most", above=0)] = 0.03,
        sensitivity: Annotated[
            float, Setting("how strongly the step follows the distance from the target", above=0)
        ] = 2.0,
    ) -> None:
        super().__init__(ladder)
        self.gain = gain
        self.sensitivity = sensitivity
        self.level = float(ladder.bottom)
        self.rate = ladder.target

    def begin(self, rates: Mapping[int, tuple[float, int]]) -> None:
        self.level = self.ladder.clamp(crossing(rates, self.ladder.target))

    def observe(self, results: Sequence[Result]) -> list[str]:
        if not results:
            return []
        passes, rollouts = counted(results)
        rate = passes / rollouts
        fresh = rollouts / sum(r.rollouts for r in results)
        step = (
            self.gain
            * (self.ladder.top - self.ladder.bottom)
            * fresh
            * math.tanh(self.sensitivity * (rate - self.ladder.target))
        )
        self.level = self.ladder.clamp(self.level + step)
        self.rate = _RATE_MEMORY * self.rate + (1.0 - _RATE_MEMORY) * rate
        return []

    def state(self) -> str:
        """By the recent pass rate, which says something of the ends of the ladder only there."""
        at_bottom = self.rate if self.level <= self.ladder.bottom else 1.0
        return standing(self.ladder, at_bottom, self.rate if self.level >= self.ladder.top else 0.0)
