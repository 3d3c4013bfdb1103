"""A logistic (Rasch) Kalman tracker: where on the ladder of levels does this family pass half the time?

Model: a rollout at level d passes with probability sigma(a (m - d)); m, the level passed half the time,
drifts. The update is that of an extended Kalman filter on m (facts: a one-dimensional Rasch model, see
Glickman 1999 for the same filter in ratings). Levels are numbered from 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from kolmocli.curriculum.base import GroupResult
from kolmocli.tasks.base import Bucket

_PROCESS_NOISE = 0.01
"""Variance that m gains per policy update: a learner may move a tenth of a level a step."""
_START_VARIANCE = 4.0
_MAX_STEP = 1.0
"""Slew limit: m moves at most one level per step, whatever a single lucky batch says."""
_SHOCK = 9.0
"""A squared standardised innovation above this (three sigmas) reopens the variance."""
_SCATTER_MEMORY = 0.95
_MIN_VARIANCE_OF_PASS = 0.02
"""p(1-p) is taken at least this large, so that 0 or G passes never look certain."""


def sigmoid(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x)) if x >= 0 else math.exp(x) / (1.0 + math.exp(x))


@dataclass
class Tracker:
    """The belief about one family: mean m and variance v of the level that passes half the time.

    `slope` is a, in logits per level; `scatter` the over-dispersion of groups (the rollouts of one task are
    not independent trials: 1 means they are, G that they all agree).
    """

    top: int
    mean: float = 1.0
    variance: float = _START_VARIANCE
    slope: float = 1.0
    scatter: float = 2.0

    def pass_rate(self, level: float) -> float:
        return sigmoid(self.slope * (self.mean - level))

    def level_for(self, target: float) -> float:
        """The level, between 1 and the top, at which this family passes with probability `target`."""
        wanted = self.mean - math.log(target / (1.0 - target)) / self.slope
        return min(max(wanted, 1.0), float(self.top))

    def observe(self, results: Sequence[GroupResult]) -> bool:
        """Take in all groups of this family from one step at once. Returns True on a shock.

        One joint update (information form), of sorted results, makes their order irrelevant.
        """
        results = sorted((r for r in results if r.rollouts > 0), key=_order)
        self.variance += _PROCESS_NOISE
        if not results:
            return False
        information, score = 0.0, 0.0
        for r in results:
            expected = self.pass_rate(r.bucket.level)
            spread = max(expected * (1.0 - expected), _MIN_VARIANCE_OF_PASS)
            noise = self.scatter * spread / r.rollouts * (1.0 + 0.25 * r.age)
            sensitivity = self.slope * spread
            information += sensitivity**2 / noise
            score += sensitivity * (r.passes / r.rollouts - expected) / noise
        innovation = score**2 / (information * (1.0 + self.variance * information))
        self._learn_scatter(results)
        shock = innovation > _SHOCK
        if shock:
            self.variance = min(_START_VARIANCE, self.variance + 1.0)
        gain = self.variance / (1.0 + self.variance * information)
        step = min(max(gain * score, -_MAX_STEP), _MAX_STEP)
        # Anti-windup: m may not run away beyond the ladder, or it would take as long to come back.
        margin = 1.0 / self.slope
        self.mean = min(max(self.mean + step, 1.0 - margin), self.top + margin)
        self.variance = gain
        return shock

    def _learn_scatter(self, results: Sequence[GroupResult]) -> None:
        """Squared Pearson residuals of whole groups, averaged over time: 1 for independent rollouts."""
        for r in results:
            expected = self.pass_rate(r.bucket.level)
            spread = max(expected * (1.0 - expected), _MIN_VARIANCE_OF_PASS)
            residual = (r.passes - r.rollouts * expected) ** 2 / (r.rollouts * spread)
            blended = _SCATTER_MEMORY * self.scatter + (1.0 - _SCATTER_MEMORY) * min(residual, r.rollouts)
            self.scatter = min(max(blended, 1.0), float(r.rollouts))

    def state_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Tracker:
        expected = {f.name for f in fields(cls)}
        if set(state) != expected:
            raise ValueError(f"a tracker has {sorted(expected)}, not {sorted(state)}")
        return cls(**state)


def _order(result: GroupResult) -> tuple[Bucket, int, int, int]:
    return result.bucket, result.passes, result.rollouts, result.age
