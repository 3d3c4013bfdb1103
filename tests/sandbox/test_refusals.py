"""What the embedded sandbox refuses before it runs anything: each rule with a program beside it that may run."""

from __future__ import annotations

import ast

import pytest

from kolmocli.sandbox import Call, Job, Sandbox, Status
from kolmocli.sandbox.embedded.refusals import Refusal, is_missing, refuse

REFUSED = {
    # what is around this file
    "import os": "import os",
    "from subprocess import run": "import subprocess",
    "from . import x": r"import \.",
    "import re": "import re",
    "x = f'\\ud800{1}'": "strings with lone surrogates",
    "eval('1')": r"eval\(\)",
    "f = getattr": r"getattr\(\)",
    "x = [hash('a')]": r"hash\(\)",
    # iterators that are lists here
    "f = map": "map that is not called",
    "x = map(abs, [-1])": r"map\(\) whose result is not used up",
    "for x in map(f, [1]): pass": r"map\(\) whose result is not used up",
    "for x in zip(a, b): a.append(1)": r"zip\(\) whose result is not used up",
    "for x in enumerate(a): a[0] = 1": r"enumerate\(\) whose result is not used up",
    "for x in reversed(a): a += [1]": r"reversed\(\) whose result is not used up",
    "x = (i for i in y)": "a generator that is not used up",
    "x = any(1 // i for i in y)": "a generator that is not used up",
    "x = any(map(f, y))": r"map\(\) whose result is not used up",
    # the order of a set
    "x = {1, 2}": "a set whose order",
    "x = list({1, 2})": "a set whose order",
    "x = sorted({1, 2}, key=f)": "a set whose order",
    "x = {1} | y": "a set whose order",
    "f = frozenset": "frozenset that is not called",
    # classes and errors
    "class A:\n    def __eq__(self, other): return True": "a class with __eq__",
    "class A:\n    def __del__(self): pass": "a class with __del__",
    "import collections\nx = collections.deque()": "deque",
    "from collections import deque": "deque",
    "try: f()\nexcept: pass": "an except clause",
    "try: f()\nexcept TypeError: pass": "an except clause",
    "try: f()\nexcept Exception: pass": "an except clause",
    "try: f()\nexcept (ValueError, RuntimeError): pass": "an except clause",
}
ALLOWED = [
    "import math, itertools",
    "from collections import Counter",
    "x = list(map(abs, [-1]))",
    "x = ''.join(map(str, [1]))",
    "x = [*map(abs, [-1])]",
    "a, b = map(int, '12')",
    "for x in zip(a, b): c.append(x)",
    "for x in enumerate(a): b[0] = x",
    "x = sum(i for i in y)",
    "x = any(i > 1 for i in y)",
    "x = sorted({1, 2})",
    "x = len(set(y))",
    "x = 1 in {1, 2}",
    "class A:\n    def __init__(self): self.x = 1\n    def eq(self): return True",
    "try: f()\nexcept ValueError: pass",
    "try: f()\nexcept (KeyError, IndexError): pass",
    "getattribute = 1",
]


def look(program: str, with_language: bool = False) -> None:
    for statement in ast.parse(program).body:
        refuse(statement, with_language)


@pytest.mark.parametrize(("program", "words"), REFUSED.items(), ids=REFUSED)
def test_what_python_would_run_otherwise_is_refused(program: str, words: str) -> None:
    with pytest.raises(Refusal, match=f"^{words}"):
        look(program)


@pytest.mark.parametrize("program", ALLOWED)
def test_what_means_the_same_is_run(program: str) -> None:
    look(program)


@pytest.mark.parametrize(
    "job",
    [
        Job("def f(x): return x", calls=(Call.of("f", [range(3)]),)),
        Job("def f(x): return x", calls=(Call.of("f", "\ud800"),)),
        Job("print(len(input()))", inputs=("\ud800",)),
        Job("print('\\ud800')", inputs=("",)),
        Job("print(1)\nraise SystemExit", inputs=("",)),
    ],
)
def test_what_the_interpreter_cannot_carry_is_refused(embedded_sandbox: Sandbox, job: Job) -> None:
    """It was the program's failure, or its value."""
    assert embedded_sandbox.run(job)[0].status is Status.DENIED


def test_filter_is_a_function_of_the_language() -> None:
    look("x = filter(1, y)", with_language=True)
    with pytest.raises(Refusal, match="filter"):
        look("x = filter(f, y)")


@pytest.mark.parametrize(
    ("error", "missing"),
    [
        (ImportError("no module named x"), True),
        (PermissionError("not here"), True),
        (NameError("name 'vars' is not defined"), True),
        (NameError("name 'mine' is not defined"), False),
        (AttributeError("'str' object has no attribute 'translate'"), True),
        (AttributeError("'str' object has no attribute 'mine'"), False),
        (AttributeError("module 'math' has no attribute 'fma'"), True),
        (RuntimeError("Internal error: a stack"), True),
        (RuntimeError("mine"), False),
        (TypeError('can only concatenate list (not "tuple") to list'), True),
        (ValueError("mine"), False),
        (ZeroDivisionError("division by zero"), False),
    ],
    ids=str,
)
def test_an_error_that_python_would_not_raise_is_told_from_one_of_the_program(error: Exception, missing: bool) -> None:
    assert is_missing(error) == missing
