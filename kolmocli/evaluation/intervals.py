"""Confidence intervals, in closed form: the same numbers in give the same interval out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist, fmean, stdev

from kolmocli.curriculum.information import signal_fraction

Interval = tuple[float, float]
Group = tuple[int, int]
"""(passes, judged rollouts) of one task."""
CONFIDENCE = 0.95


def normal_quantile(confidence: float) -> float:
    """z such that a standard normal lies within ±z with this probability (0 < confidence < 1)."""
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence {confidence} is not between 0 and 1")
    return NormalDist().inv_cdf((1.0 + confidence) / 2.0)


def wilson(k: float, n: float, confidence: float = CONFIDENCE) -> Interval:
    """The score interval of a share: k of n; not whole where they stand for fewer independent ones.

    Source: Wilson (1927), equation 4. (0, 1) when n is 0: nothing is known.
    Raises ValueError unless 0 ≤ k ≤ n.
    """
    if not 0 <= k <= n:
        raise ValueError(f"{k} of {n} is not a share")
    if n == 0:
        return (0.0, 1.0)
    z2 = normal_quantile(confidence) ** 2
    centre = (k + z2 / 2) / (n + z2)
    half = math.sqrt(z2 * (k * (n - k) / n + z2 / 4)) / (n + z2)
    # At k = 0 and k = n the bound is exact in theory; keep rounding from putting the share outside.
    return (0.0 if k == 0 else max(0.0, centre - half), 1.0 if k == n else min(1.0, centre + half))


def pass_rate_interval(groups: Sequence[Group]) -> Interval:
    """Wilson's interval of the pass rate of some tasks, for as many rollouts as are worth independent ones.

    Rollouts of one task are alike. With S the share of the variance that lies within tasks, their correlation is
    1 − S, and n of them, m to a task, are worth n / (1 + (m−1)(1−S)): Kish (1965), section 5.4. Where all passed or all
    failed S is unknown, and a task counts as one.
    """
    n = sum(size for _, size in groups)
    if n == 0:
        return wilson(0, 0)
    passes, per_task = sum(k for k, _ in groups), n / len(groups)
    within = signal_fraction(groups) or 0.0
    worth = n / (1.0 + (per_task - 1.0) * (1.0 - within))
    # Not passes/n * worth: rounding would take a rate of 1 beyond it.
    return wilson(worth if passes == n else passes * (worth / n), worth)


def paired_difference(before: Sequence[bool | int], after: Sequence[bool | int]) -> Interval:
    """Interval of the change in accuracy between two 0/1 vectors on the same tasks, in the same order.

    The Wald interval with one pseudo-task added to each kind of change: with b tasks lost and c won
    of n, p = (b+1)/(n+2), q = (c+1)/(n+2), it is q−p ± z·sqrt((p + q − (q−p)²)/(n+2)). Only changed tasks
    matter, so it is much narrower than the difference of two separate intervals.
    Source: Bonett and Price (2012), recommended for paired shares by Fagerland et al. (2014).
    Raises ValueError when the lengths differ or there is no task.
    """
    if len(before) != len(after) or not before:
        raise ValueError(f"{len(before)} and {len(after)} results cannot be paired")
    n = len(before)
    lost = sum(1 for x, y in zip(before, after, strict=True) if x and not y)
    won = sum(1 for x, y in zip(before, after, strict=True) if y and not x)
    p, q = (lost + 1) / (n + 2), (won + 1) / (n + 2)
    half = normal_quantile(CONFIDENCE) * math.sqrt((p + q - (q - p) ** 2) / (n + 2))
    return (max(-1.0, q - p - half), min(1.0, q - p + half))


def mean_interval(values: Sequence[float]) -> Interval:
    """Student's interval of a mean: mean ± t·s/sqrt(n), for example over a few seeds.

    Raises ValueError for fewer than two values: their spread is unknown.
    """
    n = len(values)
    if n < 2:
        raise ValueError(f"{n} value(s) have no spread")
    half = student_quantile(CONFIDENCE, n - 1) * stdev(values) / math.sqrt(n)
    mean = fmean(values)
    return (mean - half, mean + half)


def ratio_interval(parts: Sequence[float], wholes: Sequence[float]) -> Interval | None:
    """Student's interval of sum(parts) / sum(wholes) over independent tasks, one part and one whole each, none negative.

    By linearisation: the variance of R = Σy/Σx is about Σ(y − R·x)² · n / ((n−1)·(Σx)²).
    Source: Cochran (1977), equation 6.13. None for fewer than two tasks, whose spread is unknown, or without a whole.
    """
    n, whole = len(parts), math.fsum(wholes)
    if n < 2 or not whole:
        return None
    ratio = math.fsum(parts) / whole
    squares = math.fsum((y - ratio * x) ** 2 for y, x in zip(parts, wholes, strict=True))
    half = student_quantile(CONFIDENCE, n - 1) * math.sqrt(squares * n / (n - 1)) / whole
    return (max(0.0, ratio - half), ratio + half)


def student_quantile(confidence: float, freedom: int) -> float:
    """t such that Student's t with `freedom` degrees lies within ±t with this probability.

    Inverts the finite series of Abramowitz and Stegun, 26.7.3 and 26.7.4, by bisection; above 200 degrees
    the first two terms of 26.7.5 are exact to five digits.
    """
    z = normal_quantile(confidence)
    if freedom > 200:
        return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    low, high = 0.0, 1.0
    while _student_within(high, freedom) < confidence:
        high *= 2.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _student_within(middle, freedom) < confidence else (low, middle)
    return (low + high) / 2


def _student_within(t: float, freedom: int) -> float:
    """P(|T| ≤ t) for Student's T."""
    theta = math.atan(t / math.sqrt(freedom))
    cos2 = math.cos(theta) ** 2
    odd = freedom % 2
    term = math.cos(theta) if odd else 1.0
    total = 0.0 if freedom == 1 else term
    for j in range(2 + odd, freedom - 1, 2):
        term *= cos2 * (j - 1) / j
        total += term
    return 2 / math.pi * (theta + math.sin(theta) * total) if odd else math.sin(theta) * total
