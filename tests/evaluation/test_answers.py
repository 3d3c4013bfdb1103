"""Finding the program in what a model answered."""

from __future__ import annotations

import pytest

from kolmocli.evaluation.answers import program_of, without_comments

BARE = "x = 3\noutput = [x] * 4\n"


@pytest.mark.parametrize(
    "answer",
    [
        BARE,
        f"{BARE}###",
        f"{BARE}### That is all.\noutput = 7",
        f"\n\n{BARE}<|end_of_text|>output = 0",
        f"{BARE}</s>",
        f"Here it is:\n```python\n{BARE}```\nIt repeats x.",
        f"Here it is:\n```\n{BARE}```",
        f"Sure.\n~~~py\n{BARE}~~~\n###",
        f"```python\n{BARE}",
        f"```python\n{BARE}###\n```",
        f"A first try:\n```python\noutput = [3]\n```\nBetter:\n```python\n{BARE}```",
        f"```python\n{BARE}```\nRun it with:\n```sh\npython it.py\n```",
        f"### Thought: all are equal\nso I assign to output a list\n### Program:\n{BARE}###",
        f"### Expected Output:\n{BARE}",
        BARE.replace("\n", "\r\n"),
    ],
)
def test_the_program_is_found(answer: str) -> None:
    assert program_of(answer) == BARE.rstrip()


def test_words_inside_a_program_do_not_cut_it() -> None:
    """The published way cuts at the last "python" and at the first "###", wherever they stand."""
    program = 'a = "python ### x"\noutput = list(map(ord, a))  # ### no end\n'
    assert program_of(f"{program}###") == program.rstrip()


@pytest.mark.parametrize("answer", ["", "\n", "###", "```\n```", "<|eot_id|>"])
def test_no_program_is_an_empty_one(answer: str) -> None:
    assert program_of(answer) == ""


def test_comments_of_the_published_generator_go() -> None:
    assert without_comments("sequence_1 = repeat_num(2, 9) # [9, 9]\noutput = sequence_1 # [9, 9]") == (
        "sequence_1 = repeat_num(2, 9)\noutput = sequence_1"
    )
