"""Programs that return what is no plain value, where their tests name no class: generators, functions, linked lists, named tuples."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from kolmocli.sandbox import Sandbox, open_sandbox
from kolmocli.tasks.code.shapes import human_eval, mbpp
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Relative
from tests.tasks.code.kept import ANYTHING

TERMS = Terms(Relative(0.25))
LINKED = """\
class Node:
    def __init__(self, value, after=None): self.value, self.after = value, after
def f(xs):
    head = None
    for x in reversed(xs): head = Node(x, head)
    return head
def total(node):
    found = 0
    while node: found, node = found + node.value, node.after
    return found
"""
WALKED = "node, found = f([1, 2, 3]), []\n    while node:\n        found.append(node.value)\n        node = node.after\n    assert found == [1, 2, 3]"
COUNTING = "def f(n):\n    yield from range(n)\n"
PAIR = "from collections import namedtuple\nPair = namedtuple('Pair', 'x y')\ndef f(a, b): return Pair(a, b)\n"
MEMBERS = "import enum\nclass Kind(enum.IntEnum):\n    A = 1\n    B = 2\ndef f(name): return Kind[name]\n"
TYPED = "def f(n):\n    if not isinstance(n, int): raise TypeError('no number')\n    return iter(range(n))\n"


class Case(NamedTuple):
    name: str
    body: str
    """Of a test."""
    right: str
    edit: tuple[str, str]
    """What makes it wrong."""


CASES = [
    Case("a generator in a list", "assert list(f(3)) == [0, 1, 2]", COUNTING, ("range(n)", "range(n + 1)")),
    Case("a generator in parts", "g = f(3)\n    assert next(g) == 0\n    assert sum(g) == 3", COUNTING, ("range(n)", "range(1, n)")),
    Case("a generator in a loop", "assert [x + 1 for x in f(2)] == [1, 2]", COUNTING, ("range(n)", "range(-n)")),
    Case(
        "a generator raises late", "with pytest.raises(TypeError):\n        f('a')\n    assert list(f(1)) == [0]", TYPED,
        ("return iter(range(n))", "yield from range(n)"),
    ),
    Case("an iterator", "assert list(f([1, 2])) == [2, 4]", "def f(xs): return map(lambda x: 2 * x, xs)\n", ("2 *", "3 *")),
    Case("a view", "assert list(f({'a': 1})) == ['a']", "def f(d): return d.keys()\n", ("keys", "values")),
    Case("a linked list", WALKED, LINKED, ("reversed(xs)", "xs")),
    Case("an object that goes back", "head = f([1, 2])\n    assert total(head) == 3", LINKED, ("found = 0", "found = 1")),
    Case("a function", "add = f(3)\n    assert add(4) == 7\n    assert f(1)(1) == 2", "def f(n): return lambda x: x + n\n", ("x + n", "x - n")),
    Case("a named tuple", "p = f(1, 2)\n    assert p.x == 1 and p[1] == 2\n    assert p == (1, 2)", PAIR, ("(a, b)\n", "(b, a)\n")),
    Case("a named tuple as a tuple", "assert f(1, 2) == (1, 2)\n    assert f(1, 1) in [(1, 1)]", PAIR, ("Pair(a, b)", "Pair(b, a)")),
    Case("a member of an IntEnum", "assert f('A') == 1\n    assert f('B') != 1", MEMBERS, ("B = 2", "B = 1")),
    Case("a slice", "xs = f(4)\n    assert xs[1:3] == [1, 2]\n    assert xs[::2] == [0, 2]", "class Items(list): pass\ndef f(n): return Items(range(n))\n", ("range(n)", "range(n)[::-1]")),
    Case("a match", "assert f('ab')\n    assert not f('1')", "import re\ndef f(s): return re.match('[a-z]+$', s)\n", ("a-z", "a-z0-9")),
    Case(
        "a fraction as a float", "assert f([1, 2]) == 1.5",
        "from fractions import Fraction\ndef f(xs): return Fraction(sum(xs), len(xs))\n", ("len(xs)", "1"),
    ),
    Case(
        "a date", "day = f('2020-03-04')\n    assert day.year == 2020 and day.day == 4",
        "import datetime\ndef f(s): return datetime.date.fromisoformat(s)\n", ("(s)\n", "(s).replace(day=5)\n"),
    ),
]  # fmt: skip


@pytest.mark.docker
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_they_are_judged_by_what_the_tests_do_with_it(docker_box: Sandbox, case: Case) -> None:
    names = "f, total" if "total" in case.body else "f"
    tests = f"import pytest\nfrom solution import {names}\ndef test_it():\n    {case.body}\n"
    task = human_eval({"prompt": "Write f.", "test": tests, "canonical_solution": case.right})
    wrong = case.right.replace(*case.edit)
    assert wrong != case.right and not task.objects.kept
    outcomes = judge([task] * 2, [case.right, wrong], docker_box, TERMS)
    assert [(outcome.passed, outcome.reward) for outcome in outcomes] == [(True, 1.0), (False, 0.0)]


TUPLE = "class Any(tuple):\n    def __iter__(self): return iter((1, 2))\n    def __getitem__(self, at): return at + 1\n    def __len__(self): return 2\n"


@pytest.mark.docker
@pytest.mark.parametrize(
    "cheat", [f"{ANYTHING}def f(*_): return Any()\n", f"{TUPLE}def f(*_): return Any()\n"], ids=["object", "tuple"]
)
def test_an_object_that_agrees_to_anything_passes_nothing(docker_box: Sandbox, cheat: str) -> None:
    bodies = [
        "assert f(1, 2) == (1, 2)", "x = f(1, 2)\n    assert x == (1, 2)", "assert f(1, 2) in [(1, 2)]", "assert abs(f(2) - 1.4) < 0.1",
        "assert f(1).value == 4", "assert f(1)[5] == 9", "assert f(1)(2) == 3", "assert list(f(3)) == [3]", "assert f(2) < 3 < f(4)",
        "assert (1, 2) == f(1, 2)", "assert not f(1) != (1, 2)", "assert sorted(f(2)) == [0, 1]", "assert str(f(1)) == '1'",
    ]  # fmt: skip
    tasks = [
        human_eval({"prompt": "Write f.", "test": f"from solution import f\ndef test_it():\n    {body}\n"})
        for body in bodies
    ]
    outcomes = judge(tasks, [cheat] * len(tasks), docker_box, TERMS)
    assert [body for body, outcome in zip(bodies, outcomes, strict=True) if outcome.passed] == []
    assert {outcome.reward for outcome in outcomes} == {0.0}


def test_where_no_object_can_be_kept_the_first_outcome_stands(caplog: pytest.LogCaptureFixture) -> None:
    """The embedded sandbox has no classes. The tests are no worse for it, and nobody is told so."""
    task = mbpp({"text": "Write f.", "test_list": ["assert f(2) == [0, 1]"]})
    programs = ["def f(n): return ...\n", "def f(n): return list(range(n))\n"]
    with open_sandbox("embedded", workers=1) as sandbox:
        outcomes = judge([task] * 2, programs, sandbox, TERMS)
    assert [(outcome.passed, outcome.reward) for outcome in outcomes] == [(False, 0.0), (True, 1.0)]
    assert caplog.messages == []
