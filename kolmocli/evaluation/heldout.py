"""Held-out tasks: which they are, and what a policy makes of them."""

from __future__ import annotations

from collections.abc import Sequence

from kolmocli.engine.base import Engine, Request
from kolmocli.tasks.base import Task, TaskSource
from kolmocli.tasks.outcome import Outcome

_CHUNK = 64
"""Tasks that are sampled together."""


def held_out_tasks(source: TaskSource, count: int) -> list[Task]:
    """`count` tasks (rounded up to whole rounds), spread evenly over all buckets; always the same ones.

    A bucket that has fewer gives what it has: no task of a file is counted twice.
    """
    buckets = source.buckets()
    sizes = {bucket: source.size(bucket) for bucket in buckets}
    rounds = -(-count // len(buckets))
    return [
        source.task(bucket, index)
        for index in range(rounds)
        for bucket in buckets
        if (size := sizes[bucket]) is None or index < size
    ]


def attempt(
    engine: Engine,
    tasks: Sequence[Task],
    *,
    samples: int = 1,
    seed: int | None = None,
) -> list[tuple[Task, list[Outcome]]]:
    """Every task with the outcomes of its samples; greedy when `seed` is None.

    Tasks of like length go together, so the answer to one does not depend on the others but for rounding.
    """
    order = sorted(range(len(tasks)), key=lambda i: tasks[i].length)
    found: dict[int, list[Outcome]] = {}
    with engine.pace.counting(len(tasks) * samples, "rollouts"):
        for start in range(0, len(order), _CHUNK):
            chunk = order[start : start + _CHUNK]
            chunk_seed = None if seed is None else seed + start
            collected = engine.sample(Request([tasks[i] for i in chunk], samples, chunk_seed))
            for i, group in zip(chunk, collected.groups, strict=True):
                found[i] = list(group.outcomes)
    return [(task, found[i]) for i, task in enumerate(tasks)]
