"""Calls and what they have to return: compared on the host, one job per program, paid by what holds."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from kolmocli.sandbox import Sandbox, Status
from kolmocli.sandbox.base import Call, Job, Opaque, Raised, Verdict
from kolmocli.tasks.base import text_bits
from kolmocli.tasks.code.checks import Check, Checks
from kolmocli.tasks.code.judge import Credit, Submission
from kolmocli.tasks.code.shapes import calls
from kolmocli.tasks.code.task import CodeTask
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Outcome, Terms
from kolmocli.tasks.reward import Binary, ConstantMinusLength, Relative, RewardRule

AREA = Checks((Check(Call.of("area", 3, 4), 12), Check(Call.of("area", 0, b=4), 0), Check(Call.of("area", 2, 2), 4)))
TASK = CodeTask(prompt="area", tests=AREA, entry_point="area")
RIGHT = "def area(a, b):\n    return a * b"
CALL = Call.of("f")


@pytest.mark.parametrize(
    ("check", "result", "holds"),
    [
        (Check(CALL, 12), 12, True),
        (Check(CALL, 12), 12.0, True),
        (Check(CALL, 1), True, True),  # as Python has it
        (Check(CALL, [1, 2]), (1, 2), False),
        (Check(CALL, {1, 2}), {2, 1}, True),
        (Check(CALL, {"a": [1]}), {"a": [1]}, True),
        (Check(CALL, math.nan), math.nan, False),
        (Check(CALL, None), None, True),
        (Check(CALL, "ValueError"), Raised("ValueError"), False),
        (Check(CALL, Raised("ValueError")), Raised("ValueError"), False),
        (Check(CALL, relation="true"), [0], True),
        (Check(CALL, relation="true"), [], False),
        (Check(CALL, relation="true"), Opaque("generator"), False),
        (Check(CALL, relation="false"), "", True),
        (Check(CALL, relation="false"), 1, False),
        (Check(CALL, relation="false"), Raised("ValueError"), False),
        (Check(CALL, True, "is"), True, True),
        (Check(CALL, True, "is"), 1, False),
        (Check(CALL, None, "is"), None, True),
        (Check(CALL, None, "is"), False, False),
    ],
)
def test_what_holds(check: Check, result: Any, holds: bool) -> None:
    assert check.holds(result) is holds


def judged(box: Sandbox, task: CodeTask, text: str, rule: RewardRule | None = None) -> Outcome:
    return judge([task], [text], box, Terms(rule or Relative(0.25)))[0]


def test_a_right_program_is_paid(box: Sandbox) -> None:
    outcome = judged(box, TASK, RIGHT)
    assert (outcome.passed, outcome.status, outcome.reward) == (True, Status.OK, 1.0)
    assert (outcome.text, outcome.end, outcome.bits) == (RIGHT, 2, text_bits(RIGHT))
    assert (outcome.value, outcome.program, outcome.literal_bits) == ((12, 0, 4), None, None)


@pytest.mark.parametrize(
    ("text", "status", "share", "formatted"),
    [
        ("def area(a, b):\n    return 12", Status.OK, 1 / 3, True),
        ("def area(a, b):\n    return a + b", Status.OK, 1 / 3, True),
        ("def area(a, b):\n    return 12 // a * a", Status.RUNTIME, 1 / 3, True),
        ("def area(a, b):\n    pass", Status.OK, 0.0, True),
        ("def volume(a, b):\n    pass", Status.RUNTIME, 0.0, True),
        ("1 / 0", Status.RUNTIME, 0.0, True),
        ("def area(a, b):\n    return a *", Status.SYNTAX, 0.0, False),
        ("def area(a, b):\n    while not a: pass\n    return 12", Status.TLE_CPU, 1 / 3, True),
        ("", Status.RUNTIME, 0.0, True),
    ],
)
def test_a_wrong_program_earns_nothing_or_its_share(
    box: Sandbox, text: str, status: Status, share: float, formatted: bool
) -> None:
    outcome = judged(box, TASK, text)
    assert (outcome.passed, outcome.status, outcome.reward, outcome.bits) == (False, status, 0.0, None)
    assert outcome.formatted is formatted
    assert judged(box, replace(TASK, credit="share"), text).reward == pytest.approx(share)


@pytest.mark.parametrize(
    ("rule", "credit", "reward"),
    [
        (Binary(), "all", -1.0),
        (Binary(), "share", -1.0 + 2 / 3),
        (Relative(0.25, partial=0.3), "all", 0.1),
        (Relative(0.25, partial=0.3), "share", 1 / 3),
        (ConstantMinusLength(100.0, 0.1), "share", (100 - 0.1 * 8 * 7) / 3),
    ],
)
def test_a_share_is_one_of_what_the_rule_pays(rule: RewardRule, credit: Credit, reward: float) -> None:
    attempt = AREA.attempt(Submission("program", 1, rule, credit))
    outcome = attempt.outcome(Verdict(Status.OK, (12, 12, 12)))
    assert isinstance(outcome, Outcome)
    assert outcome.reward == pytest.approx(reward)


@pytest.mark.parametrize("status", [Status.INFRA, Status.CANCELLED])
def test_a_fault_of_the_sandbox_is_no_failure(status: Status) -> None:
    outcome = AREA.attempt(Submission("program", 1, Binary())).outcome(Verdict(status))
    assert isinstance(outcome, Outcome)
    assert (outcome.passed, outcome.reward, outcome.status) == (False, None, status)


@pytest.mark.parametrize(("status", "held"), [(Status.OK, ()), (Status.OK, (True, False)), (Status.TLE_CPU, (True,))])
def test_who_holds_no_test_or_not_all_or_does_not_end_well_has_not_passed(
    status: Status, held: tuple[bool, ...]
) -> None:
    outcome = Submission("program", 1, Binary()).outcome(Verdict(status), held)
    assert (outcome.passed, outcome.status, outcome.reward, outcome.bits) == (False, status, -1.0, None)


def test_what_is_expected_stays_on_the_host() -> None:
    secret = Checks((Check(Call.of("f", 1), "a secret"),))
    job = secret.attempt(Submission("def f(x): pass", 1, Binary(), group=7)).job
    assert job == Job("def f(x): pass", calls=(Call.of("f", 1),), group=7)
    assert "secret" not in repr(job)


def test_checks_need_one() -> None:
    with pytest.raises(ValueError, match="no checks"):
        Checks(())


def test_one_program_for_two_tasks_is_run_for_each(box: Sandbox) -> None:
    other = CodeTask(prompt="sum", tests=Checks((Check(Call.of("area", 3, 4), 7),)), entry_point="area")
    outcomes = judge([TASK, other, TASK], [RIGHT] * 3, box, Terms(Binary()))
    assert [outcome.passed for outcome in outcomes] == [True, False, True]
    assert [outcome.value for outcome in outcomes] == [(12, 0, 4), (12,), (12, 0, 4)]


def test_a_function_in_place_of_a_method_runs_in_any_sandbox(box: Sandbox) -> None:
    task = calls({"question": "Area.", "fn_name": "area", "inputs": [[3, 4]], "outputs": [12]})
    outcomes = judge([task] * 2, [RIGHT, RIGHT.replace("*", "+")], box, Terms(Binary()))
    assert [(outcome.passed, outcome.status) for outcome in outcomes] == [(True, Status.OK), (False, Status.OK)]
