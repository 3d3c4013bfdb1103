"""`reward.form: any`: an answer passes wherever a lenient reader finds it, and by default where it was asked for alone."""

from __future__ import annotations

import pytest

from kolmocli.config.file import read_curriculum
from kolmocli.engine.judging import open_judge
from kolmocli.errors import UsageError
from kolmocli.sandbox.base import Status
from kolmocli.tasks.answers.digits import sum_digits
from kolmocli.tasks.answers.task import AnswerTask
from kolmocli.tasks.base import Prompt, Task
from kolmocli.tasks.reward import Reward

NUMBER = sum_digits([54])
NINE = AnswerTask(prompt=Prompt("What is 5 plus 4?"), answer="9")
WORD = AnswerTask(prompt=Prompt("The capital of France?"), answer="Paris")
SUMS = {"sums": {"task": "sum_digits", "levels": [{}]}}


def judged(task: Task, text: str, form: str) -> tuple[bool, Status, float | None, bool]:
    """passed, status, reward, unread"""
    judge = open_judge(Reward.model_validate({"kind": "binary", "form": form}), 12, None, "auto", pytest.fail)
    (outcome,) = judge([task], [text])
    return outcome.passed, outcome.status, outcome.reward, outcome.unread


@pytest.mark.parametrize(
    ("task", "text", "asked", "found"),
    [
        (NUMBER, "5:5 4:9\n[ANSWER] 9", True, True),
        (NUMBER, "The digits 5 and 4 add up to 9.", False, True),
        (NUMBER, "5 + 4 = 9, so it is 9\n[ANSWER] 8", False, False),
        (NUMBER, "The digits 5 and 4 add up to 8.", False, False),
        (NINE, r"So it is $-\boxed{9}$.", False, False),
        (NINE, "So:\n- \\boxed{9}", True, True),
        (WORD, "The capital of France?\nParis", False, True),
        (WORD, "The capital of France?\nLyon", False, False),
    ],
)
def test_where_an_answer_may_stand(task: Task, text: str, asked: bool, found: bool) -> None:
    assert judged(task, text, "asked")[0] is asked
    passed, status, reward, _ = judged(task, text, "any")
    assert (passed, reward) == ((True, 1.0) if found else (False, -1.0))
    assert not passed or status is Status.OK


def test_only_what_holds_no_number_did_not_reach_the_check() -> None:
    assert judged(NUMBER, "It is 8.", "asked") == (False, Status.SYNTAX, -1.0, True)
    assert judged(NUMBER, "It is 8.", "any") == (False, Status.OK, -1.0, False)
    assert judged(NUMBER, "I cannot say.", "any") == (False, Status.SYNTAX, -1.0, True)


def test_it_is_of_answers_in_words() -> None:
    binary = {"kind": "binary", "form": "any"}
    assert read_curriculum({"families": SUMS, "reward": binary}).reward.form == "any"
    programs = {"numbers": {"task": "examples", "of": "numbers"}}
    with pytest.raises(
        UsageError, match=r"form is of answers in words; remove it \(no task of numbers is answered in words\)"
    ):
        read_curriculum({"families": programs, "reward": {"form": "any"}})
