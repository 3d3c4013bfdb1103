"""The room that a run has left to control: families between the ends of their ladders, and the room that the last steps showed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from kolmocli.curriculum.base import Bucket, FamilyMetrics, Result
from kolmocli.curriculum.room import Room, room
from kolmocli.monitor.records import BucketRecord

WINDOW = 20
"""Steps whose groups tell the room. Also the first steps of a run, in which the levels are still searched for."""
MASTERED_STEPS = 10
"""Consecutive steps with every family mastered that end a run with `training.stop_when: mastered`."""
_SMOOTH = 10
_BAND = 0.1 + 1e-9
ENDS = ("mastered", "out of reach")

Row = tuple[str, int, int, int]
"""A group as a checkpoint keeps it: family, level, passes, rollouts."""


def controlled_rate(buckets: Mapping[str, BucketRecord]) -> float | None:
    """Pass rate of a step over the families that are not at an end of their ladder; None where all of them are."""
    between = [(b.pass_rate, b.n) for b in buckets.values() if b.state not in ENDS and b.n]
    total = sum(n for _, n in between)
    return sum((rate or 0.0) * n for rate, n in between) / total if total else None


def in_band(rates: Sequence[float | None], target: float) -> float | None:
    """Share of the steps after the first 20 whose mean of the last 10 rates is within target ± 0.1; steps without a rate do not
    count. None before there is one that does."""
    held: list[float] = []
    kept = []
    for step, rate in enumerate(rates):
        if rate is None:
            continue
        held.append(rate)
        if step >= WINDOW:
            kept.append(abs(fmean(held[-_SMOOTH:]) - target) <= _BAND)
    return sum(kept) / len(kept) if kept else None


def rows(results: Iterable[Result]) -> list[Row]:
    return [(r.bucket.family, r.bucket.level, r.passes, r.rollouts) for r in results if r.rollouts >= 2]


def room_of(steps: Sequence[Sequence[Row]], families: Mapping[str, FamilyMetrics]) -> Room | None:
    """The room that the groups of these steps show, over all levels of the families. A family with a belief about every task is
    left out: tasks that were chosen say nothing of the others."""
    groups: dict[Bucket, list[tuple[int, int]]] = defaultdict(list)
    for name, family in families.items():
        if family.state != "posterior":
            groups.update({Bucket(name, level): [] for level in range(1, family.top + 1)})
    for step in steps:
        for name, level, passes, rollouts in step:
            if Bucket(name, level) in groups:  # not those of hints and self-play, which are on no ladder
                groups[Bucket(name, level)].append((passes, rollouts))
    return room(groups)
