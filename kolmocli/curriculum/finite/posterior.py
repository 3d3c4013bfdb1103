"""Belief about every prompt of a finite set: a logistic posterior that shrinks towards its bucket's.

Model: a rollout of prompt i, in bucket b, passes with probability sigma(theta_b + d_i). theta_b, how able the policy is in the
bucket, drifts with every version of the policy; d_i is how much easier than its bucket the prompt is, d_i ~ N(m_i, tau_b²),
where m_i is 0, or comes from a pass rate that was measured before. tau_b² is learned from the prompts that were seen (empirical
Bayes: Robbins 1956; Efron and Morris 1973), so a bucket of like prompts says nearly all, and one of unlike prompts says little.

Results of a prompt fade: between two results d_i returns to m_i as an Ornstein-Uhlenbeck process does. So a prompt that
failed long ago is tried again, and none is retired.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from kolmocli.curriculum.tracker import peak

_START = 4.0
"""Variance of what is believed of a bucket at first, in squared logits."""
_SPREAD = 1.5
"""tau at first, in logits, and what it is held to by as many prompts as `_HELD`."""
_HELD = 20.0
_DRIFT = 0.1
"""Logits that a bucket may move in a version, as a standard deviation: that of `rasch`."""
_SLEW = 3.0
"""Logits that one result moves a belief at most."""

Numbers = Any
"""A float, or an array of them, [K]."""


@dataclass(slots=True)
class Normal:
    """A belief in logits."""

    mean: float
    variance: float


class Posterior:
    """The buckets and how their prompts differ. It holds no prompts: who asks brings what was seen of one.

    Args:
        buckets: how many there are.
        memory: versions of the policy after which 1/e of what was seen of a prompt is left.
    """

    def __init__(self, buckets: int, memory: float) -> None:
        self.memory = memory
        self.version = 0
        self.ability = [Normal(0.0, _START) for _ in range(buckets)]
        self.spread = [_SPREAD**2] * buckets
        """tau² of each bucket, in squared logits: the mean of E (d_i − m_i)² over its prompts, each at its first result."""
        self.counts = [_HELD] * buckets
        """Prompts that this mean is of, those of the first guess included."""

    def advance(self) -> None:
        """A new version of the policy."""
        self.version += 1
        for ability in self.ability:
            ability.variance = min(ability.variance + _DRIFT**2, _START)

    def logit(self, bucket: int, offset: Normal) -> Normal:
        """The logit of a prompt's pass rate."""
        ability = self.ability[bucket]
        return Normal(ability.mean + offset.mean, ability.variance + offset.variance)

    def faded(self, bucket: int, expected: float, offset: Normal, versions: int) -> Normal:
        """The belief in d_i after this many versions without a result; `expected` is m_i."""
        left = math.exp(-versions / self.memory)
        spread = self.spread[bucket]
        return Normal(expected + left * (offset.mean - expected), spread + left**2 * (offset.variance - spread))

    def learn(self, bucket: int, offset: Normal, passes: float, rollouts: float, age: int) -> Normal:
        """Take in a result, sampled `age` versions ago. `offset` is what is believed of d_i before it; returned is what is after it.

        A Laplace step: the peak of the belief in theta + d times the likelihood, and the curvature there, shared out by how
        uncertain each of the two was. A late result counts less, as theta has moved since; so it does in `Tracker`.
        """
        ability = self.ability[bucket]
        variance = ability.variance + offset.variance
        weight = 1.0 / (1.0 + _DRIFT**2 * age * rollouts / 4.0)
        start, terms = ability.mean + offset.mean, [(0.0, weight * passes, weight * rollouts)]
        found_at, information = peak(terms, start, variance, _SLEW)
        step = found_at - start
        shrink = information / (1.0 + variance * information)
        found = Normal(offset.mean + offset.variance / variance * step, offset.variance - shrink * offset.variance**2)
        ability.mean += ability.variance / variance * step
        ability.variance -= shrink * ability.variance**2
        return found

    def count(self, bucket: int, expected: float, first: Normal) -> None:
        """Learn how much the prompts of a bucket differ from what is believed of one after its first result."""
        self.counts[bucket] += 1.0
        square = (first.mean - expected) ** 2 + first.variance
        self.spread[bucket] += (square - self.spread[bucket]) / self.counts[bucket]

    def state_dict(self) -> dict[str, Any]:
        return {
            "version": self.version,
            "ability": [[a.mean, a.variance] for a in self.ability],
            "spread": list(self.spread),
            "counts": list(self.counts),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.version = int(state["version"])
        self.ability = [Normal(float(mean), float(variance)) for mean, variance in state["ability"]]
        self.spread, self.counts = [float(x) for x in state["spread"]], [float(x) for x in state["counts"]]


def closeness(mean: Numbers, variance: Numbers, target: float, width: float) -> Numbers:
    """Expected closeness of a pass rate to the target, from 0 to 1: E exp(−(x − t)²/2w²) for logits x ~ N(mean, variance), t the
    target's. A prompt of which little is known is near it with some probability, so that it is tried."""
    both = variance + width**2
    return width / np.sqrt(both) * np.exp(-0.5 * (mean - target) ** 2 / both)


def expected_rate(mean: Numbers, variance: Numbers) -> Numbers:
    """E sigma(x) for x ~ N(mean, variance), within about .02 (MacKay 1992, "The evidence framework", eq. 10)."""
    return 1.0 / (1.0 + np.exp(-mean / np.sqrt(1.0 + math.pi * variance / 8.0)))
