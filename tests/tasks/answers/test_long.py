"""Answers of a mebibyte, made to be slow to read: they take no longer than they are long."""

from __future__ import annotations

import pytest

from tests.linear import assert_it_ends

HOSTILE = {
    "blanks before a number": (" ", "= "),
    "blanks before words": (" ", "the answer is"),
    "tabs behind the tag": ("\t", "[ANSWER]"),
    "an answer and blanks": (" ", "[ANSWER] 1"),
    "what may follow a box": ("$.*", "\\boxed{1}"),
    "boxes": ("\\boxed{", ""),
    "closed boxes": ("\\boxed{1}$", ""),
    "boxes and blanks": ("\\boxed   ", ""),
    "articles": ("the ", ""),
    "answers": ("the final answer ", ""),
    "answers and colons": ("answer: ", ""),
    "hashes": ("#", ""),
    "digits": ("1", ""),
    "numbers": ("1 ", ""),
    "thousands": ("111,", "1,"),
    "thousands with blanks": ("111 ", "1 "),
    "fractions": ("1/", ""),
    "mixed numbers": ("1 22/", ""),
    "signs": ("+-", ""),
    "powers": ("*10^(", "1"),
    "units": (" per km", "1"),
    "braces": ("{", "\\boxed{"),
    "backslashes": ("\\", "\\boxed{"),
}


@pytest.mark.parametrize(
    "task", ["AnswerTask(prompt='?', answer='12')", "AnswerTask(prompt='?', answer='twelve')", "sum_digits([12])"]
)
def test_a_hostile_answer_takes_no_longer_than_it_is_long(task: str) -> None:
    """The rules that read an end of the text alone are quadratic in seconds."""
    before = (
        "from kolmocli.tasks.answers.digits import sum_digits\n"
        "from kolmocli.tasks.answers.task import AnswerTask\n"
        f"task = {task}\n"
    )
    read = "for size in (19_000, 2**20):\n    task.read(start + unit * (size // len(unit)) + '!')\n"
    assert_it_ends(before, read, HOSTILE, 60)
