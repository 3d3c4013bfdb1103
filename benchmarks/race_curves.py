"""How soon one way to train has what another ends with, from the means of their runs.

A single run's accuracy moves by a point or two from one evaluation to the next, and the first evaluation that is not below
a line is often a lucky one. The mean over the seeds moves less, and where it passes the line is interpolated.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any, Literal

Curve = Sequence[tuple[float, float]]
"""Rollouts or seconds, and the accuracy, at every evaluation."""
DRAWS = 4000
LEAST = 5
"""Seeds, below which a bootstrap says nothing."""


def caught_up(
    runs: Mapping[int, Mapping[str, Any]], others: Mapping[int, Mapping[str, Any]], what: Literal["rollouts", "seconds"]
) -> dict[str, Any] | None:
    """What it takes until the mean accuracy is what the others end with, as a share of what the others take to it.

    `mean` is that share, None if it never is. `ci` is the 95 % interval of a bootstrap over the seeds that both have
    finished, its upper end None if some draws never get there; None for fewer than five seeds. `n` counts the seeds.
    """
    seeds = sorted(runs.keys() & others.keys())
    if not seeds:
        return None
    x = ("rollouts", "accuracy", "seconds").index(what)
    mine, theirs = ([[(p[x], p[1]) for p in of[seed]["accuracies"]] for seed in seeds] for of in (runs, others))
    share = _share(mine, theirs)
    if len(seeds) < LEAST:
        return {"mean": share, "ci": None, "n": len(seeds)}
    rng, drawn = random.Random(0), []
    for _ in range(DRAWS):
        chosen = rng.choices(range(len(seeds)), k=len(seeds))
        drawn.append(_share([mine[i] for i in chosen], [theirs[i] for i in chosen]))
    known = sorted(found for found in drawn if found is not None)
    low, high = int(0.025 * DRAWS), int(0.975 * DRAWS)
    ci = [known[low], known[high] if high < len(known) else None] if low < len(known) else None
    return {"mean": share, "ci": ci, "n": len(seeds)}


def _share(mine: Sequence[Curve], theirs: Sequence[Curve]) -> float | None:
    target = fmean(accuracy for *_, (_, accuracy) in theirs)
    took, other = _reaches(mine, target), _reaches(theirs, target)
    return took / other if took is not None and other else None


def _reaches(curves: Sequence[Curve], target: float) -> float | None:
    """What it takes until the mean of the curves first has the target."""
    points = [(fmean(x for x, _ in rows), fmean(y for _, y in rows)) for rows in zip(*curves, strict=True)]
    if points[0][1] >= target:
        return 0.0
    for (before, low), (after, high) in pairwise(points):
        if high >= target:
            return before + (after - before) * (target - low) / (high - low)
    return None
