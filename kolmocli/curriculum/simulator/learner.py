"""The synthetic learner: it passes tasks by chance, and one kind of it grows with what it is taught."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache
from statistics import fmean

from kolmocli.curriculum.simulator.scenarios import Scenario
from kolmocli.curriculum.tracker import sigmoid

_GROWTH = 0.03
"""Logits per step that a learner gains whose tasks all carry the full signal, p(1−p) = 1/4."""


class Learner:
    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.ability = scenario.start if scenario.ability is None else scenario.ability(0)
        self.pass_rate = lru_cache(maxsize=64)(self._pass_rate)

    def at(self, step: int) -> None:
        """Set the ability of this step, where it follows the clock."""
        if self.scenario.ability is not None:
            self._become(self.scenario.ability(step))

    def learn(self, levels: Sequence[int]) -> None:
        """Grow by the signal of the groups of a step: what a pass or a failure can teach."""
        if self.scenario.ability is None:
            self._become(self.ability + _GROWTH * fmean(map(self._signal, levels)))

    def _become(self, ability: float) -> None:
        if ability != self.ability:
            self.ability = ability
            self.pass_rate.cache_clear()

    def _chance(self, level: int, ease: float) -> float:
        return sigmoid(self.scenario.steepness * (self.ability - self.scenario.difficulty(level)) + ease)

    def _pass_rate(self, level: int) -> float:
        """The mean over the tasks of a level."""
        return fmean(self._chance(level, ease) for ease in self.scenario.ease)

    def _signal(self, level: int) -> float:
        """The mean of 4p(1−p) over the tasks of a level."""
        chances = [self._chance(level, ease) for ease in self.scenario.ease]
        return fmean(4.0 * p * (1.0 - p) for p in chances)

    def group(self, level: int, size: int, rng: random.Random) -> tuple[int, int]:
        """Passes and rollouts of one task; rollouts that the sandbox lost are in neither."""
        chance = self._chance(level, rng.choice(self.scenario.ease))
        judged = sum(rng.random() >= self.scenario.faults for _ in range(size)) if self.scenario.faults else size
        return sum(rng.random() < chance for _ in range(judged)), judged
