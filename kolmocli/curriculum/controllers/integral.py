"""`integral`: the level moves by what the pass rate is off the target, as in AdaRFT (Shi et al. 2025)."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

from kolmocli.curriculum.base import Ladder, Result
from kolmocli.curriculum.levels import between, standing, take
from kolmocli.curriculum.mixture import freshness

_RATE_MEMORY = 0.8


class IntegralLevel:
    """level ← clip(level + gain · tanh(sensitivity · (pass rate − target))), arXiv 2504.05520, equation 1.

    Two things differ from the source: a level that lies between two is both of them in proportion, where the
    source takes the nearest tasks; and late results move it less.

    Args:
        gain: share of the ladder per step at most (η). The source has one half, and batches of 1024.
        sensitivity: α of the source.
    """

    def __init__(self, ladder: Ladder, gain: float, sensitivity: float) -> None:
        self.ladder = ladder
        self.gain = gain
        self.sensitivity = sensitivity
        self.level = float(ladder.bottom)
        self.rate = ladder.target

    def draw(self, rng: random.Random) -> int:
        return between(self.level, rng)

    def observe(self, results: Sequence[Result]) -> list[str]:
        if not results:
            return []
        weights = [freshness(r.age) * r.rollouts for r in results]
        rate = math.fsum(freshness(r.age) * r.passes for r in results) / math.fsum(weights)
        fresh = math.fsum(weights) / sum(r.rollouts for r in results)
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

    def belief(self) -> None:
        return None

    def state_dict(self) -> dict[str, Any]:
        return {"level": self.level, "rate": self.rate}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.level, self.rate = take(state, "level", "rate")
