"""A logistic (Rasch) tracker: where on the ladder of levels does this family pass at the target?

Model: a rollout at level d passes with probability sigma(a (m - d)); m, the level passed half the time,
drifts. A step multiplies a Gaussian belief in m with the likelihood of all results and keeps the peak and
the curvature there: a Kalman filter for pass counts (Fahrmeir 1992; Glickman 1999 does the same with
ratings). Levels are numbered from 1.
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
_MAX_STEP = 1.5
"""Slew limit: m moves at most so many levels per step, whatever a single lucky batch says."""
_SHOCK = 3.0
"""A pass rate this many sigmas from the expected one is worth an event."""
_SURPRISE_MEMORY = 0.5
_REOPEN = 0.2
"""Surprises of one sign in a row mean that the belief is too narrow: variance per squared sigma above one."""
_SCATTER_MEMORY = 0.95
_MIN_VARIANCE_OF_PASS = 0.02
"""p(1-p) is taken at least this large where it is divided by, so that no result is impossible."""


def sigmoid(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x)) if x >= 0 else math.exp(x) / (1.0 + math.exp(x))


@dataclass
class Tracker:
    """The belief about one family: mean m and variance v of the level that passes half the time.

    `slope` is a, in logits per level; `scatter` the over-dispersion of groups (the rollouts of one task are
    not independent trials: 1 means they are, G that they all agree); `surprise` the running mean of how many
    sigmas above the expectation the pass rate was.
    """

    top: int
    mean: float = 1.0
    variance: float = _START_VARIANCE
    slope: float = 1.0
    scatter: float = 2.0
    surprise: float = 0.0

    def pass_rate(self, level: float) -> float:
        return sigmoid(self.slope * (self.mean - level))

    def level_for(self, target: float) -> float:
        """The level, between 1 and the top, at which this family passes with probability `target`."""
        wanted = self.mean - math.log(target / (1.0 - target)) / self.slope
        return min(max(wanted, 1.0), float(self.top))

    def observe(self, results: Sequence[GroupResult]) -> bool:
        """Take in all groups of this family from one step at once. Returns True on a shock.

        One joint update, of sorted results, makes their order irrelevant. How wide the belief is beforehand
        depends on earlier steps only, so that more passes never lower m.
        """
        results = sorted((r for r in results if r.rollouts > 0), key=_order)
        reopened = _REOPEN * max(0.0, self.surprise**2 - 1.0) if results else 0.0
        self.variance = min(self.variance + _PROCESS_NOISE + reopened, _START_VARIANCE)
        if not results:
            return False
        sigmas = self._sigmas(results)
        self.surprise += (1.0 - _SURPRISE_MEMORY) * (sigmas - self.surprise)
        # Anti-windup: m may not run away beyond the ladder, or it would take as long to come back.
        margin = 1.0 / self.slope
        peak = self._peak(results, self.mean - _MAX_STEP, self.mean + _MAX_STEP)
        _, information = self._likelihood(results, peak)
        self.mean = min(max(peak, 1.0 - margin), self.top + margin)
        self.variance /= 1.0 + self.variance * information
        self._learn_scatter(results)
        return abs(sigmas) > _SHOCK

    def _peak(self, results: Sequence[GroupResult], low: float, high: float) -> float:
        """Where belief times likelihood is highest between two bounds: Newton's method, kept inside them."""
        at, start = self.mean, self.mean
        for _ in range(50):
            score, information = self._likelihood(results, at)
            uphill = score - (at - start) / self.variance
            low, high = (at, high) if uphill > 0 else (low, at)
            step = uphill / (information + 1.0 / self.variance)
            after = at + step if low < at + step < high else (low + high) / 2.0
            if abs(after - at) < 1e-12:
                break
            at = after
        return at

    def _likelihood(self, results: Sequence[GroupResult], mean: float, least: float = 0.0) -> tuple[float, float]:
        """Slope and (negative) curvature of the log-likelihood at `mean`, over-dispersion and age discounted."""
        score, information = 0.0, 0.0
        for r in results:
            rate = sigmoid(self.slope * (mean - r.bucket.level))
            weight = self.slope / (self.scatter + self.slope**2 * _PROCESS_NOISE * r.age * r.rollouts / 4.0)
            score += weight * (r.passes - r.rollouts * rate)
            information += weight * self.slope * r.rollouts * max(rate * (1.0 - rate), least)
        return score, information

    def _sigmas(self, results: Sequence[GroupResult]) -> float:
        """How far the passes are from what was expected, in standard deviations; positive is more."""
        score, information = self._likelihood(results, self.mean, _MIN_VARIANCE_OF_PASS)
        return score / math.sqrt(information * (1.0 + self.variance * information))

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
