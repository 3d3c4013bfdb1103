"""Questions from the lines of a file: where the right answer is, and what is taught."""

from __future__ import annotations

from typing import Any

import pytest

from kolmocli.sandbox.base import Status
from kolmocli.tasks.answers.shapes import question
from kolmocli.tasks.judging import SandboxJudge
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Binary

WORKED = "He has 3 + 4 = <<3+4=7>>7 crates of 144.\nThat is 7 * 144 = <<7*144=1008>>1008.\n#### 1,008"


def test_the_answer_of_gsm8k_stands_behind_the_hashes_and_the_working_before_them() -> None:
    task = question({"question": " How many? ", "answer": WORKED})
    assert task.answer == "1,008"
    assert task.asked.text == task.asked.short == "How many?"
    assert '"[ANSWER] "' in task.asked.system
    assert task.reference == "He has 3 + 4 = 7 crates of 144.\nThat is 7 * 144 = 1008.\n[ANSWER] 1,008"
    assert task.read(task.reference).strict


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("Paris", "Paris"),
        (7, "7"),
        (0.5, "0.5"),
        (r"so it is \boxed{\frac{1}{2}}.", r"\frac{1}{2}"),
        ("<answer> 2 m </answer>\n", "2 m"),
        (r"<answer>\boxed{2}</answer>", "2"),
    ],
)
def test_other_answers_are_what_they_are(answer: Any, right: str) -> None:
    task = question({"prompt": "?", "answer": answer})
    assert (task.answer, task.reference) == (right, f"[ANSWER] {right}")


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"answer": "7"}, "`question` must be text that is not empty"),
        ({"question": " ", "answer": "7"}, "`question` must be text that is not empty"),
        ({"question": "?"}, "`answer` must be text or a number"),
        ({"question": "?", "answer": True}, "`answer` must be text or a number"),
        ({"question": "?", "answer": float("nan")}, "`answer` must be text or a number"),
        ({"question": "?", "answer": [["7"]]}, "`answer` must be text or a number"),
        ({"question": "?", "answer": "why #### "}, "`answer` is empty"),
    ],
)
def test_what_is_no_question(record: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        question(record)


@pytest.mark.parametrize(
    ("text", "placed", "strict", "lenient", "formatted"),
    [
        ("[ANSWER] 1008", True, True, True, True),
        ("7 * 144\n#### 1,008", True, True, True, True),
        (r"so it is $\boxed{1008}$.", True, True, True, True),
        ("[ANSWER] 1008 crates", True, True, True, True),
        ("[ANSWER] $\\boxed{1008}$", True, True, True, True),
        ("#### 7\n\\boxed{1008}", True, True, True, True),
        ("[ANSWER] 1007", True, False, False, True),
        ("[ANSWER] 1008\nas 7 * 144 shows", False, False, True, True),
        (r"\boxed{1008} is what I get from 7 and 144", False, False, True, True),
        ("The answer is 1008, as 7 * 144 shows", False, False, True, False),
        ("Final answer: 1,008", False, False, True, False),
        ("7 crates of 144 are 1008", False, False, True, False),
        ("1008 is 7 times 144", False, False, False, False),
        ("", False, False, False, False),
    ],
)
def test_an_answer_is_paid_where_it_was_asked_for_and_read_anywhere(
    text: str, placed: bool, strict: bool, lenient: bool, formatted: bool
) -> None:
    task = question({"question": "How many?", "answer": WORKED})
    (outcome,) = SandboxJudge(None, Terms(Binary()))([task], [text])
    assert (outcome.status, outcome.passed) == (Status.OK if placed else Status.SYNTAX, strict)
    assert (outcome.lenient, outcome.formatted) == (lenient, formatted)
    assert outcome.reward == (1.0 if strict else -1.0)


def test_words_are_read_from_the_last_line() -> None:
    task = question({"question": "Capital of France?", "answer": "Paris"})
    assert task.read("Let me think.\nParis").lenient
    assert not task.read("Paris is not Rome, so it is\nLyon").lenient
    assert task.read("[ANSWER] paris.").strict
