"""Reading the number out of an answer, strictly and leniently."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kolmocli.tasks.answers.parsing import extract_answer, is_tagged, strict_answer


@pytest.mark.parametrize(
    ("text", "strict", "lenient", "tagged"),
    [
        ("[ANSWER] 28", 28, 28, True),
        ("1:1 2:3\n[ANSWER] 3\n", 3, 3, True),
        ("[ANSWER]28", 28, 28, True),
        ("[ANSWER] 28.", None, 28, True),
        ("[ANSWER] 28 is what I found", None, 28, True),
        ("[ANSWER] 5\n[ANSWER] 28", 28, 28, True),
        ("[ANSWER] 28\nThe answer is 30", None, 28, True),
        ("[ANSWER]\n28", None, 28, False),
        ("[answer] 28", None, 28, False),
        ("The answer is 28, as 3 + 25 = 29 shows", None, 29, False),
        ("So the answer is: 28", None, 28, False),
        ("1+2+3 = 6 and 6+22= 28, from [123, 45]", None, 28, False),
        ("from 123 and 45 I get 28", None, 28, False),
        ("-5", None, -5, False),
        ("[ANSWER] -5", -5, -5, True),
        ("[ANSWER] ٢٨", None, None, False),
        ("[ANSWER] twenty-eight", None, None, False),
        ("", None, None, False),
    ],
)
def test_the_chain(text: str, strict: int | None, lenient: int | None, tagged: bool) -> None:
    assert (strict_answer(text), extract_answer(text), is_tagged(text)) == (strict, lenient, tagged)


def test_a_number_without_end_is_no_answer() -> None:
    assert strict_answer("[ANSWER] " + "9" * 100_000) is None
    assert extract_answer("= " + "9" * 100_000) is None


PIECES = ["[ANSWER]", "the answer is", "=", ":", " ", "\n", "-", "28", "7", "x"]


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_what_is_strictly_an_answer_is_one_leniently(text: str) -> None:
    strict = strict_answer(text)
    assert strict is None or (extract_answer(text) == strict and is_tagged(text))
