"""Measure a policy's pass rate at every level of a curriculum: the curve that a controller has to follow.

The tasks are of the training distribution, because those are what a controller samples, but drawn with a seed of
their own: a run that is calibrated has not seen them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

from kolmocli.config.controller import ladders_of
from kolmocli.config.file import load_config
from kolmocli.curriculum.base import Bucket
from kolmocli.curriculum.information import dead, mean_entropy, mean_signal
from kolmocli.curriculum.room import room
from kolmocli.evaluation.attempts import attempts_by
from kolmocli.evaluation.heldout import held_out_tasks
from kolmocli.evaluation.intervals import pass_rate_interval
from kolmocli.evaluation.samples import judged_groups
from kolmocli.pace import Pace
from kolmocli.sandbox.opening import Backend
from kolmocli.seeds import derived_seed
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sources import training_source


def calibrate(
    model: str,
    curriculum: Path,
    *,
    samples: int,
    tasks: int,
    seed: int | None,
    device: str,
    sandbox: Backend,
    warn: Callable[[str], None],
    pace: Pace | None = None,
) -> dict[str, Any]:
    """Roll out `tasks` tasks of every bucket, `samples` times each, and return the curves; JSON-ready.

    Under `families`, by name: `target`, `levels` (see `level_record`), `state`, `crossing` and `misordered`. Under `room`
    what control could win over uniform sampling (`curriculum/room.py`), None where there is nothing to choose.

    Raises:
        UsageError: no model under that name, or the curriculum cannot be used.
        EnvironmentMissing: the sandbox or the device that was asked for is not there.
    """
    config = load_config(curriculum, note=warn)
    seed = config.seed if seed is None else seed
    fresh = config.model_copy(update={"seed": derived_seed(seed, "calibrate")})
    source = training_source(fresh, warn)
    buckets = source.buckets()
    chosen = held_out_tasks(source, tasks * len(buckets))
    attempts = attempts_by(
        model, chosen, config.model_copy(update={"seed": seed}),
        samples=samples, seed=derived_seed(fresh.seed, "rollout"), device=device, sandbox=sandbox, warn=warn, pace=pace,
    )  # fmt: skip
    by_bucket: dict[Bucket, list[list[Outcome]]] = defaultdict(list)
    for task, outcomes in attempts:
        by_bucket[task.bucket].append(outcomes)
    records: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for bucket in buckets:
        records[bucket.family].append(level_record(bucket.level, by_bucket[bucket]))
    ladders = ladders_of(config.controller, config.families, buckets)
    families = {name: family_record(levels, ladders[name].target) for name, levels in records.items()}
    found = room({bucket: judged_groups(by_bucket[bucket]) for bucket in buckets}, seed)
    return {
        "model": model, "curriculum": config.name, "seed": seed, "samples": samples, "tasks": tasks,
        "rollouts": sum(level["n"] for levels in records.values() for level in levels),
        "masked": sum(level["masked"] for levels in records.values() for level in levels),
        "families": families,
        "room": None if found is None else asdict(found),
    }  # fmt: skip


def level_record(level: int, attempts: Sequence[Sequence[Outcome]]) -> dict[str, Any]:
    """Figures of one level from the samples of its tasks. Rollouts that the sandbox lost are only counted.

    Numbers that do not exist (a share of nothing, the signal of single rollouts) are None.
    """
    groups = judged_groups(attempts)
    n = sum(size for _, size in groups)
    return {
        "level": level,
        "pass_rate": sum(k for k, _ in groups) / n if n else None,
        "ci": list(pass_rate_interval(groups)),
        "signal": mean_signal(groups),
        "bits": mean_entropy(groups),
        "dead": sum(dead(k, size) for k, size in groups) / len(groups) if groups else None,
        "tasks": len(groups),
        "n": n,
        "masked": sum(map(len, attempts)) - n,
    }


def family_record(levels: Sequence[dict[str, Any]], target: float) -> dict[str, Any]:
    """A family's curve and where it crosses its target.

    `state` is `crosses`, `above` (even the hardest level passes at the target or more often), `below` (not even the
    easiest does), or `unknown` (nothing was judged). `crossing` is the level, between two levels as a fraction. `misordered` are the levels that
    clearly pass more often than an easier one: their intervals lie apart.
    """
    known = [level for level in levels if level["pass_rate"] is not None]
    rates = non_increasing([(level["pass_rate"], level["n"]) for level in known])
    crossing = None
    if not rates:
        state = "unknown"
    elif rates[0] < target:
        state = "below"
    elif rates[-1] >= target:
        state = "above"
    else:
        state, crossing = "crosses", _crossing([level["level"] for level in known], rates, target)
    misordered = [
        level["level"] for i, level in enumerate(known) if any(easier["ci"][1] < level["ci"][0] for easier in known[:i])
    ]
    return {"target": target, "state": state, "crossing": crossing, "misordered": misordered, "levels": list(levels)}


def non_increasing(points: Sequence[tuple[float, float]]) -> list[float]:
    """The non-increasing sequence nearest to the values of (value, weight), by weighted squares.

    Levels are meant to rise in difficulty, so this is what the rates say when noise is all that breaks their order;
    and it crosses any target once. Source: pool adjacent violators, Ayer et al. (1955).
    """
    blocks: list[tuple[float, float, int]] = []
    for value, weight in points:
        size = 1
        while blocks and blocks[-1][0] < value:
            before, heavy, many = blocks.pop()
            value = (before * heavy + value * weight) / (heavy + weight)
            weight, size = heavy + weight, many + size
        blocks.append((value, weight, size))
    return [value for value, _, size in blocks for _ in range(size)]


def _crossing(levels: Sequence[int], rates: Sequence[float], target: float) -> float:
    """Level at which the straight lines between the rates fall below the target; there is one."""
    curve = list(zip(levels, rates, strict=True))
    (low, above), (high, below) = next((a, b) for a, b in pairwise(curve) if b[1] < target)
    return low + (high - low) * (above - target) / (above - below)
