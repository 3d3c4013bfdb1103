"""`posterior`, for a file whose tasks are levels of their own (`data.per_task`): a belief about each of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Annotated, Any

from kolmocli.curriculum.base import Ladder, Result
from kolmocli.curriculum.finite.prompts import Prompts
from kolmocli.curriculum.kinds import register_controller
from kolmocli.curriculum.levels import LevelBase, take
from kolmocli.curriculum.settings import Setting
from kolmocli.errors import UsageError

_PARTS = 8
"""Of the ladder: tasks of one part share what is learnt from them, until each has results of its own."""


@register_controller("posterior")
class PosteriorLevel(LevelBase):
    """Tasks in proportion to how near their expected pass rate is to the target (`curriculum/finite/prompts.py`).

    The numbers of the tasks say little about which is easy, so it may ask any of them next, and none twice in a step.
    """

    def __init__(
        self,
        ladder: Ladder,
        *,
        probes: Annotated[float, Setting("share of groups of any task, each as likely", least=0.0, most=1.0)] = 0.05,
        memory: Annotated[float, Setting("updates after which 1/e of a task's results counts", above=0)] = 100.0,
        sharpness: Annotated[
            float,
            Setting("power of the closeness to the target that tasks are drawn by; 0: evenly", least=0.0, most=100.0),
        ] = 8.0,
    ) -> None:
        super().__init__(ladder)
        size = ladder.top - ladder.bottom + 1
        parts = [1 + place * _PARTS // size for place in range(size)]
        self.prompts = Prompts(
            size, level=parts, target=ladder.target, probes=probes, memory=memory, sharpness=sharpness
        )

    @property
    def level(self) -> float:
        """The mean of what is drawn."""
        return self.ladder.clamp(self.ladder.bottom + self.prompts.weights.center())

    def draw(self, rng: random.Random) -> int:
        return self.choose(1, rng)[0]

    def choose(self, groups: int, rng: random.Random) -> list[int]:
        return [self.ladder.bottom + prompt for prompt in self.prompts.weights.choose(groups, rng)]

    def observe(self, results: Sequence[Result]) -> list[str]:
        asked = [r.bucket.level - self.ladder.bottom for r in results]
        for prompt in asked:
            self.prompts.include(prompt)
        ages = [r.age for r in results]
        self.prompts.observe(asked, [r.passes for r in results], [r.rollouts for r in results], age=ages)
        return []

    def state(self) -> str:
        return "posterior"

    def state_dict(self) -> dict[str, Any]:
        return self.prompts.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        take(state, *self.prompts.state_dict())
        try:
            self.prompts.load_state_dict(state)
        except UsageError as error:
            raise ValueError(str(error)) from None
