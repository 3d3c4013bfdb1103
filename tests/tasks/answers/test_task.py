"""Answers in words: paid for strictly, read leniently."""

from __future__ import annotations

import pytest

from kolmocli.sandbox.base import Status
from kolmocli.tasks.answers.digits import sum_digits
from kolmocli.tasks.judging import SandboxJudge
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Binary

TASK = sum_digits([123, 45, 67])


@pytest.mark.parametrize(
    ("text", "passed", "status", "formatted", "value"),
    [
        (TASK.reference, True, Status.OK, True, (28,)),
        ("[ANSWER] 27", False, Status.OK, True, (27,)),
        ("[ANSWER] 28, I think", False, Status.SYNTAX, True, (28,)),
        ("the answer is 28", False, Status.SYNTAX, False, (28,)),
        ("", False, Status.SYNTAX, False, None),
    ],
)
def test_an_answer_is_paid_for_strictly_and_read_leniently(
    text: str, passed: bool, status: Status, formatted: bool, value: tuple[int, ...] | None
) -> None:
    (outcome,) = SandboxJudge(None, Terms(Binary()))([TASK], [text])
    assert (outcome.passed, outcome.status, outcome.formatted, outcome.value) == (passed, status, formatted, value)
    assert outcome.reward == (1.0 if passed else -1.0)
    assert outcome.text == text
    assert outcome.end == text.count("\n") + 1  # every line of it is the policy's
    assert outcome.bits is None
    assert outcome.lenient == (value == (28,))
