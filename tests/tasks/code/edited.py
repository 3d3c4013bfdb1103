"""Programs and one edit that makes each wrong, with tests that tell the two apart."""

from __future__ import annotations

from typing import NamedTuple

from kolmocli.sandbox import Sandbox
from kolmocli.tasks.code.task import CodeTask
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Relative


class Case(NamedTuple):
    name: str
    program: str
    edit: tuple[str, str]
    """What makes it wrong."""
    tests: str


def require_judged(task: CodeTask, case: Case, box: Sandbox) -> None:
    """The program passes, and the wrong one does not."""
    wrong = case.program.replace(*case.edit)
    assert wrong != case.program
    outcomes = judge([task] * 2, [case.program, wrong], box, Terms(Relative(0.25)))
    assert [(outcome.passed, outcome.reward) for outcome in outcomes] == [(True, 1.0), (False, 0.0)]
