"""Tests that are code, as HumanEval and MBPP have them: asserts of what the program's functions return.

The tests know what is expected, so they run in a process of their own, the tester's (`tester.py`), and never in the
program's. Where they can be read without being run, they are (`literals.py`). Else they run without a program, the first
time that one is judged by them, and become a plan:

- `Checks`, where all that they do is to compare results with values of their own. From then on a program takes one job,
  and the tester none.
- The calls that they begin with, where more is done with a result: `abs(f(2.0) - 1.4) < 0.1`, `f(f(3))`, a loop over what
  was returned. The program makes these calls, and the tester runs the tests for real with their results. Where
  the tests go on to calls that were not known before, another round follows.
- That they are broken: then nothing that is judged by them counts, neither as passed nor as failed.
"""

from __future__ import annotations

import ast
import inspect
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

from kolmocli.sandbox.base import Call, Job, Status, Verdict
from kolmocli.sandbox.wire import values
from kolmocli.tasks.base import Attempt
from kolmocli.tasks.code import apart, handles, keeping, lent, paths, printing, tester, tokens
from kolmocli.tasks.code.checks import Check, Checks
from kolmocli.tasks.code.judge import Broken, Planned, Second, Submission, Tests, returns_objects
from kolmocli.tasks.code.literals import read_checks
from kolmocli.tasks.code.objects import NONE, Objects, keeper, with_handles
from kolmocli.tasks.code.repeating import BELOW
from kolmocli.tasks.code.rewriting import is_silent, parse_tests, rewritten
from kolmocli.tasks.outcome import Outcome

Parts = tuple[tuple[int, tuple[Call, ...]], ...]
"""Calls of the program by each test, each turn of a loop, and between those, under the number of that part."""
MOST_ROUNDS = 100
"""Rounds of calls that depend on results."""
MOST_CHANGES = 8
"""Rounds after which calls seem to depend on the time."""


class Asserts(Planned):
    """Tests as code."""

    def __init__(
        self, code: str, functions: Sequence[str], opening: str = "", name: str = "", objects: Objects = NONE
    ) -> None:
        """`functions` of the program are called by the tests, in the scope of the definitions of `opening`. `name` is for
        messages, `objects` are what else of the program is used. Raises ValueError when the tests do not compile, or assert
        nothing."""
        self.code, self.functions, self.opening, self.name = code, tuple(functions), opening, name
        self.objects = objects
        checks = None if objects.kept else read_checks(parse_tests(code), functions)
        self.plan: Tests | None = checks and replace(checks, otherwise=self.with_objects)

    @cached_property
    def _tests(self) -> str:
        return rewritten(parse_tests(self.code))

    @cached_property
    def catches(self) -> bool:
        """Whether an exception of the program may be what an assert expects, though it does not look so: `except ValueError: found = None`."""
        return any(isinstance(node, ast.Try | ast.TryStar | ast.With) for node in ast.walk(ast.parse(self.code)))

    @cached_property
    def silent(self) -> bool:
        """Whether they may pass and reach no assert."""
        return is_silent(parse_tests(self.code))

    def attempt(self, submission: Submission) -> Attempt:
        below = submission.below + self.objects.imports + BELOW * self.objects.seeds + keeper() * self.objects.kept
        return super().attempt(replace(submission, below=below))

    def with_objects(self, submission: Submission) -> Attempt:
        """For a program that returns objects, though these tests do not look as if it would: generators, functions, linked lists."""
        self.keeping.again = True
        return self.keeping.attempt(submission)

    @cached_property
    def keeping(self) -> Asserts:
        """The same tests, which have handles for objects."""
        kept = replace(self.objects, kept=True)
        return Asserts(with_handles(self.code), self.functions, self.opening, self.name, kept)

    def job(self, parts: Parts = (), results: Sequence[Any] = (), now: float = 0.0) -> Job:
        """Run the tests at this time, with these results of the calls of all these parts."""
        request = {
            "opening": self.opening,
            "functions": [*self.functions, *self.objects.classes, *[tester.SEED] * self.objects.seeds],
            "classes": self.objects.classes,
            "errors": self.objects.errors,
            "tests": self._tests,
            "now": now,
            "known": [(number, [(call.function, call.code) for call in part]) for number, part in parts],
            "results": [json.loads(values.line(result, tester.MOST_ITEMS)) for result in results],
        }
        return Job(_harness(self.objects.kept), inputs=(json.dumps(request),))

    def planning(self, submission: Submission) -> Job:
        """The tests without a program."""
        return self.job()

    def planned(self, verdict: Verdict) -> Tests:
        report = Report.read(verdict)
        ended = f"they have to be run, which ends with {verdict.status} {verdict.detail}".rstrip()
        return Broken(ended) if report is None else report.plan(self)


def in_order(parts: Parts) -> tuple[Call, ...]:
    return tuple(call for _, part in parts for call in part)


@cache
def _harness(kept: bool) -> str:
    """The tester's text, and above it that of what it imports of the project; for tests that keep objects, with handles."""
    texts = [values, tokens, tester, *([apart, lent, handles, paths, printing, keeping] if kept else [])]
    lines = [line for text in texts for line in inspect.getsource(text).splitlines()]
    own = [line for line in lines if not line.startswith(("from __future__ ", "from kolmocli."))]
    return "\n".join([*own, "print()", f"print(main(input(){', Keeping' * kept}))", ""])


@dataclass(frozen=True, slots=True)
class Report:
    """The tester's report on one run of the tests."""

    parts: Parts
    asserts: tuple[Any, ...]
    """True, False, or what a call has to return: its number, the relation, and what is expected."""
    open: bool
    """The calls are not those that the program had made."""
    blocked: bool
    """It needed one, and could only guess."""
    error: str | None
    unfit: str | None

    @classmethod
    def read(cls, verdict: Verdict) -> Report | None:
        """None where the tester did not get to its report."""
        if type(verdict.value) is not str:
            return None
        found = json.loads(verdict.value.splitlines()[-1])
        parts = tuple(
            (number, tuple(Call(function, code) for function, code in part)) for number, part in found.pop("calls")
        )
        return cls(parts, tuple(found.pop("asserts")), **found)

    @property
    def calls(self) -> tuple[Call, ...]:
        return in_order(self.parts)

    def changes(self, parts: Parts) -> bool:
        """Whether calls are others than those that the program has made: they may depend on the time."""
        found = dict(self.parts)
        return any(
            each != new for number, calls in parts for each, new in zip(calls, found.get(number, ()), strict=False)
        )

    def plan(self, tests: Asserts) -> Tests:
        if self.unfit:
            return Broken(self.unfit) if tests.objects.kept else tests.keeping
        if not self.calls:
            return Broken(self.error or f"they never call {' or '.join((*tests.functions, *tests.objects.classes))}")
        if not self.asserts and not self.blocked and not self.error and not tests.catches:
            return Broken("no assert is reached")
        noted = [each for each in self.asserts if each is not True]
        once = [each[0] for each in noted if type(each) is list] == [*range(len(self.calls))]
        bare = not tests.objects.kept and not tests.catches
        if not bare or self.blocked or self.error or not once or len(noted) != len(self.calls):
            return Rounds(tests, self.parts)
        checks = [Check(self.calls[call], values.decode(value), relation) for call, relation, value in noted]
        return Checks(tuple(checks), tests.with_objects)


@dataclass(frozen=True, slots=True)
class Rounds:
    """A plan that begins with these calls."""

    tests: Asserts
    parts: Parts

    def attempt(self, submission: Submission) -> Attempt:
        return Calling(self.tests, submission, self.parts)


@dataclass(frozen=True, slots=True)
class Calling:
    """A program that makes the calls that are known."""

    tests: Asserts
    submission: Submission
    parts: Parts
    round: int = 1
    changes: int = 0
    """Rounds in which the tests made other calls than before."""
    now: float | None = None
    """Of the tests: this time, in all rounds from now on."""

    @property
    def job(self) -> Job | None:
        return self.submission.job(calls=in_order(self.parts))

    def outcome(self, verdict: Verdict | None) -> Outcome | Attempt:
        assert verdict is not None
        return Testing(self, verdict) if verdict.status is Status.OK else self.submission.outcome(verdict, ())


@dataclass(frozen=True, slots=True)
class Testing:
    """The tests with the results of these calls."""

    calling: Calling
    made: Verdict

    @property
    def job(self) -> Job | None:
        return self.calling.tests.job(self.calling.parts, self.made.trace, self.calling.now or time.time())

    def outcome(self, verdict: Verdict | None) -> Outcome | Attempt:
        assert verdict is not None
        calling, report = self.calling, Report.read(verdict)
        if verdict.status.is_fault:
            return calling.submission.masked(verdict.status)
        if report is not None and report.unfit:
            calling.tests.lacks(report.unfit)
            return calling.submission.masked(Status.INFRA)
        if report is None:  # the results sent them astray
            return calling.submission.outcome(replace(self.made, status=verdict.status), ())
        again = returns_objects(self.made) and not calling.tests.objects.kept
        if report.open and not again and calling.round < MOST_ROUNDS:
            changes = calling.changes + report.changes(calling.parts)
            now = calling.now or (time.time() if changes == MOST_CHANGES else None)
            return replace(calling, parts=report.parts, round=calling.round + 1, changes=changes, now=now)
        ended = (False,) * (report.error is not None or report.open)
        if not report.asserts and calling.tests.silent:
            ended = ended or (True,)
        found = calling.submission.outcome(self.made, [*[each is True for each in report.asserts], *ended])
        return Second(calling.tests.with_objects(calling.submission), found) if again else found
