"""Hindsight relabelling: a program that ran and missed is the right answer to what it really makes.

Source: Andrychowicz et al. 2017 (arXiv 1707.01495); for programs, Butt et al. 2024 (CodeIt, arXiv 2402.04858).
It turns failures into supervised answers, which carry -log2 p bits each where the failure carried next to none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kolmocli.engine.base import Group
from kolmocli.learning.batches import Weighted
from kolmocli.policy.rollout import Rollout
from kolmocli.tasks.base import Task, TaskSource
from kolmocli.tasks.sequences.task import sequence_task
from kolmocli.training.methods.base import Method

LONGEST = 256
"""Longer values are left out: a prompt of such a length would crowd out the rest of the batch."""


class Hindsight(Method):
    def __init__(self, weight: float, source: TaskSource, answers: Callable[[Sequence[Task]], list[Rollout]]) -> None:
        """`answers` makes supervised answers of the reference programs of tasks."""
        self._weight, self._source, self._answers = weight, source, answers

    def lessons(self, step: int, groups: Sequence[Group]) -> list[Weighted]:
        found = self._answers(relabel(groups, self._source))
        return [Weighted(answer, [self._weight] * len(answer.tokens)) for answer in found]


def relabel(groups: Sequence[Group], tasks: TaskSource) -> list[Task]:
    """One task per distinct (program, value) of these groups that may be learned from; held-out ones may not."""
    found: dict[tuple[object, tuple[int, ...]], Task] = {}
    for group in groups:
        for outcome in group.outcomes:
            program, value = outcome.program, outcome.value
            if program is None or not value or len(value) > LONGEST or (program, value) in found:
                continue
            if tasks.admits(program, value):
                found[program, value] = sequence_task(group.task.bucket, group.task.index, value, program)
    return list(found.values())
