from __future__ import annotations

import pytest

from kolmocli.language.program import SIGNATURES
from kolmocli.policy.policy import Policy
from kolmocli.policy.prompts import explained_prompt, extract_program

PROGRAM = "sequence_1 = range_func_up(1, 3)\nsequence_2 = repeat_list(2, sequence_1)"


@pytest.mark.parametrize(
    "answer",
    [
        PROGRAM,
        f"```python\n{PROGRAM}\n```",
        f"\n```\n{PROGRAM}\n```\nThis repeats it.",
        f"```\n{PROGRAM}",
        f"It counts:\n\n```python\n{PROGRAM}\n```\nThat is all.",
        f"It counts:\n```\n{PROGRAM}\n```",
        f"It counts:\n```python\n{PROGRAM}",
        f"{PROGRAM}\n```\nmore",
        f"{PROGRAM}\n###\nmore",
        f"{PROGRAM}   ",
    ],
)
def test_the_program_is_found_in_an_answer(answer: str) -> None:
    assert extract_program(answer).strip("\n") == PROGRAM


@pytest.mark.parametrize("before", ["", "It counts up:\n"])
def test_a_line_of_the_program_is_the_same_line_of_the_answer(before: str) -> None:
    answer = f"{before}\n```python\n{PROGRAM}\n```"
    for number, line in enumerate(extract_program(answer).split("\n")):
        assert line in ("", answer.split("\n")[number])


def test_every_function_is_explained() -> None:
    prompt = explained_prompt((4, 5), None)
    assert all(f"{name}(" in prompt for name in SIGNATURES)
    assert "4, 5" in prompt


def test_a_chat_template_is_used_where_there_is_one(chat_policy: Policy) -> None:
    prompt = explained_prompt((4, 5), chat_policy.tokenizer)
    assert prompt.startswith("<s><user>Write the shortest program")
    assert prompt.endswith("4, 5<assistant>")
