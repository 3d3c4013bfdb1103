"""`sequential`, the other baseline: from easy to hard by the clock, every level for the same number of steps."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from kolmocli.curriculum.base import Ladder, Result
from kolmocli.curriculum.levels import take


class SequentialLevel:
    """What a curriculum is often taken for. It looks at no result.

    Args:
        steps: of the whole climb; after them the hardest level stays.
    """

    def __init__(self, ladder: Ladder, steps: int) -> None:
        self.ladder = ladder
        self.steps = steps
        self.done = 0

    @property
    def level(self) -> float:
        levels = self.ladder.top - self.ladder.bottom + 1
        return self.ladder.clamp(self.ladder.bottom + self.done * levels // self.steps)

    def draw(self, rng: random.Random) -> int:
        return int(self.level)

    def observe(self, results: Sequence[Result]) -> list[str]:
        """A step has passed, whether this family was in it or not."""
        self.done += 1
        return []

    def state(self) -> str:
        return "sequential"

    def belief(self) -> None:
        return None

    def state_dict(self) -> dict[str, Any]:
        return {"done": self.done}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        (self.done,) = take(state, "done")
