"""From an answer to the program that is judged: a body, a whole function, or all there is."""

from __future__ import annotations

import pytest

from kolmocli.tasks.code.prompt import closed, program_of_completion

PROMPT = 'from math import pi\n\n\ndef area(r):\n    """The area of a circle."""\n'
RIGHT = 3.141592653589793 * 4


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        (PROMPT, "    return pi * r * r\n"),
        (PROMPT, "\n\n    return pi * r * r"),
        (PROMPT, "return pi * r * r"),
        (PROMPT, "square = r * r\n    return pi * square"),
        (PROMPT, "    return half(r) * 2\n\n\ndef half(r):\n    return pi * r * r / 2"),
        (PROMPT, "def area(r):\n    return pi * r * r"),
        (PROMPT, "import math\n\ndef area(radius):\n    return math.pi * radius ** 2"),
        (PROMPT, "def half(r):\n    return pi * r * r / 2\n\ndef area(r):\n    return half(r) * 2"),
        (PROMPT, "area = lambda r: pi * r * r"),
        (PROMPT, PROMPT + "    return pi * r * r\n"),
        (PROMPT.rstrip("\n"), "    return pi * r * r"),
        (PROMPT + "    ", "return pi * r * r"),
        ("from math import pi\ndef area(r):\n", "    return pi * r * r"),
        ("from math import pi\ndef area(r):\n", "def area(r):\n    return pi * r * r"),
        ("", "def area(r):\n    return 3.141592653589793 * r * r"),
    ],
)
def test_an_answer_goes_on_from_its_prompt_or_replaces_it(prompt: str, answer: str) -> None:
    space: dict[str, object] = {}
    exec(program_of_completion(prompt, "area", answer), space)
    area = space["area"]
    assert callable(area) and area(2) == pytest.approx(RIGHT)


def test_a_call_of_the_function_is_no_definition() -> None:
    answer = "    return 1\n\n\nprint(area(2))\narea(3) == 1\n"
    assert program_of_completion(PROMPT, "area", answer) == PROMPT + answer


def test_without_a_prompt_the_answer_is_the_program() -> None:
    assert program_of_completion("", None, "\nprint(1)\n") == "\nprint(1)\n"


def test_an_empty_answer_leaves_a_function_that_does_nothing() -> None:
    space: dict[str, object] = {}
    exec(program_of_completion(PROMPT, "area", ""), space)
    area = space["area"]
    assert callable(area) and area(2) is None


def test_a_prompt_that_is_no_beginning() -> None:
    with pytest.raises(ValueError, match="no beginning of a program"):
        closed("def area(r:\n")
