"""The problems of this folder in the shapes of HumanEval and MBPP, and as scripts."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Problem:
    name: str
    head: str
    """The function as far as the docstring."""
    body: str
    words: str
    asserted: tuple[str, ...]

    def human_eval(self) -> dict[str, Any]:
        lines = "".join(f"    assert {each.replace(f'{self.name}(', 'candidate(')}\n" for each in self.asserted)
        return {
            "task_id": f"Own/{self.name}",
            "prompt": self.head,
            "entry_point": self.name,
            "canonical_solution": self.body,
            "test": f"\n\nMETADATA = {{'author': 'us'}}\n\n\ndef check(candidate):\n{lines}",
        }

    def mbpp(self) -> dict[str, Any]:
        return {
            "task_id": self.name,
            "text": self.words,
            "code": self.head + self.body,
            "test_list": [f"assert {each}" for each in self.asserted],
            "test_setup_code": "",
        }


def _problem(text: str) -> Problem:
    lines = text.strip("\n").splitlines(keepends=True)
    code = [line for line in lines if not line.startswith("# ")]
    [function] = ast.parse("".join(code)).body
    assert isinstance(function, ast.FunctionDef)
    end = function.body[0].end_lineno
    asserted = tuple(line[2:].strip() for line in lines if line.startswith("# "))
    return Problem(function.name, "".join(code[:end]), "".join(code[end:]), ast.get_docstring(function) or "", asserted)


_SOURCE = Path(__file__).with_name("problems.txt").read_text("utf-8")
PROBLEMS = [_problem(text) for text in _SOURCE.split("\n\n\n") if text.lstrip("\n").startswith("def ")]

SCRIPTS: list[Mapping[str, Any]] = [
    {
        "question": "Read a number, and so many numbers in the next line. Print their sum.",
        "inputs": ["3\n1 2 3\n", "1\n-5\n", "0\n\n"],
        "outputs": ["6\n", "-5", "0"],
        "program": "input()\nprint(sum(map(int, input().split())))",
    },
    {
        "question": "Print every line of the input from its end.",
        "inputs": ["abc\nde\n", "x"],
        "outputs": ["cba\ned\n", "x\n"],
        "program": "import sys\nfor line in sys.stdin:\n    print(line.rstrip('\\n')[::-1])",
    },
    {
        "question": "Print the numbers from 1 to n, each in a line of its own.",
        "inputs": ["3", "1", "5"],
        "outputs": ["1\n2\n3", "1", "1\n2\n3\n4\n5\n"],
        "program": "for i in range(int(input())):\n    print(i + 1, end=' \\n')",
    },
]
