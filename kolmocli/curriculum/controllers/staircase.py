"""`staircase`: one level up after enough passes, one down after enough failures, as reasoning-gym trains."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Annotated

from kolmocli.curriculum.base import Ladder, Result
from kolmocli.curriculum.kinds import built_in
from kolmocli.curriculum.levels import LevelBase, crossing, standing
from kolmocli.curriculum.mixture import counted
from kolmocli.curriculum.settings import Setting


@built_in("staircase")
class StaircaseLevel(LevelBase):
    """Up when the mean of the last `window` rollouts is above target + `above`, down when below target − `below`.

    The window starts empty on every level. Late results count for less than one rollout each.
    Source: reasoning-gym (Stojanovski et al. 2025, arXiv 2505.24760), whose trainer has 20 rollouts, up at
    0.7 and down at 0.1: the defaults here, at a target of one half.
    """

    saved = ("at", "steps")

    def __init__(
        self,
        ladder: Ladder,
        *,
        window: Annotated[int, Setting("rollouts that are averaged", above=0)] = 20,
        above: Annotated[float, Setting("distance above the target at which it goes one level up", above=0)] = 0.2,
        below: Annotated[float, Setting("distance below the target at which it goes one level down", above=0)] = 0.4,
    ) -> None:
        super().__init__(ladder)
        self.window = window
        self.up = min(ladder.target + above, 0.99)
        self.down = max(ladder.target - below, 0.01)
        self.at = ladder.bottom
        self.steps: list[list[float]] = []
        """Weighted passes and weighted rollouts of the latest steps, oldest first."""

    @property
    def level(self) -> float:
        return float(self.at)

    def begin(self, rates: Mapping[int, tuple[float, int]]) -> None:
        self.at = round(self.ladder.clamp(crossing(rates, self.ladder.target)))

    def draw(self, rng: random.Random) -> int:
        return self.at

    def observe(self, results: Sequence[Result]) -> list[str]:
        if not results:
            return []
        self.steps.append(list(counted(results)))
        while math.fsum(n for _, n in self.steps[1:]) >= self.window:
            self.steps.pop(0)
        if self._full():
            move = (self._rate() > self.up) - (self._rate() < self.down)
            if move and self.ladder.bottom <= self.at + move <= self.ladder.top:
                self.at += move
                self.steps = []
        return []

    def _full(self) -> bool:
        return math.fsum(n for _, n in self.steps) >= self.window

    def _rate(self) -> float:
        return math.fsum(k for k, _ in self.steps) / math.fsum(n for _, n in self.steps)

    def state(self) -> str:
        if not self._full():
            return "tracking"
        at_bottom = self._rate() if self.at == self.ladder.bottom else 1.0
        return standing(self.ladder, at_bottom, self._rate() if self.at == self.ladder.top else 0.0)
