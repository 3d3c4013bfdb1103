"""Tests that are read without being run: what they come to is what the tester says of them."""

from __future__ import annotations

import pytest

from kolmocli.sandbox import Sandbox
from kolmocli.sandbox.base import Call
from kolmocli.tasks.code.asserts import Asserts, Report
from kolmocli.tasks.code.checks import Check, Checks
from kolmocli.tasks.code.literals import read_checks
from kolmocli.tasks.code.rewriting import parse_tests
from kolmocli.tasks.code.shapes import human_eval, mbpp

from .shaped import PROBLEMS

READ = {
    "assert f(3) == 9\nassert 4 == f(2, x=[1])": (Check(Call.of("f", 3), 9), Check(Call.of("f", 2, x=[1]), 4)),
    "assert not f(-1)\nassert True\nassert f({'a': (1, None)})": (
        Check(Call.of("f", -1), relation="false"),
        Check(Call.of("f", {"a": (1, None)}), relation="true"),
    ),
    "'''Words'''\nassert f() is False, 'why'": (Check(Call.of("f"), False, "is"),),
    "M = {'a': 1}\n\ndef check(g):\n    'words'\n    assert g(1) == {2, 3}\n    assert f(1) == 1\n\ncheck(f)": None,
    "M = {'a': 1}\n\ndef check(g):\n    'words'\n    assert g(1) == {2, 3}\n\ncheck(f)": (
        Check(Call.of("f", 1), {2, 3}),
    ),
    "import math\nassert f(1) == 1": None,
    "assert f(2 * 3) == 1": None,
    "assert f(2) < 3": None,
    "assert f(2) == 1 == 1": None,
    "assert f(2) is 'a'": None,
    "assert not f(2) == 3": None,
    "assert g(2) == 3": None,
    "assert f(*[2]) == 3": None,
    "assert f(**{'a': 2}) == 3": None,
    "assert f(...) == 3": None,
    "for i in [1]:\n    assert f(1) == 1": None,
    "def check(g):\n    assert g(1)": None,
    "f = 3\nassert f(1)": None,
    "assert 1": None,
}


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("code", READ)
def test_what_can_be_read(code: str) -> None:
    found, wanted = read_checks(parse_tests(code), ["f"]), READ[code]
    assert found == (None if wanted is None else Checks(wanted))


@pytest.mark.docker
def test_reading_and_running_come_to_the_same(docker_box: Sandbox) -> None:
    tests = [Asserts(code, ["f"]) for code, wanted in READ.items() if wanted]
    for problem in PROBLEMS:
        for given in (human_eval(problem.human_eval()), mbpp(problem.mbpp())):
            assert isinstance(given.tests, Asserts)
            if given.tests.plan is not None:
                tests.append(given.tests)
    assert len(tests) > 80
    for each, verdict in zip(tests, docker_box.run([each.job() for each in tests]), strict=True):
        report = Report.read(verdict)
        assert report is not None and report.plan(each) == each.plan
