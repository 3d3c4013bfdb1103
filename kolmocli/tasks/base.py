"""The task: one thing to solve, and where it came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from kolmocli.curriculum.base import Bucket
from kolmocli.language.program import Program

Split = Literal["train", "eval"]
"""Training and evaluation draw from disjoint seeds and disjoint program skeletons."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked in words and answered in words: no program is written, and nothing is run.

    `system` explains this kind of question and `text` asks it, for a model that can read. `short` is the same for one
    that learns from nothing, character by character. `worked` is the right answer, step by step.
    """

    system: str
    text: str
    short: str
    worked: str


@dataclass(frozen=True, slots=True)
class Task:
    """One sequence to reproduce, or a question. `index` with the bucket and the split makes the same task again."""

    bucket: Bucket
    index: int
    target: tuple[int, ...]
    """The sequence; of a question the number that answers it, alone."""
    reference: Program | None = None
    hint: str = ""
    """The beginning of the reference, which the policy need not write."""
    modality: str | None = None
    """What the sequence was cut from, where a file says."""
    question: Question | None = None

    @property
    def asked(self) -> tuple[int, ...] | Question:
        """What the policy is shown."""
        return self.question or self.target

    @property
    def solution(self) -> Program | str | None:
        """A right answer to learn from, where there is one."""
        return self.question.worked if self.question else self.reference


class TaskSource(Protocol):
    """Tasks by bucket, deterministic and random-access: `task(bucket, i)` is always the same task."""

    split: Split

    def buckets(self) -> list[Bucket]:
        """All buckets, families in file order, levels ascending."""
        ...

    def task(self, bucket: Bucket, index: int) -> Task: ...

    def size(self, bucket: Bucket) -> int | None:
        """How many different tasks this bucket has; None when they do not run out."""
        ...

    def taught(self, bucket: Bucket) -> bool:
        """Whether tasks of this bucket may carry reference programs: what a supervised warm start needs."""
        ...

    def admits(self, program: Program, sequence: tuple[int, ...]) -> bool:
        """Whether this program and its sequence may be learnt from: False when they belong to the other split."""
        ...
