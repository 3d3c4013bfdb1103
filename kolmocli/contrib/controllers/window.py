"""`window`: a few levels below an upper one that only climbs, as RLVE trains."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Annotated

from kolmocli.curriculum.base import Ladder, Result
from kolmocli.curriculum.kinds import register_controller
from kolmocli.curriculum.levels import LevelBase, crossing
from kolmocli.curriculum.mixture import counted
from kolmocli.curriculum.settings import Setting


@register_controller("window")
class WindowLevel(LevelBase):
    """Draws evenly from the `size` levels up to `at`. Up by one when `groups` groups at `at` passed with `climb` or more.

    The count starts again after each look at it, whether the level went up or not; it never goes down. Families are drawn
    equally often. The target is not asked: the window follows what is nearly mastered.
    Source: RLVE (Zeng et al. 2025), whose 400 environments each have such a window: 4 levels, 8 prompts and 0.9.
    """

    saved = ("at", "groups_seen", "passes", "rollouts")

    def __init__(
        self,
        ladder: Ladder,
        *,
        size: Annotated[int, Setting("levels that are drawn from", least=1)] = 4,
        groups: Annotated[int, Setting("at the upper level before it is looked at", least=1)] = 8,
        climb: Annotated[float, Setting("pass rate at the upper level that raises it", least=0.0, most=1.0)] = 0.9,
    ) -> None:
        super().__init__(ladder)
        self.size, self.groups, self.climb = size, groups, climb
        self.at = ladder.bottom
        self.groups_seen = 0
        self.passes = self.rollouts = 0.0

    @property
    def level(self) -> float:
        """The mean of what is drawn."""
        return (self._lowest() + self.at) / 2

    def _lowest(self) -> int:
        return max(self.ladder.bottom, self.at - self.size + 1)

    def begin(self, rates: Mapping[int, tuple[float, int]]) -> None:
        """The level above those that pass with `climb`."""
        self.at = int(self.ladder.clamp(crossing(rates, self.climb) + 1))

    def draw(self, rng: random.Random) -> int:
        return rng.randint(self._lowest(), self.at)

    def observe(self, results: Sequence[Result]) -> list[str]:
        upper = [r for r in results if r.bucket.level == self.at]
        passes, rollouts = counted(upper) if upper else (0.0, 0.0)
        self.groups_seen += len(upper)
        self.passes, self.rollouts = math.fsum((self.passes, passes)), math.fsum((self.rollouts, rollouts))
        if self.groups_seen >= self.groups:
            if self.passes >= self.climb * self.rollouts and self.at < self.ladder.top:
                self.at += 1
            self.groups_seen, self.passes, self.rollouts = 0, 0.0, 0.0
        return []

    def state(self) -> str:
        return "window"

    @classmethod
    def floors(cls, ladders: Mapping[str, Ladder]) -> dict[str, float]:
        """Every family the same share, which leaves nothing to be given by signal."""
        return dict.fromkeys(ladders, 1.0 / len(ladders))
