"""The judges: what an engine has in place of a sandbox, and that answers in words need none."""

from __future__ import annotations

from typing import Any

import pytest
from kolmocli.tasks.answers.judge import AnswerJudge

from kolmocli.config import Config
from kolmocli.curriculum.base import Bucket
from kolmocli.errors import UsageError
from kolmocli.sandbox.base import Status
from kolmocli.tasks import judging
from kolmocli.tasks.answers.digits import sum_digits
from kolmocli.tasks.judging import open_judge
from kolmocli.tasks.reward import Binary
from kolmocli.tasks.sequences.judge import SandboxJudge
from kolmocli.tasks.sequences.task import sequence_task

ANSWER, QUESTION = sum_digits([123, 45, 67])
TASK = sequence_task(Bucket("sums", 1), 0, (ANSWER,), question=QUESTION)
QUESTIONS = Config.model_validate(
    {"families": {"sums": {"task": "sum_digits", "levels": [{}]}}, "reward": {"kind": "binary"}}
)
PROGRAMS = Config.model_validate({"families": {"any": {"levels": [{}]}}, "sandbox": {"workers": 1}})


@pytest.mark.parametrize(
    ("text", "passed", "status", "formatted", "value"),
    [
        (QUESTION.worked, True, Status.OK, True, (28,)),
        ("[ANSWER] 27", False, Status.OK, True, (27,)),
        ("[ANSWER] 28, I think", False, Status.SYNTAX, True, (28,)),
        ("the answer is 28", False, Status.SYNTAX, False, (28,)),
        ("", False, Status.SYNTAX, False, None),
    ],
)
def test_an_answer_is_paid_for_strictly_and_read_leniently(
    text: str, passed: bool, status: Status, formatted: bool, value: tuple[int, ...] | None
) -> None:
    (outcome,) = AnswerJudge(Binary())([TASK], [text])
    assert (outcome.passed, outcome.status, outcome.formatted, outcome.value) == (passed, status, formatted, value)
    assert outcome.reward == (1.0 if passed else -1.0)
    assert outcome.text == text
    assert outcome.end == text.count("\n") + 1  # every line of it is the policy's
    assert outcome.bits is None


def test_questions_are_judged_without_a_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a sandbox was opened")

    monkeypatch.setattr(judging, "open_sandbox", refuse)
    judge = open_judge(QUESTIONS, "auto", print)
    assert [o.passed for o in judge([TASK, TASK], [QUESTION.worked, "no"])] == [True, False]
    assert (judge.health().backend, judge.health().executed) == ("none", 0)
    judge.close()
    with pytest.raises(AssertionError, match="a sandbox was opened"):
        open_judge(PROGRAMS, "auto", print)


def test_a_sandbox_that_nothing_would_run_in_is_refused() -> None:
    with pytest.raises(UsageError, match="sandbox docker: answers in words are not run"):
        open_judge(QUESTIONS, "docker", print)


def test_programs_are_judged_in_the_sandbox_that_was_asked_for() -> None:
    judge = open_judge(PROGRAMS, "embedded", print)
    try:
        task = sequence_task(Bucket("any", 1), 0, (7, 7, 7))
        assert isinstance(judge, SandboxJudge)
        (outcome,) = judge([task], ["output = repeat_num(3, 7)"])
        assert outcome.passed
        assert judge.health().backend == "embedded"
        assert judge.health().executed == 2  # a winner runs twice
    finally:
        judge.close()
