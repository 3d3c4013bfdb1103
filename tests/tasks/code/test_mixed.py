"""Random modules of tests, judged as Python itself judges them: right programs pass, edited ones as it says."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kolmocli.sandbox import Sandbox
from kolmocli.tasks.code.calls import defined
from kolmocli.tasks.code.shapes import human_eval
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Relative

FOLDER = Path(__file__).with_name("mixed")
PROGRAM = (FOLDER / "program.txt").read_text("utf-8")
NAMES = defined(PROGRAM)
EDITS = [line.replace("\\n", "\n").split(" => ") for line in (FOLDER / "edits.txt").read_text("utf-8").splitlines()]
PARTS = [part.splitlines() for part in (FOLDER / "parts.txt").read_text("utf-8").split("\n\n")]
HEAD = """\
import pytest
from solution import {names}


def raises(fn, x):
    try:
        fn(x)
    except ValueError:
        return True
    return False
"""
NESTS = ["if True:", "for _ in range(2):", "while True:", "def inner():", "try:"]


@dataclass(frozen=True, slots=True)
class Module:
    """Tests of random parts, some within others."""

    source: random.Random

    def text(self) -> str:
        given = self.source.choice(["", "self"])
        tests = [line for at in range(self.source.randrange(1, 4)) for line in self._test(at, given)]
        return with_head("\n".join(["class Test:", *indented(tests)] if given else tests))

    def _test(self, at: int, given: str) -> Iterator[str]:
        yield f"def test_{at}({given}):"
        for _ in range(self.source.randrange(1, 4)):
            yield from indented(self._part(depth=0))

    def _part(self, depth: int) -> list[str]:
        if depth > 1 or self.source.random() < 0.7:
            return self.source.choice(PARTS)
        nest, inner = self.source.choice(NESTS), [*indented(self._part(depth + 1))]
        after = {"while True:": ["    break"], "def inner():": ["inner()"], "try:": ["finally:", "    pass"]}
        return [nest, *inner, *after.get(nest, [])]


def with_head(tests: str) -> str:
    names = [name for name in NAMES if re.search(rf"\b{name}\b", tests)]
    return f"{HEAD.format(names=', '.join(names))}\n\n{tests}\n"


def indented(lines: list[str]) -> Iterator[str]:
    return (f"    {line}" for line in lines)


def python_says(tests: str, program: str, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the tests pass, in this process."""
    solution = ModuleType("solution")
    monkeypatch.setitem(sys.modules, "solution", solution)
    names: dict[str, Any] = {}
    exec(compile(program, "solution", "exec"), solution.__dict__)
    exec(compile(tests, "tests", "exec"), names)
    of = vars(names["Test"]) if "Test" in names else names
    try:
        for name in [name for name in of if name.startswith("test_")]:
            of[name](*["self"] * ("Test" in names))
    except (Exception, pytest.fail.Exception):
        return False
    return True


@pytest.mark.docker
@pytest.mark.parametrize("seed", range(8))
def test_random_modules_are_judged_as_python_judges_them(
    docker_box: Sandbox, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    source = random.Random(seed)
    tests = Module(source).text()
    edited = [PROGRAM.replace(old, new) for old, new in source.sample(EDITS, 3)]
    assert PROGRAM not in edited
    task = human_eval({"prompt": "Write it.", "test": tests, "canonical_solution": PROGRAM})
    programs = [PROGRAM, *edited]
    outcomes = judge([task] * len(programs), programs, docker_box, Terms(Relative(0.25)))
    wanted = [python_says(tests, program, monkeypatch) for program in programs]
    assert wanted[0], tests
    assert [outcome.reward is not None and outcome.passed for outcome in outcomes] == wanted, tests
