"""Room to control: what choosing levels could win over sampling all of them evenly, before anybody has trained.

A group teaches in proportion to its U, the estimate of p(1−p). Uniform sampling gives the mean U over all buckets; a
controller can at best give every family the level at which its U is highest. The ratio of the two bounds what control can
save: with a ratio of 4, a quarter of the rollouts carry the same signal.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from kolmocli.curriculum.base import Bucket
from kolmocli.curriculum.information import Group, signal

_RESAMPLES = 400
_LITTLE = 2.0
"""A ratio below this is said as a share that is saved, above it as a factor."""


@dataclass(frozen=True, slots=True)
class Room:
    """`uniform` and `best` are mean U of a group; `ratio` is best ÷ uniform with its 95 % interval, None where uniform
    sampling gives nothing or an interval needs more tasks. `failed` and `passed` are the shares of groups that fail and
    pass whole under uniform sampling."""

    uniform: float
    best: float
    ratio: float | None
    ci: tuple[float, float] | None
    failed: float
    passed: float


def room_line(room: Mapping[str, Any]) -> str:
    """A `Room` as JSON has it, in one line for people."""
    uniform, best, ratio, ci = (room[name] for name in ("uniform", "best", "ratio", "ci"))
    given = f"uniform sampling gives {uniform:.2f} of {best:.2f}"
    if ratio is None:
        return f"{given}: it teaches nothing, so what control can win is unknown; add easier levels"
    if ratio < _LITTLE:
        won = f"control can save at most {100 * (1 - 1 / ratio):.0f} % of the rollouts here"
    else:
        won = f"control can need up to {ratio:.1f} times fewer rollouts"
    return f"{given}: {won} ({f'95 %: {ci[0]:.1f} to {ci[1]:.1f} times' if ci else 'too few tasks for an interval'})"


def room(groups: Mapping[Bucket, Sequence[Group]], seed: int = 0) -> Room | None:
    """Room for control, from the groups (passes, rollouts) of each bucket.

    A bucket without groups counts as the nearest level of its family that has some, which makes the ratio of a run that
    held its levels a lower bound. Levels are chosen by one half of the tasks and measured by the other, so that the best
    of many noisy levels is not taken for better than it is. None where there is no group of two rollouts, or one level
    only in every family: then there is nothing to choose.

    Source of the interval: percentiles of a bootstrap over tasks, Efron (1979), `seed` fixes its draws.
    """
    families = _families(groups)
    buckets = [bucket for levels in families for bucket in levels]
    if not any(buckets) or all(len(levels) < 2 for levels in families):
        return None
    uniform, best = _measured(families)
    rng = random.Random(f"room/{seed}")
    ratios = sorted(b / u for u, b in (_measured(_resampled(families, rng)) for _ in range(_RESAMPLES)) if u > 0)
    # An interval needs two tasks in every bucket, and uniform sampling that taught something in nearly every resample.
    sure = min(map(len, buckets)) >= 2 and len(ratios) > 0.95 * _RESAMPLES
    return Room(
        uniform, best, best / uniform if uniform > 0 else None,
        (ratios[int(0.025 * len(ratios))], ratios[int(0.975 * len(ratios))]) if sure else None,
        fmean(fmean(k == 0 for k, _ in bucket) for bucket in buckets),
        fmean(fmean(k == n for k, n in bucket) for bucket in buckets),
    )  # fmt: skip


Levels = list[list[Group]]
"""The groups of each level of one family, easy to hard."""


def _families(groups: Mapping[Bucket, Sequence[Group]]) -> list[Levels]:
    """Families with a level that has groups of two rollouts or more; empty levels take those of the nearest."""
    found: dict[str, dict[int, list[Group]]] = defaultdict(dict)
    for bucket, of_bucket in groups.items():
        found[bucket.family][bucket.level] = [(k, n) for k, n in of_bucket if n >= 2]
    families = []
    for by_level in found.values():
        known = [level for level, of_level in by_level.items() if of_level]
        if known:
            nearest = {level: min(known, key=lambda other: abs(other - level)) for level in by_level}
            families.append([by_level[nearest[level]] for level in sorted(by_level)])
    return families


def _measured(families: Sequence[Levels]) -> tuple[float, float]:
    """(mean U of uniform sampling, mean over families of U at their best level)"""
    uniform = fmean(fmean(signal(k, n) for k, n in level) for levels in families for level in levels)
    return uniform, max(uniform, fmean(_best(levels) for levels in families))


def _best(levels: Levels) -> float:
    """U at the best level: chosen by every other task and measured by the rest, both ways round."""
    halves = [[[signal(k, n) for k, n in (level[half::2] or level)] for level in levels] for half in (0, 1)]
    return fmean(fmean(measured[_highest([fmean(u) for u in chosen])]) for chosen, measured in (halves, halves[::-1]))


def _highest(values: Sequence[float]) -> int:
    """Index of the highest value, each smoothed by its neighbors."""
    padded = [values[0], *values, values[-1]]
    smooth = [padded[i - 1] + 2 * padded[i] + padded[i + 1] for i in range(1, len(padded) - 1)]
    return smooth.index(max(smooth))


def _resampled(families: Sequence[Levels], rng: random.Random) -> list[Levels]:
    return [[rng.choices(level, k=len(level)) for level in levels] for levels in families]
