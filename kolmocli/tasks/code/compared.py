"""Tests that are inputs alone, as EvalPlus adds them: what a program returns is compared with what the reference returns.

The reference runs once, in the sandbox, the first time that a program is judged by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kolmocli.sandbox.base import Call, Job, Raised, Status, Verdict
from kolmocli.tasks.code.checks import Check, Checks, Relation
from kolmocli.tasks.code.judge import Broken, Planned, Submission, Tests


class Compared(Planned):
    """Calls, and a reference that says what they return."""

    def __init__(
        self, reference: str, calls: Sequence[Call], name: str = "", relation: Relation = "near", tolerance: float = 0.0
    ) -> None:
        """`reference` is a whole program; `name` is for messages. Raises ValueError without a call."""
        if not calls:
            raise ValueError("no inputs")
        self.reference, self.calls, self.name = reference, tuple(calls), name
        self.relation, self.tolerance = relation, tolerance
        self.plan: Tests | None = None

    def planning(self, submission: Submission) -> Job:
        """The reference, as any program."""
        return replace(submission, program=self.reference).job(calls=self.calls)

    def planned(self, verdict: Verdict) -> Tests:
        returned = verdict.trace
        wrong = next((i for i, each in enumerate(returned) if isinstance(each, Raised)), None)
        if verdict.status is not Status.OK or len(returned) != len(self.calls):
            return Broken(f"its reference ends with {verdict.status} {verdict.detail}".rstrip())
        if wrong is not None:
            return Broken(f"its reference returns no plain value for input {wrong + 1}: {returned[wrong]}")
        root = self.relation == "root"  # several may be right: what is expected is the argument
        checks = [
            Check(call, call.arguments[0][0] if root else value, self.relation, self.tolerance)
            for call, value in zip(self.calls, returned, strict=True)
        ]
        return Checks(tuple(checks))
