"""The reward of a program that was judged by tests, and tests that have to run once before they can judge.

How it is tested is the tests' to say (`checks.py`, `tester`, `scripts.py`). They have one thing in common: nothing that
is expected ever enters the process in which the program runs. It gets arguments or input, its plain results come out,
and they are compared elsewhere, by their exact built-in types. So there is nothing in there to read, patch or forge: a
program can lie about what it returned, and that is what returning another value is.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from kolmocli.sandbox.base import Call, Job, Opaque, Raised, Status, Verdict
from kolmocli.tasks.base import Attempt, text_bits
from kolmocli.tasks.code.languages import Written
from kolmocli.tasks.code.limits import USUAL, Allowance
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.reward import RewardRule

_log = logging.getLogger(__name__)
Credit = Literal["all", "share"]
"""Reward of a program that misses: nothing ("all" or nothing), or the share of the tests that it passes."""


class Tests(Protocol):
    """Tests of a task's programs, whatever their form. Tasks share them, and any thread may use them."""

    def attempt(self, submission: Submission) -> Attempt:
        """The first stage of judging this program."""
        ...


@dataclass(frozen=True, slots=True)
class Submission:
    """A program that was written for a task, and what is paid for it."""

    program: str
    lines: int
    """Lines that the policy wrote: `program` may have more around it."""
    rule: RewardRule
    credit: Credit = "all"
    group: int = 0
    allowance: Allowance = USUAL
    below: str = ""
    """What the tests need under the program; it is no part of what is paid."""

    def job(self, calls: Sequence[Call] = (), inputs: Sequence[str] = (), language: Written = "python") -> Job:
        allowed = self.allowance
        return Job(
            self.program + self.below, language, calls=tuple(calls), inputs=tuple(inputs), group=self.group, cpu_ms=allowed.cpu_ms,
            wall_ms=allowed.wall_ms, memory_mb=allowed.memory_mb,
        )  # fmt: skip

    def masked(self, status: Status) -> Outcome:
        """The outcome of a program that could not be judged, which is no failure of its own."""
        return Outcome(self.program, self.lines, False, status, None)

    def outcome(self, verdict: Verdict, held: Sequence[bool]) -> Outcome:
        """The outcome of a verdict and of the tests that held; those that were never reached count as missed."""
        if verdict.status.is_fault:
            return self.masked(verdict.status)
        passed = verdict.status is Status.OK and bool(held) and all(held)
        bits = text_bits(self.program)
        return Outcome(
            self.program, self.lines, passed, verdict.status if passed else _status(verdict),
            self.rule.success(bits) if passed else self._consolation(bits, sum(held) / max(1, len(held))),
            verdict.status is not Status.SYNTAX, bits=bits if passed else None,
            value=verdict.trace if verdict.status is Status.OK else None,
        )  # fmt: skip

    def _consolation(self, bits: int, share: float) -> float:
        """A process reward as any rule may have one, unless the task gives part of the success itself."""
        worth = self.rule.success(bits) - self.rule.failure if self.credit == "share" else self.rule.partial
        return self.rule.failure + share * worth


def _status(verdict: Verdict) -> Status:
    """An exception in one call ends nothing else, and is still how the program failed."""
    raised = verdict.status is Status.OK and any(is_exception(result) for result in verdict.trace)
    return Status.RUNTIME if raised else verdict.status


def is_exception(result: Any) -> bool:
    return isinstance(result, Raised) and not isinstance(result, Opaque)


def returns_objects(verdict: Verdict) -> bool:
    """Whether a call returned what is no plain value: a generator, a function, an object of a class."""
    return verdict.status is Status.OK and any(isinstance(result, Opaque) for result in verdict.trace)


@dataclass(frozen=True, slots=True)
class Second:
    """Judges a program once more, in another way. The first outcome stands where this sandbox cannot do that: the embedded one has no
    classes."""

    attempt: Attempt
    first: Outcome

    @property
    def job(self) -> Job | None:
        return self.attempt.job

    def outcome(self, verdict: Verdict | None) -> Outcome | Attempt:
        found = self.attempt.outcome(verdict)
        if not isinstance(found, Outcome):
            return Second(found, self.first)
        faulty = verdict is not None and verdict.status.is_fault
        return self.first if not faulty and (found.reward is None or found.status is Status.DENIED) else found


class Planned(ABC):
    """Tests that have to run once, in the sandbox, before it is known how programs are judged by them. All tasks that share the
    tests share this plan."""

    name: str
    """For messages."""
    plan: Tests | None
    again = False
    """They judge a program once more (`Second`): where they cannot be used, its first outcome stands."""

    unfit: str | None = None
    """What they asked for with a program's results, and that cannot be had."""

    @property
    def unusable(self) -> str | None:
        """Why they cannot be used, as far as it is known."""
        if isinstance(self.plan, Planned):
            return self.plan.unusable
        return self.plan.why if isinstance(self.plan, Broken) else self.unfit

    def lacks(self, what: str) -> None:
        """A program cannot be judged by them."""
        if self.unfit is None and not self.again:
            _log.warning("the tests of %s cannot judge a program: %s", self.name or "a task", what)
        self.unfit = what

    @abstractmethod
    def planning(self, submission: Submission) -> Job:
        """What runs that once, in the place of this program."""

    @abstractmethod
    def planned(self, verdict: Verdict) -> Tests:
        """The plan that follows from it."""

    def attempt(self, submission: Submission) -> Attempt:
        return Planning(self, submission) if self.plan is None else self.plan.attempt(submission)

    def learn(self, verdict: Verdict) -> None:
        self.plan = self.planned(verdict)
        if isinstance(self.plan, Broken) and not self.again:
            _log.warning("the tests of %s cannot be used: %s", self.name or "a task", self.plan.why)


@dataclass(frozen=True, slots=True)
class Planning:
    """A program before it is known how it is judged."""

    tests: Planned
    submission: Submission

    @property
    def job(self) -> Job | None:
        return None if self.tests.plan else self.tests.planning(self.submission)

    def outcome(self, verdict: Verdict | None) -> Outcome | Attempt:
        if verdict is not None and verdict.status.is_fault:
            return self.submission.masked(verdict.status)
        if verdict is not None and self.tests.plan is None:
            self.tests.learn(verdict)
        assert self.tests.plan is not None
        return self.tests.plan.attempt(self.submission)


@dataclass(frozen=True, slots=True)
class Broken:
    """Tests that no program can pass."""

    why: str

    def attempt(self, submission: Submission) -> Attempt:
        return Unjudged(submission)


@dataclass(frozen=True, slots=True)
class Unjudged:
    submission: Submission

    @property
    def job(self) -> Job | None:
        return None

    def outcome(self, verdict: Verdict | None) -> Outcome:
        return self.submission.masked(Status.INFRA)
