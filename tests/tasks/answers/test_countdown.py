"""A sum of given numbers, however its signs are written."""

from __future__ import annotations

import pytest

from kolmocli.tasks.answers.countdown import countdown

TASK = countdown({"target": 24, "nums": [3, 5, 9, 3]})


@pytest.mark.parametrize(
    ("given", "passes"),
    [
        ("(9 - 3) * (5 - 3) + 12", False),
        ("3 * (9 - 5) * 3", False),
        ("(3 + 5) * (9 / 3)", True),
        ("(3+5)×(9÷3) = 24", True),
        (r"(3+5) \cdot (9 \div 3)", True),
        (r"\left(3+5\right) \times \frac{9}{3}", True),
        ("**(3+5)*9/3**", True),
        ("`(3+5)*9/3`", True),
        ("9/3*(5+3).", True),
        ("(9−5)*(3+3)", True),
        ("(3+5)*9/3 = 25", False),
        ("(3+5)*(3)(9/9)", False),
        ("(3+5)*3", False),
        ("(3+5)*9/3*1", False),
        ("(3+5)9/3", False),
        (r"\frac{3}{5} + 9 + 3", False),
        ("(3+5)*9/(3-3)", False),
        ("24", False),
        ("(" * 150 + "3", False),
    ],
)
def test_what_makes_the_target(given: str, passes: bool) -> None:
    for text in (f"[ANSWER] {given}", f"\\boxed{{{given}}}"):
        assert TASK.read(text).strict is passes
