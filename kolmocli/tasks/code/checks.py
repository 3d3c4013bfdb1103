"""Tests that the host knows as calls and what they have to return: one job per program, compared here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from kolmocli.sandbox.base import Call, Job, Raised, Verdict
from kolmocli.tasks.base import Attempt
from kolmocli.tasks.code.judge import Submission
from kolmocli.tasks.outcome import Outcome

Relation = Literal["equal", "true", "false", "is"]
"""What a result has to be: equal to what is expected, true, false, or the very None, True or False that is expected."""


@dataclass(frozen=True, slots=True)
class Check:
    """One call, and what its result has to be.

    Results are plain values of exact built-in types, so that `==` is Python's own: True equals 1, and nan not itself. What
    was raised, or is not plain, holds nothing.
    """

    call: Call
    expected: Any = None
    relation: Relation = "equal"

    def holds(self, result: Any) -> bool:
        if isinstance(result, Raised):
            return False
        if self.relation == "equal":
            return bool(result == self.expected)
        if self.relation == "is":
            return result is self.expected
        return bool(result) is (self.relation == "true")


@dataclass(frozen=True, slots=True)
class Checks:
    """Checks in the order in which the calls are made, in one process."""

    checks: tuple[Check, ...]

    def __post_init__(self) -> None:
        if not self.checks:
            raise ValueError("no checks")

    def attempt(self, submission: Submission) -> Attempt:
        return CheckedCalls(self.checks, submission)


@dataclass(frozen=True, slots=True)
class CheckedCalls:
    """A program and the calls that it is judged by."""

    checks: tuple[Check, ...]
    submission: Submission

    @property
    def job(self) -> Job | None:
        return self.submission.job(calls=[check.call for check in self.checks])

    def outcome(self, verdict: Verdict | None) -> Outcome:
        assert verdict is not None
        made = len(verdict.trace)
        held = [i < made and check.holds(verdict.trace[i]) for i, check in enumerate(self.checks)]
        return self.submission.outcome(verdict, held)
