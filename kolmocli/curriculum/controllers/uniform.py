"""`uniform`, the baseline: every bucket equally often, whatever happens."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from kolmocli.curriculum.base import Ladder, Result
from kolmocli.curriculum.levels import take


class UniformLevel:
    def __init__(self, ladder: Ladder) -> None:
        self.ladder = ladder

    @property
    def level(self) -> float:
        """The mean of what is drawn."""
        return (self.ladder.bottom + self.ladder.top) / 2

    def draw(self, rng: random.Random) -> int:
        return rng.randint(self.ladder.bottom, self.ladder.top)

    def observe(self, results: Sequence[Result]) -> list[str]:
        return []

    def state(self) -> str:
        return "uniform"

    def belief(self) -> None:
        return None

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        take(state)
