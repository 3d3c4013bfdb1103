"""Information per rollout: what one pass or fail can teach, in bits, and how well it is estimated.

Pure functions of numbers. A binary outcome carries H(p) bits, which is 1 at p = 1/2 and nothing at
0 and 1; a supervised answer carries −log2 p. Both are in the same unit, so the two ways of learning can
stand side by side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

Group = tuple[int, int]
"""(passes k, rollouts G) of one task."""


def entropy_bits(p: float) -> float:
    """H(p) = −p log2 p − (1−p) log2(1−p), in bits: the most that one pass/fail outcome can carry.

    Source: Shannon (1948), section 6.
    Raises ValueError when p is not a probability.
    """
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"{p} is not a probability")
    if p in (0.0, 1.0):
        return 0.0
    return -p * math.log2(p) - (1.0 - p) * math.log2(1.0 - p)


def mean_entropy(groups: Sequence[Group]) -> float | None:
    """Bits per rollout over groups: the rollout-weighted mean of the corrected entropies, within [0, 1].

    Each group is measured by itself, so a set made of hopeless and trivial tasks counts for nothing even
    where its mean pass rate is 1/2. None when there is no rollout.
    """
    total = sum(n for _, n in groups)
    if total == 0:
        return None
    mean = sum(n * _miller_madow(k, n) for k, n in groups if n) / total
    return min(1.0, max(0.0, mean))


def _miller_madow(k: int, n: int) -> float:
    """H(p) in bits from k passes of n rollouts. The plug-in H(k/n) is too low by about (m−1)/(2n ln 2), m outcomes seen; Miller
    (1955) and Madow add it back. At n = 8, p = 1/2 the bias falls from −.10 to −.01. A group's estimate can be above 1."""
    _check(k, n, least=1)
    outcomes_seen = 1 if k in (0, n) else 2
    return entropy_bits(k / n) + (outcomes_seen - 1) / (2 * n * math.log(2))


def signal(k: int, n: int) -> float:
    """U = k(G−k) / (G(G−1)) for k passes in a group of G = n: the unbiased estimate of p(1−p).

    It is the unbiased sample variance of G Bernoulli outcomes; 0 means that the group is dead.
    Raises ValueError for fewer than two rollouts: one rollout says nothing about a variance.
    """
    _check(k, n, least=2)
    return k * (n - k) / (n * (n - 1))


def mean_signal(groups: Sequence[Group]) -> float | None:
    """Mean U over the groups of two or more rollouts; None when there is none."""
    values = [signal(k, n) for k, n in groups if n >= 2]
    return sum(values) / len(values) if values else None


def signal_fraction(groups: Sequence[Group]) -> float | None:
    """S = mean U / (p(1−p)), within [0, 1]: 1 when all tasks are equally hard, 0 when each is 0 or 1.

    p(1−p) is estimated without bias from all rollouts pooled, k(n−k)/(n(n−1)), so that one group gives
    exactly 1. None when every rollout passed or every rollout failed: then there is nothing to explain.
    """
    groups = [(k, n) for k, n in groups if n >= 2]
    inside = mean_signal(groups)
    if inside is None:
        return None
    pooled = signal(sum(k for k, _ in groups), sum(n for _, n in groups))
    return None if pooled == 0 else min(1.0, inside / pooled)


def dead(k: int, n: int) -> bool:
    """All passed or all failed: no gradient from a group-relative baseline, no bit from the outcome."""
    _check(k, n, least=1)
    return k in (0, n)


def supervised_bits(p: float) -> float:
    """−log2 p, in bits: what being told the right answer teaches a policy that gave it probability p.

    Infinite at p = 0. Raises ValueError when p is not a probability.
    """
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"{p} is not a probability")
    return math.inf if p == 0.0 else abs(math.log2(p))


def per_gflop(bits: float, flops: float) -> float | None:
    """Bits per 10⁹ floating-point operations; None where there were none."""
    return bits / flops * 1e9 if flops > 0 else None


def _check(k: int, n: int, least: int) -> None:
    if n < least or not 0 <= k <= n:
        raise ValueError(f"{k} passes of {n} rollouts is not a group of at least {least}")
