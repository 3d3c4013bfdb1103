"""The synthetic learner: it passes tasks by chance, and one kind of it grows with what it is taught."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from functools import lru_cache
from statistics import fmean

from kolmocli.curriculum.base import Bucket, Result
from kolmocli.curriculum.simulator.scenarios import FAMILY, Scenario
from kolmocli.curriculum.tracker import sigmoid

_GROWTH = 0.03
"""Logits per step that a learner gains whose tasks all carry the full signal, p(1−p) = 1/4."""
_NO_FORM = -4.0
"""Logits of the chance that an answer has the form, before it is learnt."""
_FORM_GROWTH = 1.0
"""Logits of that chance per group with the full signal, in the levels that need the form."""
_BY_CHANCE = 0.05
"""Pass rate under a wrong key."""
_UNLEARNT = 4.0
"""Times what a group with that signal would teach."""


class Learner:
    """Abilities in logits, one for each family of the scenario."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        start = scenario.start if scenario.ability is None else scenario.ability(0)
        self.abilities = {family: start + above for family, above in scenario.families.items()}
        self.form = _NO_FORM
        self.step = 0
        self._chances = lru_cache(maxsize=64)(self._each_chance)

    @property
    def ability(self) -> float:
        """In the first family."""
        return self.abilities[next(iter(self.abilities))]

    def at(self, step: int) -> None:
        """Set what follows the clock: the ability, and which graders work."""
        if self.scenario.accepts is not None and step != self.step:
            self._chances.cache_clear()
        self.step = step
        if self.scenario.ability is not None:
            self._become({family: self.scenario.ability(step) for family in self.abilities})

    def learn(self, buckets: Sequence[Bucket]) -> None:
        """Grow by the signal of the groups of a step: what a pass or a failure can teach. A family learns at full speed by its
        equal part of the groups."""
        if self.scenario.ability is not None or not buckets:
            return
        part = len(buckets) / len(self.abilities)
        gained = {
            family: _GROWTH * math.fsum(self._taught(b) for b in buckets if b.family == family) / part
            for family in self.abilities
        }
        taught = self.scenario.teaches * next(iter(gained.values()))
        first = next(iter(gained))
        if self.scenario.form is not None:
            self.form += _FORM_GROWTH * math.fsum(self._signal(b) for b in buckets if b.level >= self.scenario.form)
        self._become({f: self.abilities[f] + gained[f] + (0.0 if f == first else taught) for f in gained})

    def _become(self, abilities: dict[str, float]) -> None:
        if abilities != self.abilities or self.scenario.form is not None:
            self.abilities = abilities
            self._chances.cache_clear()

    def _each_chance(self, bucket: Bucket) -> tuple[float, ...]:
        """For each ease of a task, that an answer is right and that its grader says so; `_formed` times that it has the form."""
        scenario = self.scenario
        if scenario.wrong_key == bucket.level:
            return (_BY_CHANCE,) * len(scenario.ease)
        if scenario.accepts is not None and not scenario.accepts(self.step, bucket.family, bucket.level):
            return (0.0,) * len(scenario.ease)
        away = scenario.steepness * (self.abilities[bucket.family] - scenario.difficulty(bucket.level))
        formed = self._formed(bucket)
        return tuple(sigmoid(away + ease) * formed for ease in scenario.ease)

    def _formed(self, bucket: Bucket) -> float:
        return 1.0 if self.scenario.form is None or bucket.level < self.scenario.form else sigmoid(self.form)

    def pass_rate(self, level: int, family: str = FAMILY) -> float:
        """The mean over the tasks of a level."""
        return fmean(self._chances(Bucket(family, level)))

    def _signal(self, bucket: Bucket) -> float:
        """The mean of 4p(1−p) over the tasks of a level."""
        return fmean([4.0 * p * (1.0 - p) for p in self._chances(bucket)])

    def _taught(self, bucket: Bucket) -> float:
        return self._signal(bucket) * (-_UNLEARNT if bucket.level == self.scenario.wrong_key else 1.0)

    def group(self, bucket: Bucket, size: int, rng: random.Random, age: int = 0) -> Result:
        """One task; rollouts that the sandbox lost are in no count."""
        chance = rng.choice(self._chances(bucket))
        judged = sum(rng.random() >= self.scenario.faults for _ in range(size)) if self.scenario.faults else size
        draws = [rng.random() for _ in range(judged)]
        unread = sum(draw >= self._formed(bucket) for draw in draws)
        return Result(bucket, sum(draw < chance for draw in draws), judged, age, unread)
