"""A logistic (Rasch) tracker: how able is the policy in this family, and how sure is that?

Model: a rollout at level d passes with probability sigma(theta − a·d), the Rasch model with the difficulties of
the levels in a straight line. theta, the ability in logits, drifts; theta/a is the level passed half the time.
A step multiplies a Gaussian belief in theta with the likelihood of all results and keeps the peak and the
curvature there: a Kalman filter for pass counts (Fahrmeir 1992; Glickman 1999 does the same with ratings).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from kolmocli.curriculum.base import Belief, Result
from kolmocli.curriculum.levels import take

_START_VARIANCE = 4.0
_MEASURED_VARIANCE = 0.25
"""Least variance of a belief that begins with a profile."""
_FAR = 1e3
"""Logits: no limit."""
_SHOCK = 3.0
"""A pass rate this many sigmas from the expected one is worth an event."""
_SURPRISE_MEMORY = 0.5
_REOPEN = 0.2
"""Surprises of one sign in a row mean that the belief is too narrow: variance per squared sigma above one."""
_SCATTER_MEMORY = 0.95
_MIN_VARIANCE_OF_PASS = 0.02
"""p(1−p) is taken at least this large where it is divided by, so that no result is impossible."""
_MARGIN = 1.0
"""Logits that the ability may lie beyond the ladder."""
_SHOWN_BEYOND = 5.0
"""Logits beyond the ladder that are shown at most: a pass rate above 99 %."""
_Z90 = 1.6449
"""A normal variable lies within this many standard deviations nine times in ten."""


_PRECISION = 1e-9
"""Newton's method stops at this change of the ability, in logits."""

Term = tuple[float, float, float]
"""The groups of one level: its difficulty, their passes and their rollouts, both weighted."""


def sigmoid(x: float) -> float:
    return 0.5 + 0.5 * math.tanh(0.5 * x)  # the usual form overflows


class Tracker:
    """The belief about one family: mean and variance of its ability, in logits.

    Args:
        top, bottom: the levels that may be used.
        slope: a, in logits per level.
        drift: standard deviation of what the ability moves per policy update.
        slew: the mean moves at most so far per step, whatever a single lucky batch says.
    """

    def __init__(self, top: int, bottom: int = 1, *, slope: float = 1.0, drift: float = 0.1, slew: float = 1.5) -> None:
        self.top, self.bottom = top, bottom
        self.slope, self.drift, self.slew = slope, drift, slew
        self.ability = slope * bottom
        self.variance = _START_VARIANCE
        self.scatter = 2.0
        """Over-dispersion: 1 when the rollouts of a group are independent trials, G when they all agree."""
        self.surprise = 0.0
        """Running mean of how many sigmas above the expectation the pass rate was."""
        self.beyond = 0.0
        """Distance of the measured ability beyond the end of the ladder, in logits. It is shown and moves no level."""
        self.age = 0.0
        """Policy updates since the latest results were sampled, on average."""

    def pass_rate(self, level: float) -> float:
        return sigmoid(self.ability - self.slope * level)

    def level_for(self, target: float) -> float:
        """The level, on the ladder, at which this family passes with probability `target`."""
        wanted = (self.ability - math.log(target / (1.0 - target))) / self.slope
        return min(max(wanted, float(self.bottom)), float(self.top))

    def belief(self, level: float) -> Belief:
        """The pass rate at a level now: the ability has drifted since the latest results were sampled."""
        half = _Z90 * math.sqrt(self.variance + self.drift**2 * self.age)
        logit = self.ability + self.beyond - self.slope * level
        return Belief(sigmoid(logit), sigmoid(logit - half), sigmoid(logit + half))

    def observe(self, results: Sequence[Result]) -> bool:
        """Take in all groups of this family from one step at once, in a fixed order. Returns True on a shock.

        How wide the belief is beforehand depends on earlier steps only, so that more passes never lower it.
        """
        self.variance = min(self.variance + self.drift**2, _START_VARIANCE)
        if not results:
            return False
        age = sum(r.age for r in results) / len(results)
        # What comes late was sampled before the last corrections: much of its surprise has been counted already.
        reopened = _REOPEN * max(0.0, self.surprise**2 - 1.0) / (1.0 + age)
        self.variance = min(self.variance + reopened, _START_VARIANCE)
        terms = self._terms(results)
        sigmas = self._sigmas(terms)
        self.surprise += (1.0 - _SURPRISE_MEMORY) * (sigmas - self.surprise)
        start, measured = self.ability, self.ability + self.beyond
        top, information = peak(terms, start, self.variance, self.slew)
        # Anti-windup: the ability may not run away beyond the ladder, or it would take as long to come back.
        lowest, highest = self.slope * self.bottom - _MARGIN, self.slope * self.top + _MARGIN
        self.ability = min(max(top, lowest), highest)
        self.beyond = 0.0
        if top != self.ability or measured != start:
            shown, _ = peak(terms, measured, self.variance, self.slew)
            shown = min(max(shown, lowest - _SHOWN_BEYOND), highest + _SHOWN_BEYOND)
            self.beyond = shown - min(max(shown, lowest), highest)
        self.variance /= 1.0 + self.variance * information
        self._learn_scatter(results)
        self.age = age
        return abs(sigmas) > _SHOCK

    def begin(self, results: Sequence[Result]) -> None:
        """Take in what was measured before the first step, at once and not by `slew`. It is of other tasks and an earlier policy,
        so it leaves more doubt than results do."""
        terms = self._terms(results)
        top, information = peak(terms, self.ability, self.variance, _FAR)
        lowest, highest = self.slope * self.bottom - _MARGIN, self.slope * self.top + _MARGIN
        self.ability = min(max(top, lowest), highest)
        self.variance = max(self.variance / (1.0 + self.variance * information), _MEASURED_VARIANCE)

    def _terms(self, results: Sequence[Result]) -> list[Term]:
        """Results by level. Evidence is divided by the over-dispersion; what is old was about an ability that has
        drifted since, which adds to the variance of its passes."""
        terms: dict[int, Term] = {}
        for r in results:
            weight = 1.0 / (self.scatter + self.drift**2 * r.age * r.rollouts / 4.0)
            difficulty, passes, rollouts = terms.get(r.bucket.level, (self.slope * r.bucket.level, 0.0, 0.0))
            terms[r.bucket.level] = (difficulty, passes + weight * r.passes, rollouts + weight * r.rollouts)
        return list(terms.values())

    def _sigmas(self, terms: Sequence[Term]) -> float:
        """Deviation of the passes from the expected ones, in standard deviations; positive is more."""
        score, information = _likelihood(terms, self.ability, _MIN_VARIANCE_OF_PASS)
        return score / math.sqrt(information * (1.0 + self.variance * information))

    def _learn_scatter(self, results: Sequence[Result]) -> None:
        """Squared Pearson residuals of whole groups, averaged over time: 1 for independent rollouts."""
        for r in results:
            expected = self.pass_rate(r.bucket.level)
            spread = max(expected * (1.0 - expected), _MIN_VARIANCE_OF_PASS)
            residual = min((r.passes - r.rollouts * expected) ** 2 / (r.rollouts * spread), r.rollouts)
            scatter = self.scatter + (1.0 - _SCATTER_MEMORY) * (residual - self.scatter)
            self.scatter = min(max(scatter, 1.0), float(r.rollouts))

    def state_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _STATE}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        for name, value in zip(_STATE, take({"beyond": 0.0} | state, *_STATE), strict=True):
            setattr(self, name, value)


_STATE = ("ability", "variance", "scatter", "surprise", "beyond", "age")


def peak(terms: Sequence[Term], start: float, variance: float, slew: float) -> tuple[float, float]:
    """Maximum of a belief around `start` times the likelihood within the slew limit, and the curvature of the likelihood
    there: Newton's method, kept inside the limit by halving."""
    at, precision = start, 1.0 / variance
    low, high = start - slew, start + slew
    information = 0.0
    for _ in range(50):
        score, information = _likelihood(terms, at)
        uphill = score - (at - start) * precision
        low, high = (at, high) if uphill > 0 else (low, at)
        before, at = at, at + uphill / (information + precision)
        if not low < at < high:
            at = (low + high) / 2.0
        if abs(at - before) < _PRECISION:
            break
    return at, information


def _likelihood(terms: Sequence[Term], ability: float, least: float = 0.0) -> tuple[float, float]:
    """Slope and (negative) curvature of the log-likelihood; p(1−p) is taken at least as `least`."""
    score = information = 0.0
    for difficulty, passes, rollouts in terms:
        rate = sigmoid(ability - difficulty)
        spread = rate * (1.0 - rate)
        score += passes - rollouts * rate
        information += rollouts * (spread if spread > least else least)
    return score, information
