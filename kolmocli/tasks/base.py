"""The task: one thing to solve, what a policy is shown of it, and what becomes of an answer to it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from kolmocli.curriculum.base import Bucket
from kolmocli.errors import UsageError
from kolmocli.language.program import Program
from kolmocli.sandbox.base import NATIVE, Job, Raised, Status, Verdict
from kolmocli.tasks.border import at_work, shown, truth
from kolmocli.tasks.figures import Metric, measured
from kolmocli.tasks.outcome import Outcome, Terms

Split = Literal["train", "eval"]
"""Training and evaluation draw from disjoint seeds and disjoint program skeletons."""
Language = Literal["dsl", "python", "cpp", "javascript", "text"]
"""The language of an answer: the small language, Python, C++ or JavaScript, or words, for which nothing is run."""

_NOWHERE = Bucket("", 1)
"""The bucket of a task that is in no family yet."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Prompt:
    """The question of a task. `system` explains this kind of task and `text` asks it, for a model that can read; `short`
    is the same for one that learns from nothing (None: `text`)."""

    text: str
    system: str = ""
    short: str | None = None

    @property
    def shortest(self) -> str:
        return self.text if self.short is None else self.short


class Attempt(Protocol):
    """A policy's answer to one task: the job to run, and the outcome of its verdict."""

    @property
    def job(self) -> Job | None:
        """None where there is nothing to run: an answer in words, or a program without a statement."""
        ...

    def outcome(self, verdict: Verdict | None) -> Outcome | Attempt:
        """The outcome, or the next stage: more to run, for what one verdict leaves open. `verdict` is None where there
        was no job."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One thing to solve. Its split, bucket and index make the same task again.

    A program passes when it ends normally and `check` is true of the value of its last statement; an answer in words
    passes when `check` is true of its text. `check` runs here and not in the sandbox, so no program can reach it; an exception counts as
    False. Families with judges of their own have subclasses of this one, whose `attempt` is their judge.
    """

    prompt: Prompt | str
    check: Callable[[Any], bool] | None = None
    metrics: Mapping[str, Metric] = field(default_factory=dict, hash=False, compare=False)
    """Figures by name, each made of what `check` sees. metrics.jsonl and evaluations have their means. A task with its own judge
    refuses them."""
    weights: Mapping[str, float] = field(default_factory=dict, hash=False, compare=False)
    """Share of each metric that is added to the reward; one without a weight is recorded and not paid."""
    reference: str | None = None
    """A right answer, which a supervised warm start imitates."""
    language: Language = "python"
    prefix: str = ""
    """The given beginning of the answer: part of the prompt, so the policy does not write it, and of the judged text."""
    task_id: str | None = None
    """The name of this task in a file of predictions."""
    bucket: Bucket = _NOWHERE
    index: int = 0

    @property
    def asked(self) -> Prompt:
        return Prompt(self.prompt) if isinstance(self.prompt, str) else self.prompt

    @property
    def content(self) -> str:
        """Identity of the question, which decides whether it is held out from training."""
        return self.asked.text

    @property
    def defines(self) -> tuple[str, ...] | None:
        """The names that a program has to define, any one of them; none for a script. None where its value counts."""
        return None

    @property
    def length(self) -> int:
        """The length of the question: tasks of similar length make batches with little padding."""
        return len(self.asked.shortest)

    def attempt(self, text: str, terms: Terms) -> Attempt:
        """The judge of an answer to this task. Raises UsageError when there is none."""
        if self.check is None:
            raise UsageError(f"{self.bucket}: a task needs `check`, or a judge of its own")
        return Checked(self, text, self.check, terms)


@dataclass(frozen=True, slots=True)
class Checked:
    """An answer to a task whose judge is a function of the value."""

    task: Task
    text: str
    check: Callable[[Any], bool]
    terms: Terms

    @property
    def job(self) -> Job | None:
        if self.task.language == "text":
            return None
        if self.task.language in NATIVE:
            raise UsageError(
                f"{self.task.bucket}: a program in {self.task.language} has no value to check; give it inputs and outputs"
            )
        return Job(self.text, self.task.language, plain=self.task.language == "python", group=1 + self.task.index)

    def outcome(self, verdict: Verdict | None) -> Outcome:
        end, rule = self.text.count("\n") + 1, self.terms.rule
        if verdict is None:
            holds = self._holds(self.text)
            reward = rule.success(0.0) if holds else rule.failure
            return self._measured(Outcome(self.text, end, holds, Status.OK, reward, True), self.text)
        if verdict.status.is_fault:
            return Outcome(self.text, end, False, verdict.status, None)
        value = None if isinstance(verdict.value, Raised) else verdict.value  # or `Opaque`, which is one
        if verdict.status is not Status.OK or value is None:
            formatted = verdict.status is not Status.SYNTAX
            return Outcome(self.text, end, False, verdict.status, rule.failure, formatted, value=value)
        if not self._holds(value):
            return self._measured(Outcome(self.text, end, False, Status.OK, rule.failure, True, value=value), value)
        bits = text_bits(self.text)
        passed = Outcome(self.text, end, True, Status.OK, rule.success(bits), True, bits=bits, value=value)
        return self._measured(passed, value)

    def _measured(self, outcome: Outcome, seen: Any) -> Outcome:
        task = self.task
        return measured(outcome, seen, task.metrics, task.weights, str(task.bucket))

    def _holds(self, value: Any) -> bool:
        try:
            with at_work(f"family {self.task.bucket}", "its check"):
                verdict = self.check(value)
        except Exception as error:  # it was handed what a stranger's program made
            _log.debug("%s: the check raised %r on %.80r", self.task.bucket, error, value)
            return False
        except SystemExit as error:
            raise UsageError(
                f"{self.task.bucket}: its check ended Python (exit {shown(error.code)}); let it return"
            ) from error
        return truth(verdict, str(self.task.bucket))


def text_bits(text: str) -> int:
    """The length of a program in Python: 8 bits for every byte in UTF-8."""
    return 8 * len(text.encode("utf-8", "surrogatepass"))


class TaskSource(Protocol):
    """Tasks by bucket, deterministic and random-access: `task(bucket, i)` is always the same task."""

    split: Split

    def buckets(self) -> list[Bucket]:
        """All buckets, families in file order, levels ascending."""
        ...

    def task(self, bucket: Bucket, index: int) -> Task: ...

    def size(self, bucket: Bucket) -> int | None:
        """Number of different tasks in this bucket; None when they do not run out."""
        ...

    def taught(self, bucket: Bucket) -> bool:
        """Whether tasks of this bucket may carry references: what a supervised warm start needs."""
        ...

    def admits(self, program: Program, sequence: tuple[int, ...]) -> bool:
        """Whether this program and its sequence may be learned from: False when they belong to the other split."""
        ...
