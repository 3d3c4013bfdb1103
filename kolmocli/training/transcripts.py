"""Transcripts among the references of the warm start: a second way to answer, for where the first is beyond the policy.

The program that made a sequence is short, and often no policy of this size can find it. One that knows transcripts too
(`policy/transcript.py`) can still be right, and REINFORCE finds out which of the two pays for which sequence.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kolmocli.config import Config
from kolmocli.policy.policy import Policy
from kolmocli.policy.transcript import transcript
from kolmocli.tasks.base import Task, TaskSource
from kolmocli.tasks.sequences.task import SequenceTask, sequence_task


@dataclass(frozen=True, slots=True)
class Transcripts:
    """The transcripts of one run: what share of the references they are, and which may be taught."""

    share: float
    source: TaskSource
    tokens: Callable[[str], int]
    """Tokens of an answer."""
    max_lines: int
    max_new_tokens: int

    def among(self, tasks: Sequence[Task], rng: random.Random) -> list[Task]:
        """The tasks, a share of them with a transcript as reference where one may be taught."""
        if not self.share:
            return list(tasks)
        return [self._instead(task) if rng.random() < self.share else task for task in tasks]

    def _instead(self, task: Task) -> Task:
        if not isinstance(task, SequenceTask) or task.program is None:
            return task
        program = transcript(task.target)
        other = sequence_task(task.bucket, task.index, task.target, program, modality=task.modality)
        assert other.reference is not None
        fits = len(program) <= self.max_lines and self.tokens(other.reference) <= self.max_new_tokens
        return other if fits and self.source.admits(program, task.target) else task


def transcripts_of(config: Config, source: TaskSource, policy: Policy) -> Transcripts:
    """Those that the configuration asks for, as long as this policy may write."""
    training = config.training
    return Transcripts(
        config.warmup.transcripts, source, policy.answer_size, training.max_lines, training.max_new_tokens
    )
