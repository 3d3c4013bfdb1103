"""Tests that are inputs alone, as EvalPlus adds them: what a program returns is compared with what the reference returns.

The reference runs once, in the sandbox, the first time that a program is judged by it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kolmocli.sandbox.base import Call, Job, Raised, Status, Verdict
from kolmocli.tasks.base import Attempt
from kolmocli.tasks.code.asserts import Broken
from kolmocli.tasks.code.checks import Check, Checks, Relation
from kolmocli.tasks.code.judge import Submission
from kolmocli.tasks.outcome import Outcome

_log = logging.getLogger(__name__)


class Compared:
    """Calls, and a reference that says what they return. All tasks that share it share its plan."""

    def __init__(
        self, reference: str, calls: Sequence[Call], name: str = "", relation: Relation = "near", tolerance: float = 0.0
    ) -> None:
        """`reference` is a whole program; `name` is for messages. Raises ValueError without a call."""
        if not calls:
            raise ValueError("no inputs")
        self.reference, self.calls, self.name = reference, tuple(calls), name
        self.relation, self.tolerance = relation, tolerance
        self.plan: Checks | Broken | None = None

    def attempt(self, submission: Submission) -> Attempt:
        return Referred(self, submission) if self.plan is None else self.plan.attempt(submission)

    def learn(self, verdict: Verdict) -> None:
        """Make a plan of what the reference returned."""
        returned = verdict.trace
        wrong = next((i for i, each in enumerate(returned) if isinstance(each, Raised)), None)
        if verdict.status is not Status.OK or len(returned) != len(self.calls):
            self.plan = Broken(f"its reference ends with {verdict.status} {verdict.detail}".rstrip())
        elif wrong is not None:
            self.plan = Broken(f"its reference returns no plain value for input {wrong + 1}: {returned[wrong]}")
        else:
            root = self.relation == "root"  # several may be right: what is expected is the argument
            checks = [
                Check(call, call.arguments[0][0] if root else value, self.relation, self.tolerance)
                for call, value in zip(self.calls, returned, strict=True)
            ]
            self.plan = Checks(tuple(checks))
        if isinstance(self.plan, Broken):
            _log.warning("the tests of %s cannot be used: %s", self.name or "a task", self.plan.why)


@dataclass(frozen=True, slots=True)
class Referred:
    """A program before it is known what the reference returns."""

    tests: Compared
    submission: Submission

    @property
    def job(self) -> Job | None:
        reference = replace(self.submission, program=self.tests.reference)
        return None if self.tests.plan else reference.job(calls=self.tests.calls)

    def outcome(self, verdict: Verdict | None) -> Outcome | Attempt:
        if verdict is not None and verdict.status.is_fault:
            return self.submission.masked(verdict.status)
        if verdict is not None and self.tests.plan is None:
            self.tests.learn(verdict)
        assert self.tests.plan is not None
        return self.tests.plan.attempt(self.submission)
