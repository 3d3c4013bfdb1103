"""Countdown: a sum of given numbers that makes another, each number used once."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from kolmocli.tasks.answers.comparison import bare
from kolmocli.tasks.answers.parsing import TAG
from kolmocli.tasks.answers.places import lenient_place, strict_place
from kolmocli.tasks.answers.task import Reading, ReadTask
from kolmocli.tasks.answers.trees import Equal
from kolmocli.tasks.base import Prompt

_SYSTEM = f"""\
You solve puzzles. Think first, in as many lines as you need. Then write the line "{TAG} " with the sum alone, such as \
(3 + 5) * 2, and nothing after it."""
_ALLOWED = re.compile(r"[0-9+\-*/() ]{1,200}")
_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


@dataclass(frozen=True, slots=True, kw_only=True)
class CountdownTask(ReadTask):
    """It passes strictly where the sum ends the text, behind the tag or `####`, in a box, or in `<answer>`."""

    target: int
    numbers: tuple[int, ...]

    def read(self, text: str, equal: Equal | None = None) -> Reading:
        place = strict_place(text)
        found = place if place is not None else lenient_place(text, "")
        strict = place is not None and self.is_made_by(place)
        return Reading(
            place is not None, strict, strict or (found is not None and self.is_made_by(found)), place is not None
        )

    def is_made_by(self, text: str) -> bool:
        """Whether a sum uses each number once and makes the target, computed in fractions."""
        text = bare(text)
        text = (
            text.rpartition("=")[0]
            if text.count("=") == 1 and _is_target(text.rpartition("=")[2], self.target)
            else text
        )
        if _ALLOWED.fullmatch(text) is None or "**" in text or "//" in text:
            return False
        try:
            used = list[int]()
            return _value(ast.parse(text.strip(), mode="eval").body, used) == self.target and sorted(used) == sorted(
                self.numbers
            )
        except (SyntaxError, ValueError, ZeroDivisionError, RecursionError):
            return False


def countdown(record: Mapping[str, Any]) -> CountdownTask:
    """The task of a line with `target` and `nums`, and perhaps a `prompt`. Raises ValueError for what is none."""
    target, numbers = record.get("target"), record.get("nums")
    if type(target) is not int:
        raise ValueError("`target` must be a whole number")
    if not isinstance(numbers, list) or not numbers or any(type(number) is not int for number in numbers):
        raise ValueError("`nums` must be a list of whole numbers")
    asked = record.get("prompt")
    if not isinstance(asked, str) or not asked.strip():
        asked = f"Make {target} of the numbers {', '.join(map(str, numbers))}, each used once, with +, -, *, / and parentheses."
    return CountdownTask(prompt=Prompt(asked, _SYSTEM, asked), target=target, numbers=tuple(numbers))


def _is_target(text: str, target: int) -> bool:
    return text.strip() == str(target)


def _value(node: ast.expr, used: list[int]) -> Fraction:
    match node:
        case ast.Constant(value=int(number)):
            used.append(number)
            return Fraction(number)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return Fraction(_OPERATORS[type(op)](_value(left, used), _value(right, used)))
    raise ValueError("no sum of numbers")
