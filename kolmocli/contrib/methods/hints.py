"""Hints: the beginning of the reference program is given, and less of it the more often a family passes.

Where a family passes too seldom at its lowest level no easier task is left to give it; a task that has been begun is
easier. The policy goes on from what is given: it is part of the prompt, so no gradient reaches it, and part of the
program, so it is run, judged and charged for. A hint ends before the last word of the line that makes the target: the
policy always has to write that.

A hint is measured in words (`sequence_1 = `, `range_func_up(`, `3, `, `6)`) and not in lines. By the line the tasks of a
family fell apart into those that were as good as done and those that were as hard as ever: at a mean pass rate of one
half three groups of four were dead.

The share that is given starts where the answer is nearly written and slides back to its beginning (R3, Xi et al.
2024, arXiv 2402.05808; QuestA, Li et al. 2025, arXiv 2507.13266); here the pass rate moves it, one share per family:
s ← clip(s + gain · (target − pass rate), 0, most).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kolmocli.config.controller import ladders_of
from kolmocli.contrib.settings import HintsSettings
from kolmocli.curriculum.base import Bucket, Ladder
from kolmocli.engine.base import Group
from kolmocli.language.interpreter import ExecutionError, execute
from kolmocli.monitor.records import ReinforceRecord
from kolmocli.tasks.base import Task
from kolmocli.tasks.sequences.task import SequenceTask
from kolmocli.training.methods.base import Draw, Method, MethodContext, register_method

_WORDS = re.compile(r"[^ =(,)\n]+[ =(,)\n]*")
"""A name or a number with what separates it from the next: the tokenizer of the presets cuts there too."""
_BEGUN = 0
"""The level of a task with a hint: below every ladder, so its passes say nothing of a level."""
_UNAIDED = 0.125
"""Share of the tasks at the lowest level without a hint. They show the controller when the family can do without."""


class Hints(Method):
    """The share of each family, in `shares`."""

    def __init__(
        self,
        settings: HintsSettings,
        ladders: Mapping[str, Ladder],
        max_lines: int,
        rng: Callable[[int], random.Random],
    ) -> None:
        """`rng(step)` gives the random numbers of a step."""
        self._most, self._gain = settings.most, settings.gain
        self._ladders, self._max_lines, self._rng = ladders, max_lines, rng
        self.shares = {family: min(settings.start, settings.most) for family in ladders}

    def tasks(self, step: int, count: int, draw: Draw) -> list[Task]:
        return self.give(draw(count), self._rng(step))

    def give(self, tasks: Sequence[Task], rng: random.Random) -> list[Task]:
        """The tasks, those at the lowest level of their family with as many words given as is its share.

        The number of words is rounded up or down by chance, so that its mean is the share.
        """
        return [self._begin(task, rng) if self._at_the_bottom(task.bucket) else task for task in tasks]

    def observe(self, groups: Sequence[Group]) -> None:
        """Move the shares by what passed in one step.

        A pass above the lowest level, where nothing is given, counts as one at it; a failure there says nothing.
        """
        for family, share in self.shares.items():
            passes = rollouts = 0
            for result in (g.result() for g in groups if g.task.bucket.family == family):
                passes += result.passes
                rollouts += result.rollouts if self._at_the_bottom(result.bucket) else result.passes
            if rollouts:
                moved = share + self._gain * (self._ladders[family].target - passes / rollouts)
                self.shares[family] = min(max(moved, 0.0), self._most)

    def metrics(self, record: ReinforceRecord, groups: Sequence[Group]) -> ReinforceRecord:
        buckets = {name: replace(b, hint=self.shares.get(name)) for name, b in (record.buckets or {}).items()}
        return replace(record, buckets=buckets)

    def state_dict(self) -> dict[str, Any]:
        return {"shares": dict(self.shares)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.shares = dict(state["shares"])

    def _at_the_bottom(self, bucket: Bucket) -> bool:
        ladder = self._ladders.get(bucket.family)
        return ladder is not None and bucket.level in (ladder.bottom, _BEGUN)

    def _begin(self, task: Task, rng: random.Random) -> Task:
        share = self.shares[task.bucket.family]
        unaided, rounding = rng.random() < _UNAIDED, rng.random()
        if not isinstance(task, SequenceTask) or task.program is None or unaided:
            return task
        words = _WORDS.findall("\n".join(_up_to_the_target(task, self._max_lines)))
        given = min(int(share * len(words) + rounding), len(words) - 1)
        if given < 1:
            return task
        return replace(task, prefix="".join(words[:given]), bucket=Bucket(task.bucket.family, _BEGUN))


@register_method("hints")
def hints(context: MethodContext, **settings: Any) -> Hints:
    config = context.config
    ladders = ladders_of(config.controller, config.families, context.source.buckets())
    return Hints(HintsSettings(**settings), ladders, config.training.max_lines, context.rng)


def _up_to_the_target(task: SequenceTask, max_lines: int) -> list[str]:
    """The lines of the reference up to the first whose value is the target; none when none of those allowed does."""
    assert task.program is not None
    try:
        values = execute(task.program)
    except ExecutionError:  # a file's program beyond the interpreter's bounds
        return []
    made = next((i for i, value in enumerate(values[:max_lines]) if tuple(value) == task.target), None)
    return [] if made is None else str(task.program).split("\n")[: made + 1]
