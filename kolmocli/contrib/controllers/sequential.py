"""`sequential`, the other baseline: from easy to hard by the clock, every level for the same number of steps."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Annotated

from kolmocli.curriculum.base import Ladder, Result
from kolmocli.curriculum.kinds import register_controller
from kolmocli.curriculum.levels import LevelBase
from kolmocli.curriculum.settings import Setting


@register_controller("sequential")
class SequentialLevel(LevelBase):
    """The usual meaning of "curriculum": easy to hard, whatever the results. After the climb the hardest level stays."""

    saved = ("done",)

    def __init__(
        self,
        ladder: Ladder,
        *,
        steps: Annotated[int, Setting("of the climb; 0: training.steps", least=0)] = 0,
        horizon: int | None = None,
    ) -> None:
        super().__init__(ladder)
        if not steps and horizon is None:
            raise ValueError("sequential follows the clock and needs the number of steps of the climb: steps")
        self.steps = max(1, steps or horizon or 1)
        self.done = 0

    @property
    def level(self) -> float:
        levels = self.ladder.top - self.ladder.bottom + 1
        return self.ladder.clamp(self.ladder.bottom + self.done * levels // self.steps)

    def draw(self, rng: random.Random) -> int:
        return int(self.level)

    def begin(self, rates: Mapping[int, tuple[float, int]]) -> None:
        raise ValueError("sequential uses no pass rates; remove it")

    def observe(self, results: Sequence[Result]) -> list[str]:
        """A step has passed, whether this family was in it or not."""
        self.done += 1
        return []

    def state(self) -> str:
        return "sequential"

    @classmethod
    def floors(cls, ladders: Mapping[str, Ladder]) -> dict[str, float]:
        """Every family the same share, which leaves nothing to be given by signal."""
        return dict.fromkeys(ladders, 1.0 / len(ladders))
