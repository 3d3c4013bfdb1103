"""Tests of pytest and unittest, methods of classes, and inputs that are compared with what a reference returns."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import pytest

from kolmocli.sandbox.base import Call, Job, Raised, Status, Verdict
from kolmocli.tasks.code.checks import Check, Checks, near
from kolmocli.tasks.code.compared import Compared
from kolmocli.tasks.code.frameworks import plain_tests
from kolmocli.tasks.code.imports import imported
from kolmocli.tasks.code.judge import Broken, Submission
from kolmocli.tasks.code.objects import Method, Objects, method_glue, without_objects
from kolmocli.tasks.code.shapes import human_eval
from kolmocli.tasks.reward import Relative

PARTS = {
    "functions": "def test_a():\n    assert f(2) == 4\n\ndef test_b():\n    assert f(0) == 0",
    "an import of the program": "from solution import f\n\ndef test_a():\n    assert f(2) == 4",
    "parameters": "import pytest\n@pytest.mark.parametrize('x, y', [(2, 4), (0, 0)])\ndef test_a(x, y):\n    assert f(x) == y",
    "one parameter": "import pytest\n@pytest.mark.parametrize('x', [2, 0])\ndef test_a(x):\n    assert f(x) == 2 * x",
    "a block of a script": "import pytest\ndef test_a():\n    assert f(2) == 4\n\nif __name__ == '__main__':\n    test_a()",
    "one test in a block": "def test_a():\n    assert f(2) == 4\ndef test_b():\n    f(0)\nif __name__ == '__main__':\n    test_a()",
    "an exception with a name": "import pytest\ndef test_a():\n    with pytest.raises(TypeError) as e:\n        f(None)\n    assert f(1) == 2",
    "sub-tests": "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        for x in (1, 2):\n"
    "            with self.subTest(x=x):\n                self.assertEqual(f(x), 2 * x)",
    "annotations that are not evaluated": "from __future__ import annotations\nimport pytest\ndef test_a(x: Later = 2) -> Later:\n"
    "    with pytest.raises(TypeError):\n        f(None)\n    assert f(x) == 4",
    "approx": "import pytest\ndef test_a():\n    assert f(0.1) == pytest.approx(0.2)\n    assert [f(1)] == pytest.approx([2.0000001])",
    "raises": "import pytest\ndef test_a():\n    with pytest.raises(TypeError):\n        f(None)\n    assert f(1) == 2",
    "raises in one line": "import pytest\ndef test_a():\n    pytest.raises(TypeError, f, None)\n    assert f(1) == 2",
    "what it says": "import pytest\ndef test_a():\n    with pytest.raises(TypeError, match='no n.mber'):\n        f(None)\n    assert f(1) == 2",
    "what is caught": "import pytest\ndef test_a():\n    with pytest.raises(TypeError) as e:\n        f(None)\n    e.match('number')\n"
    "    assert str(e.value) == 'no number' and e.value.args == ('no number',) and e.type is TypeError\n    assert f(1) == 2",
    "parameters with names": "import pytest\n@pytest.mark.parametrize('x, y', [(2, 4), pytest.param(0, 0, id='nought')], ids=['a', 'b'])\n"
    "def test_a(x, y):\n    assert f(x) == y",
    "parameters of a class": "import pytest as pt\nclass TestF:\n    @pt.mark.parametrize('x', [1, pt.param(2)])\n    def test_a(self, x):\n        assert f(x) == 2 * x",
    "fixtures": "import pytest\n@pytest.fixture\ndef two():\n    return 2\n@pytest.fixture(scope='module')\ndef both(two):\n    yield two, 2 * two\n"
    "def test_a(both):\n    assert f(both[0]) == both[1]",
    "what is skipped": "import pytest\n@pytest.mark.skip(reason='')\ndef test_a():\n    assert f(1) == 3\n@pytest.mark.xfail\ndef test_b():\n"
    "    assert f(1) == 3\n@pytest.mark.timeout(5)\ndef test_c():\n    assert f(1) == 2",
    "what fails": "import pytest\ndef test_a():\n    if f(1) != 2:\n        pytest.fail('no')\nif f(0):\n    pytest.main()",
    "two at once": "from pytest import raises\ndef test_a():\n    with raises(TypeError), raises(TypeError):\n        f(None)\n    assert f(1) == 2",
    "what a class sets up": "import unittest\nclass T(unittest.TestCase):\n    @classmethod\n    def setup_class(cls):\n        cls.x = 2\n"
    "    @unittest.skip('')\n    def test_no(self):\n        self.fail()\n    def test_a(self):\n        self.assertEqual(first=f(self.x), second=4, msg='')\n        self.assertIn(container=[2], member=f(1))\n"
    "        self.assertNotIsInstance(f(1), str)\n        self.assertRegex(str(f(1)), '2')\n        self.assertNotRegex(str(f(1)), 'x')",
    "what a base sets up": "import unittest\nclass Base(unittest.TestCase):\n    def setUp(self):\n        super().setUp()\n        self.x = 2\n"
    "class T(Base):\n    def test_a(self):\n        self.assertEqual(f(self.x), 4)\n        self.assertRaisesRegex(TypeError, 'no', f, None)",
    "tests of a base": "from unittest import TestCase\nclass Checks:\n    def test_a(self):\n        self.assertEqual(f(self.x), 2 * self.x)\n"
    "class One(Checks, TestCase):\n    x = 1\nclass Two(Checks, TestCase):\n    x = 2",
    "the program as a module": "import solution, math\ndef test_a():\n    assert solution.f(2) == 4 * math.cos(0)",
    "a class": "class TestF:\n    def setup_method(self):\n        self.x = 2\n    def test_a(self):\n        assert f(self.x) == 4",
    "unittest": "import unittest\nclass T(unittest.TestCase):\n    def setUp(self):\n        self.x = 2\n    def test_a(self):\n"
    "        self.assertEqual(f(self.x), 4)\n        self.assertTrue(f(1) == 2)\n        self.assertFalse(f(1) == 3)\n"
    "        self.assertIsNotNone(f(1))\n        self.assertAlmostEqual(f(0.1), 0.2)\n        self.assertIn(f(1), [2])\n"
    "        self.assertIsInstance(f(1), int)\n        self.assertGreater(f(2), 3)\n        self.assertListEqual([f(1)], [2])\n"
    "        self.assertCountEqual([f(1), f(0)], [0, 2])\n        with self.assertRaises(TypeError):\n            f(None)\n"
    "        self.assertRaises(TypeError, f, None)\n"
    "        with self.assertRaisesRegex(TypeError, 'no') as e:\n            f(None)\n        self.assertEqual(str(e.exception), 'no number')\n\nif __name__ == '__main__':\n    unittest.main()",
}  # fmt: skip


def right(x: float) -> float:
    if x is None:
        raise TypeError("no number")
    return 2 * x


def wrong(x: float) -> float:
    return 3 * x if x else 1


@pytest.mark.parametrize("code", PARTS.values(), ids=PARTS)
def test_tests_of_a_framework_are_asserts(code: str) -> None:
    plain = plain_tests(code)
    assert "pytest" not in plain and "unittest" not in plain and "solution" not in plain
    exec(plain, {"f": right})
    with pytest.raises((AssertionError, TypeError)):
        exec(plain, {"f": wrong})


def test_bases_in_a_circle_end() -> None:
    with pytest.raises(NameError):  # as in Python
        exec(
            plain_tests(
                "class TestA(TestB):\n    def test_a(self):\n        assert f(1)\nclass TestB(TestA):\n    pass"
            )
        )


def test_what_needs_no_framework_stays_as_it_is() -> None:
    for code in ("def check(c):\n    assert c(1)  # yes\n", "assert f(1) ==  2", "assert ("):
        assert plain_tests(code) == code
    assert imported("from solution import f, g as h\nfrom math import pi") == ["f", "g"]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def test_a(request):\n    assert f(request)", "`request` of test_a"),
        (
            "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertLogs('x')",
            "assertLogs",
        ),
        (
            "import pytest\ndef test_a():\n    with pytest.raises(TypeError) as e:\n        f(None)\n    assert e.traceback",
            "an exception",
        ),
        (
            "import pytest\ndef test_a():\n    with pytest.warns(UserWarning):\n        f(1)",
            "more of pytest than is read",
        ),
        (
            "from pytest import warns\ndef test_a():\n    with warns(UserWarning):\n        f(1)",
            r"more of pytest\.warns than",
        ),
        (
            "import pytest\n@pytest.fixture(params=[1])\ndef x(request):\n    return 1\ndef test_a(x):\n    assert f(x)",
            "`params` of the fixture x",
        ),
        (
            "import unittest\nclass T(unittest.TestCase):\n    def helper(self):\n        g = self.assertRaises(ValueError)\n        return g\n"
            "    def test_a(self):\n        with self.helper():\n            f(1)",
            "assertRaises of unittest in a way that is not read",
        ),
        (
            "import pytest\n@pytest.mark.parametrize('x', [1], indirect=True)\ndef test_a(x):\n    assert f(x)",
            "`indirect` of test_a",
        ),
        (
            "import pytest\n@pytest.mark.parametrize('x', [pytest.param(1, marks=pytest.mark.skip)])\ndef test_a(x):\n    assert f(x)",
            "mark some of their parameters",
        ),
    ],
)
def test_what_only_a_framework_can_do_is_named(code: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        plain_tests(code)


def test_methods_of_objects_that_are_made_for_one_call_are_functions() -> None:
    tree, found = without_objects(ast.parse("assert Solution().twice(n=3) == 6\nassert Solution().max(1) == 1"))
    methods = found.methods
    assert ast.unparse(tree) == "assert twice(n=3) == 6\nassert Solution_max(1) == 1"
    assert methods == (Method("Solution", "twice", "twice"), Method("Solution", "max", "Solution_max"))
    space: dict[str, object] = {}
    exec(
        "class Solution:\n    def twice(self, n): return 2 * n\n    def max(self, n): return n" + method_glue(methods),
        space,
    )
    exec(ast.unparse(tree), space)
    same = ast.parse("assert f(Rope('ab')).items()")
    assert without_objects(same, {"Rope"}) == (same, Objects())


@pytest.mark.parametrize(
    "code",
    [
        "import unittest\nclass T(unittest.TestCase):\n    def setUp(self):\n        self.s = Solution()\n"
        "    def test_a(self):\n        self.assertEqual(self.s.twice(2), 4)",
        "import unittest\nclass T(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls):\n        cls.s = Solution()\n"
        "    def test_a(self):\n        self.assertEqual(self.s.twice(2), 4)",
        "class TestS:\n    s = Solution()\n    def test_a(self):\n        assert self.s.twice(2) == 4",
        "import pytest\n@pytest.fixture\ndef s():\n    return Solution()\n@pytest.mark.parametrize('x', [2])\n"
        "def test_a(s, x):\n    assert s.twice(x) == 2 * x",
        "import pytest\n@pytest.fixture\ndef s():\n    yield Solution()\ndef test_a(s):\n    assert s.twice(2) == 4",
    ],
)
def test_a_solution_that_tests_keep_is_a_function(code: str) -> None:
    tree, found = without_objects(ast.parse(plain_tests(code)))
    assert found.methods == (Method("Solution", "twice", "twice"),) and not found.classes
    exec(ast.unparse(tree), {"twice": lambda x: 2 * x})
    with pytest.raises(AssertionError):
        exec(ast.unparse(tree), {"twice": lambda x: 3 * x})
    assert without_objects(ast.parse(plain_tests(code.replace("Solution", "Stack"))))[1].classes == ("Stack",)


def test_a_function_may_be_brought_as_a_method_or_not() -> None:
    glue = method_glue([Method("Solution", "f", "f")], perhaps=True)
    for program in ("def f(x):\n    return x", "class Solution:\n    def f(self, x): return x"):
        space: dict[str, object] = {}
        exec(program + glue, space)
        assert space["f"](3) == 3  # type: ignore[operator]
    assert Method.of("f") is None and Method.of("a b().f") is None


def submission(program: str) -> Submission:
    return Submission(program, 1, Relative(0.0))


def test_the_reference_runs_once_and_says_what_is_expected() -> None:
    calls = [Call.of("f", 1), Call.of("f", 2.5)]
    tests = Compared("reference", calls)
    stage = tests.attempt(submission("program"))
    assert stage.job == Job("reference", calls=tuple(calls))
    judged = stage.outcome(Verdict(Status.OK, (2, 5.0)))
    assert tests.plan == Checks((Check(calls[0], 2, "near"), Check(calls[1], 5.0, "near")))
    assert judged.job == Job("program", calls=tuple(calls))  # type: ignore[union-attr]
    assert tests.attempt(submission("other")).job.program == "other"  # type: ignore[union-attr]
    outcome = judged.outcome(Verdict(Status.OK, (2, 5.0000001)))  # type: ignore[union-attr]
    assert outcome.passed  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (Verdict(Status.TLE_CPU), "its reference ends with TLE_CPU"),
        (Verdict(Status.OK, (Raised("ValueError"),)), "its reference returns no plain value for input 1"),
    ],
)
def test_a_reference_that_fails_judges_nobody(verdict: Verdict, said: str) -> None:
    tests = Compared("reference", [Call.of("f", 1)])
    outcome = tests.attempt(submission("program")).outcome(verdict).outcome(None)  # type: ignore[union-attr]
    assert isinstance(tests.plan, Broken) and tests.plan.why.startswith(said)
    assert outcome.reward is None  # type: ignore[union-attr]


def test_a_fault_of_the_sandbox_says_nothing_of_the_reference() -> None:
    tests = Compared("reference", [Call.of("f", 1)])
    assert tests.attempt(submission("program")).outcome(Verdict(Status.INFRA)).reward is None  # type: ignore[union-attr]
    assert tests.plan is None


@pytest.mark.parametrize(
    ("relation", "expected", "holding", "missing"),
    [
        ("json", [1, [2]], [(1, (2,)), [1, [2]]], [[1, 2], None]),
        ("json", [6], [[6], (6,)], [6, 7, [[6]]]),
        ("wrapped", [6], [6, [6]], [7, [[6, 6]]]),
        ("json", {"1": "a"}, [{1: "a"}], [{2: "a"}, [("1", "a")]]),
        ("near", 0.1 + 0.2, [0.3, 0.3000001], [0.31, "0.3", None]),
        ("near", 3, [3, 3.0], [4, "3", 3.0000001]),
        ("near", [1.0, (2.0,)], [[1.0, (2.0000001,)]], [(1.0, (2.0,)), [1.0, [2.0]], [1.0]]),
        ("near", {"a": 1.0}, [{"a": 1.0000001}], [{"b": 1.0}]),
        ("members", [1, 2], [[2, 1], (1, 2, 2)], [[1], 3, [[1], 2]]),
        ("root", [-2, 1], [2, 2.00001], [3, None, "2"]),
    ],
)
def test_what_holds_of_each_relation(
    relation: str, expected: object, holding: list[object], missing: list[object]
) -> None:
    check = Check(Call.of("f"), expected, relation)  # type: ignore[arg-type]
    assert [check.holds(value) for value in holding] == [True] * len(holding)
    assert [check.holds(value) for value in missing] == [False] * len(missing)
    assert not near(float("inf"), 1.0, 1e-6) and near(float("nan"), float("nan"), 1e-6)


@pytest.mark.parametrize(
    ("lines", "plain"),
    [
        ("from my_module import f", True), ("from shop.cart import f", True), ("import cart", True),
        ("from cart import f, g", False), ("from math import f", False), ("from numpy import f", True),
    ],
)  # fmt: skip
def test_a_module_of_which_all_is_defined_by_the_reference_is_the_program(lines: str, plain: bool) -> None:
    called = "cart.f" if lines == "import cart" else "f"
    code = f"{lines}\ndef test_a():\n    assert {called}(1) == 2"
    made = plain_tests(code, ["f", "other"])
    kept = [] if plain else [lines]
    assert made.split("\n") == [
        *kept,
        *[""] * len(kept),
        "def test_a():",
        f"    assert {'f' if plain else called}(1) == 2",
        "test_a()",
    ]
    assert imported(code, ["f"]) == (["f"] if plain and lines != "import cart" else [])


def test_a_function_may_have_another_name_in_the_tests() -> None:
    code = (
        "import pytest\nfrom solution import f as g, Odd as Wrong\ndef test_a():\n    assert g(1) == 2\n"
        "    pytest.raises(Wrong, g, 3)\n    with pytest.raises(Wrong):\n        g(4)\n"
    )
    made = plain_tests(code)
    assert imported(code) == ["f", "Odd"] and "g(" not in made and "Wrong" not in made
    assert made.count("except Odd") == 2 and made.count("f(") == 3


def test_a_name_that_tests_import_and_never_use_is_not_what_is_asked_for() -> None:
    tests = (
        "from solution import unused, f, LIMIT\ndef raises(g):\n    try:\n        g(-1)\n    except ValueError:\n        return True\n"
        "    return LIMIT\ndef test_a():\n    assert raises(f)\n"
    )
    task = human_eval({"prompt": "Write f.", "test": tests})
    assert (task.entry_point, task.tests.functions) == ("f", ("f",))  # type: ignore[attr-defined]


FIXTURES = """\
import pytest
made = []
@pytest.fixture(autouse=True)
def log():
    made.append("log")
class TestBox:
    @pytest.fixture(autouse=True)
    def begin(self, extra):
        self.items = [extra]
    @pytest.fixture
    def extra(self):
        return 7
    @pytest.mark.parametrize("x", [1, 2])
    def test_a(self, x, extra):
        self.items.append(x)
        assert self.items == [extra, f(x)]
def test_b():
    made.append(f(0))
def test_c(log):
    made.append(f(1))
"""


def test_fixtures_of_a_class_and_those_of_every_test() -> None:
    space: dict[str, Any] = {"f": lambda x: x}
    exec(plain_tests(FIXTURES), space)
    assert space["made"] == ["log", "log", "log", 0, "log", 1]
    with pytest.raises(AssertionError):
        exec(plain_tests(FIXTURES), {"f": lambda x: x + 1})


def test_a_helper_that_expects_an_exception_is_read() -> None:
    tests = """\
import unittest
class T(unittest.TestCase):
    def test_a(self):
        with self.fails(ValueError):
            f(-1)
    def fails(self, kind):
        return self.assertRaisesRegex(kind, 'no')
"""
    with pytest.raises(AssertionError):
        exec(plain_tests(tests), {"f": lambda x: x})
    with pytest.raises(AssertionError):
        exec(plain_tests(tests), {"f": raising(ValueError("yes"))})
    exec(plain_tests(tests), {"f": raising(ValueError("no"))})


def raising(error: Exception) -> Callable[[int], None]:
    def f(_: int) -> None:
        raise error

    return f
