"""Figures of one controller in one scenario, from its runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

from kolmocli.curriculum.simulator.loop import Trace

BAND = 0.1
_STAY = 10
_SETTLED = 60
"""Tracking is measured from this step on."""
_LONGEST_HALF_CYCLE = 25


def settle(traces: Sequence[Trace], start: int = 0) -> int | None:
    """Steps from `start` until what is sampled passes within 0.1 of the target, on average over groups and runs,
    for ten steps on end; None if it never does. Group by group: half hopeless and half trivial is far off."""
    inside = [fmean(at) <= BAND for at in zip(*(t.off[start:] for t in traces), strict=True)]
    return next((i for i in range(len(inside) - _STAY + 1) if all(inside[i : i + _STAY])), None)


def rmse(traces: Sequence[Trace]) -> float:
    """Root mean square distance from the target of the pass rates of what is sampled, group by group."""
    return math.sqrt(fmean(square for t in traces for square in t.square[_SETTLED:]))


def dead_groups(traces: Sequence[Trace]) -> float:
    """Share of all groups that all passed or all failed."""
    return sum(t.dead for t in traces) / sum(t.groups for t in traces)


def coverage(traces: Sequence[Trace]) -> float | None:
    """Share of steps at which the 90 % interval held the true pass rate; None without intervals."""
    covered = [c for t in traces for c in t.covered]
    return fmean(covered) if covered else None


def swing(traces: Sequence[Trace]) -> float:
    """The most negative autocorrelation of the level, up to 25 steps apart, about its mean over 50 steps.

    A limit cycle comes near −1 at half its period; noise around a steady state stays above −0.5.
    """
    correlations = []
    for t in traces:
        level = t.level[_SETTLED:]
        off = [x - fmean(level[max(0, i - 25) : i + 26]) for i, x in enumerate(level)]
        power = fmean(x * x for x in off)
        if power > 1e-9:
            correlations.append(
                min(
                    fmean(a * b for a, b in zip(off, off[apart:], strict=False)) / power
                    for apart in range(1, _LONGEST_HALF_CYCLE + 1)
                )
            )
    return fmean(correlations) if correlations else 0.0
