"""Kinds of answers that a policy could farm, and kinds of right ones that are easily refused; each through a whole judged text."""

from __future__ import annotations

import pytest

from kolmocli.tasks.answers.formulas import installed
from kolmocli.tasks.answers.shapes import question

WRONG = {
    "a relation": [("5", "x > 5"), ("5", "x \\ge 5"), ("5", "x \\ne 5")],
    "an equation that ends in the number": [("0", "x^2 - 4 = 0"), ("0", "f(x) - 3 = 0")],
    "several where one is asked for": [
        ("5", "3, 5"),
        ("5", "3 \\text{ or } 5"),
        ("2", "x = 2, x = -2"),
        ("3", "\\{1, 3\\}"),
    ],
    "a time": [("12", "12:00"), ("30", "12:30")],
    "another variable": [("r", "R"), ("2\\pi r", "2\\pi R"), ("x+1", "y+1")],
    "a word that changes the number": [("5", "5 dozen"), ("3", "3 million"), ("8", "8 squared"), ("7", "7 factorial")],
    "a degree, a share": [("0.5", "0.5 %")],
    "a doubt": [("5", "not 5"), ("5", "5?"), ("5", "maybe 5")],
    "near it": [("1/3", "0.33"), ("\\pi", "3.14"), ("2", "2.0001"), ("\\frac{1}{3}", "0.3333")],
    "another order": [("(1, 2)", "(2, 1)"), ("[1, 2)", "(1, 2]"), ("[0, 1]", "(0, 1)")],
    "another sign": [("-3", "3"), ("x-1", "1-x")],
    "a calculation for its value": [("12", "3 \\cdot 4"), ("4", "2+2")],
}
RIGHT = {
    "a product": [("x^2-1", "(x-1)(x+1)"), ("x^2+2x+1", "(x+1)^2")],
    "a root": [("\\frac{\\sqrt{2}}{2}", "\\frac{1}{\\sqrt{2}}"), ("2\\sqrt{3}", "\\sqrt{12}")],
    "a number otherwise": [
        ("1/2", "0.5"),
        ("0.5", "\\frac{1}{2}"),
        ("1000", "1,000"),
        ("2.5", "2\\frac{1}{2}"),
        ("7", "7.0"),
    ],
    "a set in another order": [("1, 2, 3", "3, 1, 2"), ("\\{1, 2\\}", "\\{2, 1\\}"), ("2 \\text{ and } 3", "3, 2")],
    "an interval": [("[2, \\infty)", "x \\ge 2"), ("(-\\infty, 3)", "x < 3"), ("(1, 3)", "1 < x < 3")],
    "a name before it": [("5", "x = 5"), ("x = 5", "5"), ("5", "\\text{The answer is } 5")],
    "a style": [("5", "\\boldsymbol{5}"), ("5", "\\mathbf{5}"), ("5", "\\color{red}{5}"), ("5", "\\textbf{5}")],
    "money": [("5", "\\$5"), ("5", "\\$5.00"), ("1000.99", "1,000.99€")],
    "a choice with its text": [("B", "\\text{(B)}"), ("B", "\\textbf{(B)}\\ 7")],
    "a matrix": [("\\begin{pmatrix}1 & 2\\end{pmatrix}", "\\begin{pmatrix} 1 & 2 \\end{pmatrix}")],
}
ENDS = ["", "<|im_end|>", "</s>", "<|eot_id|>", ".", "$", " $\\text{cm}$"]


def passes(right: str, text: str) -> bool:
    return question({"question": "?", "answer": right}).read(text).strict


@pytest.mark.skipif(not installed(), reason="math-verify is not installed")
@pytest.mark.parametrize("kind", RIGHT)
def test_right_answers_of_each_kind_pass(kind: str) -> None:
    refused = [(right, given) for right, given in RIGHT[kind] if not passes(right, f"So it is\n\\boxed{{{given}}}")]
    assert not refused


@pytest.mark.parametrize("kind", WRONG)
def test_no_wrong_answer_of_any_kind_passes(kind: str) -> None:
    passed = [(right, given) for right, given in WRONG[kind] if passes(right, f"So it is\n\\boxed{{{given}}}")]
    assert not passed


def test_every_answer_is_its_own_and_no_other_of_its_kind_is() -> None:
    answers = ["5", "-5", "5/7", "x+5", "(5, 7)", "[5, 7)", "\\{5, 7\\}", "\\sqrt{5}", "5\\pi", "north", "B"]
    found = [(a, b) for a in answers for b in answers if passes(a, f"\\boxed{{{b}}}") != (a == b)]
    assert not found


@pytest.mark.parametrize("end", ENDS)
def test_what_stands_behind_the_box_is_no_part_of_it(end: str) -> None:
    opened = "$" if end == "$" else ""
    assert passes("5", f"So it is {opened}\\boxed{{5}}{end}")
    assert not passes("5", f"So it is {opened}\\boxed{{6}}{end}")


@pytest.mark.parametrize(
    "text", ["<think>\\boxed{5}", "<think>It may be \\boxed{5}, but", "\\boxed{5} or \\boxed{6}", "\\boxed{5} no, 6"]
)
def test_a_thought_that_never_ends_and_a_second_answer_are_no_answer(text: str) -> None:
    assert not passes("5", text)
