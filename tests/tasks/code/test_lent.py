"""Functions of the tests that a program is given, and decorators of a program on functions of the tests."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from kolmocli.sandbox import Sandbox, Status
from kolmocli.tasks.code.shapes import human_eval, mbpp
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Relative

TERMS = Terms(Relative(0.25))
APPLY = "def f(g, xs): return [g(x) for x in xs]\n"
WRAPS = "import functools\ndef f(g):\n    @functools.wraps(g)\n    def inner(*given): return 2 * g(*given)\n    return inner\n"
REDUCE = "from functools import reduce\ndef f(g, xs): return reduce(g, xs)\n"
BOX = "class Box:\n    def __init__(self, x): self.x = x\n    def map(self, g): return Box(g(self.x))\n    def get(self): return self.x\n"
CALLBACKS = """\
class Callbacks:
    def __init__(self): self.all = []
    def add(self, g): self.all.append(g)
    def drop(self, g): self.all.remove(g)
    def run(self, x): return [g(x) for g in self.all]
"""
TIMES = "def f(n):\n    def outer(g): return lambda x: n * g(x)\n    return outer\n"
CACHED = "import functools\ndef f(g): return functools.lru_cache(None)(g)\n"
RETRY = "def f(g, x):\n    while True:\n        try: return g(x)\n        except ValueError: pass\n"
ERROR = f"class Odd(Exception): pass\n{APPLY}"


class Case(NamedTuple):
    name: str
    tests: str
    right: str = APPLY
    edit: tuple[str, str] = ("g(x)", "x")
    """What makes it wrong."""


def body(*lines: str) -> str:
    """A test."""
    return "".join(f"{line}\n" for line in ("def test_it():", *(f"    {line}" for line in lines)))


CASES = [
    Case("a lambda", body("assert f(lambda x: x * x, [1, 2]) == [1, 4]")),
    Case("a lambda with values", body("n = 3", "assert f(lambda x, k=n: x + n + k, [1, 2]) == [7, 8]")),
    Case("a value that changes", body("n = 1", "g = lambda x: x + n", "assert f(g, [1]) == [2]", "n = 5", "assert f(g, [1]) == [6]")),
    Case("a function", f"def twice(x):\n    return 2 * x\n{body('assert f(twice, [1, 2]) == [2, 4]')}"),
    Case("a function with another", f"def one(x): return x + 1\n{body('def g(x: int) -> int: return 2 * one(x)', 'assert f(g, [1]) == [4]')}"),
    Case("one that calls itself", f"def g(x): return 1 if x < 1 else x * g(x - 1)\n{body('assert f(g, [4]) == [24]')}"),
    Case("one with a keyword", body("def g(x, *, k=2): return x * k", "assert f(g, [2]) == [4]")),
    Case("a name of its own", f"n = [1]\n{body('assert f(lambda x: [n for n in range(x)], [2]) == [[0, 1]]')}"),
    Case("functions of Python", body("assert f(len, ['a', 'bc']) == [1, 2]", "assert f(str.upper, ['a']) == ['A']")),
    Case("functions of the library", f"import math, operator\n{body('assert f(operator.add, [1, 2, 3]) == 6', 'assert f(lambda a, b: math.gcd(a, b), [4, 6]) == 2')}", REDUCE, ("reduce(g, xs)", "sum(xs)")),
    Case("the program's own", body("assert f(h, [1]) == [2]", "assert f(lambda x: h(x) + 1, [1]) == [3]"), f"{APPLY}def h(x): return 2 * x\n"),
    Case("a generator", body("def up():", "    yield 1", "assert f(up) == [1]"), "def f(g): return list(g())\n", ("list(g())", "[]")),
    Case("in a dict", body("assert f({'a': abs, 'b': lambda x: x + 1}, -1) == {'a': 1, 'b': 0}"), "def f(d, x): return {k: g(x) for k, g in d.items()}\n"),
    Case("to a method", body("assert Box(3).map(lambda x: x + 1).get() == 4"), BOX, ("g(self.x)", "self.x")),
    Case("parameters", f"import pytest\n@pytest.mark.parametrize('g, wanted', [(lambda x: x + 1, [2]), (abs, [1])])\n{body('assert f(g, [1]) == wanted').replace('()', '(g, wanted)', 1)}"),
    Case("the same again", body("def g(x): return x", "assert f(g) is g", "h = lambda: 1", "assert f(h) == h and f(h)() == 1"), "def f(g): return g\n", ("return g", "return lambda *x: g(*x)")),
    Case("a callback that notes what it is given", body("seen = []", "def g(x):", "    seen.append(x)", "    return [x]", "r = Callbacks()", "r.add(g)", "assert r.run(7) == [[7]] and seen == [7]"), CALLBACKS, ("g(x) for", "g([x]) for")),
    Case("a callback that is dropped", f"def g(x): return 2 * x\n{body('r = Callbacks()', 'r.add(g)', 'r.add(abs)', 'assert r.run(-2) == [-4, 2]', 'r.drop(g)', 'assert r.run(-2) == [2]')}", CALLBACKS, (".remove(g)", ".clear()")),
    Case("what it says of itself", body("def add(a, b):", "    'Adds.'", "    return a + b", "made = f(add)", "assert made(1, 2) == 6", "assert made.__name__ == 'add' and made.__doc__ == 'Adds.'"), WRAPS, ("    @functools.wraps(g)\n", "")),
    Case("an exception", f"import pytest\n{body('def bad(x): raise ValueError(x)', 'with pytest.raises(ValueError):', '    f(bad, [1])')}", APPLY, ("g(x)", "x")),
    Case("an exception of the program", body("def bad(x): raise Odd('no')", "try:", "    f(bad, [1])", "    assert False", "except Odd:", "    pass"), ERROR),
    Case("a decorator", f"@f\ndef fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\n{body('assert fib(90) == 2880067194370816120')}", CACHED, ("lru_cache(None)(g)", "partial(g)")),
    Case("a method of a list", body("seen = []", "f(seen.append, [1, 2])", "assert seen == [1, 2] and len(seen) == 2"), APPLY, ("g(x) for", "x for")),
    Case("a list that it fills", body("n, seen = 3, []", "f(lambda x: seen.append(n * x), [1, 2])", "assert seen == [3, 6]"), APPLY, ("in xs", "in xs[1:]")),
    Case("a dict that it counts in", body("seen = {'n': 0}", "def g(x): seen['n'] += x", "f(g, [1, 2])", "assert seen['n'] == 3", "seen['n'] = 0", "f(g, [5])", "assert seen == {'n': 5}"), APPLY, ("in xs", "in [0, *xs, 1]")),
    Case("calls that are counted", body("seen = []", "@f", "def g(x):", "    seen.append(x)", "    return 2 * x", "assert g(3) == g(3) == 6", "assert seen == [3]"), CACHED, ("lru_cache(None)(g)", "partial(g)")),
    Case("a counter of a test", body("n = 0", "def g(x):", "    nonlocal n", "    n += x", "    if n < 3: raise ValueError(n)", "    return n", "assert f(g, 2) == 4 and n == 4", "n = 1", "assert f(g, 2) == 3"), RETRY, ("return g(x)", "g(x); return g(x)")),
    Case("a counter in a class", "class TestIt:\n    def test_it(self):\n        n = 0\n        def g(x):\n            nonlocal n\n            n += 1\n            return x\n        assert f(g, [3, 4]) == [3, 4]\n        assert n == 2\n", APPLY, ("in xs", "in xs + xs")),
    Case("a counter of the module", f"n = 0\ndef g(x):\n    global n\n    n += 1\n    return 2 * x\n@f\ndef h(x):\n    global n\n    n += 1\n    return g(x)\n{body('global n', 'n = 0', 'assert h(3) == h(3) == 6', 'assert n == 2')}", CACHED, ("lru_cache(None)(g)", "partial(g)")),
    Case("an iterator", body("it = iter(['a', 'b', ''])", "assert f(lambda x: next(it), range(2)) == ['a', 'b']", "assert next(it) == ''", "more = iter([4])", "assert [x for x in more] == [4]"), APPLY, ("g(x) for x in xs", "g(x) for x in [*xs, 0]")),
    Case("a decorator with arguments", body("@f(3)", "def say(x): return [x]", "assert say('a') == ['a', 'a', 'a']"), TIMES, ("n * g", "2 * g")),
]  # fmt: skip


def importing(tests: str, program: str) -> str:
    names = [
        name
        for name in ("f", "h", "Box", "Callbacks", "Odd")
        if f"def {name}(" in program or f"class {name}" in program
    ]
    return f"from solution import {', '.join(names)}\n{tests}"


@pytest.mark.docker
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_program_may_be_given_functions(docker_box: Sandbox, case: Case) -> None:
    task = human_eval(
        {"prompt": "Write it.", "test": importing(case.tests, case.right), "canonical_solution": case.right}
    )
    wrong = case.right.replace(*case.edit)
    assert wrong != case.right
    outcomes = judge([task] * 2, [case.right, wrong], docker_box, TERMS)
    assert [(outcome.passed, outcome.reward) for outcome in outcomes] == [(True, 1.0), (False, 0.0)]


REFUSED = [
    ("seen = bytearray()", "f(lambda x: seen.append(x), [1])", "assert seen[0] == 1", "uses `seen`, which it may change"),
    ("def g(x, seen=[]): return len(seen)", "", "assert f(g, [2]) == [0]", "uses `g`, which it may change"),
    ("class E(Exception): pass", "def g(x): raise E", "assert f(g, [])  == []", "uses `E`, which is no plain value"),
    ("def a(x): return x and b(x)", "def b(x): return x and a(x)", "assert f(a, [0]) == [0]", "calls itself by another"),
    ("def g(x):\n        nonlocal n\n        n += 1", "try:\n        n = 0\n    except ValueError as n:\n        pass", "assert f(g, []) == []", "a value of type function"),
    ("def g(x): assert x == 5", "", "assert f(g, [5]) == [None]", "a value of type function"),
]  # fmt: skip


@pytest.mark.docker
@pytest.mark.parametrize("lines", REFUSED, ids=lambda lines: lines[3])
def test_one_that_may_change_something_or_asserts_does_not_go(
    docker_box: Sandbox, caplog: pytest.LogCaptureFixture, lines: tuple[str, str, str, str]
) -> None:
    tests = body(*filter(None, lines[:3]))
    task = human_eval({"prompt": "Write f.", "test": importing(tests, APPLY), "canonical_solution": APPLY})
    [outcome] = judge([task], [APPLY], docker_box, TERMS)
    assert outcome.status is Status.INFRA and outcome.reward is None
    assert f"f() is given {'a function that ' * lines[3].startswith('uses')}" in caplog.text and lines[3] in caplog.text


@pytest.mark.docker
def test_a_program_that_changes_python_itself_gains_nothing(docker_box: Sandbox) -> None:
    """What is made of a function in its process is its own; what is expected stays with the tests."""
    task = mbpp({"text": "Write f.", "test_list": ["assert f(lambda x: x + 1, [1, 2]) == [2, 3]"]})
    cheats = [
        "import builtins\nclass Any:\n    def __eq__(self, other): return True\nbuiltins.eval = builtins.exec = lambda *_: Any()\ndef f(g, xs): return g\n",
        "def f(g, xs): return g.__globals__\n",
        "def f(g, xs):\n    class All(list):\n        def __eq__(self, other): return True\n    return All()\n",
    ]
    outcomes = judge([task] * len(cheats), cheats, docker_box, TERMS)
    assert [outcome.passed for outcome in outcomes] == [False] * len(cheats)
