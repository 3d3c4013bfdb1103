"""Tests as code: what they become, and what programs come to by them."""

from __future__ import annotations

import json
import logging
import pickle
from collections.abc import Sequence

import pytest

from kolmocli.sandbox import Sandbox, Status
from kolmocli.sandbox.base import Call, Job, Verdict
from kolmocli.tasks.code.asserts import MOST_ROUNDS, Asserts, Rounds, in_order
from kolmocli.tasks.code.checks import Check, Checks
from kolmocli.tasks.code.frameworks import plain_tests
from kolmocli.tasks.code.judge import Broken
from kolmocli.tasks.code.task import CodeTask
from kolmocli.tasks.judging import judge, judge_attempts
from kolmocli.tasks.outcome import Outcome, Terms
from kolmocli.tasks.reward import Relative

TERMS = Terms(Relative(0.25))
SQUARE = "def f(x):\n    return x * x"
SAME = "def f(x):\n    return x"


def task(code: str, opening: str = "", functions: Sequence[str] = ("f",)) -> CodeTask:
    return CodeTask(prompt="f", tests=Asserts(code, functions, opening, "these"), entry_point="f", credit="share")


def plan(box: Sandbox, given: CodeTask) -> Checks | Rounds | Broken | None:
    judge([given], [""], box, TERMS)
    assert isinstance(given.tests, Asserts)
    found = given.tests.plan
    return found.plan if isinstance(found, Asserts) else found  # type: ignore[return-value]


def rewards(box: Sandbox, code: str, *programs: str, opening: str = "") -> list[float | None]:
    given = task(code, opening)
    return [outcome.reward for outcome in judge([given] * len(programs), programs, box, TERMS)]


# --- the plan


@pytest.mark.docker
def test_asserts_of_equality_become_checks(docker_box: Sandbox) -> None:
    code = (
        "n = 2 + 1\nassert f(n) == 9, 'no'\nassert [1] * 2 == f([n])\nassert not f(0)\nassert f(x=1, y=(2,))\n"
        "assert f(5) is None\nassert True is f(6)\nassert n == 3\nfor i in range(2):\n    assert f(i) == i * i"
    )
    assert plan(docker_box, task(code)) == Checks(
        (
            Check(Call.of("f", 3), 9), Check(Call.of("f", [3]), [1, 1]), Check(Call.of("f", 0), relation="false"),
            Check(Call.of("f", x=1, y=(2,)), relation="true"), Check(Call.of("f", 5), None, "is"),
            Check(Call.of("f", 6), True, "is"), Check(Call.of("f", 0), 0), Check(Call.of("f", 1), 1),
        )
    )  # fmt: skip


@pytest.mark.docker
@pytest.mark.parametrize(
    ("code", "calls"),
    [
        ("assert abs(f(2) - 4) < 1e-6", [2]),
        ("assert f(1) != 2", [1]),
        ("assert f(1) > 0\nassert f(2) == 4", [1, 2]),
        ("assert f(1) == 1 and f(2) == 4", [1, 2]),
        ("assert all(f(i) == i for i in range(3))", [0, 1, 2]),
        ("assert f(f(3)) == 81", [3]),
        ("for each in f(3):\n    assert each", [3]),
        ("assert type(f(3)) is int", [3]),
        ("assert type(f(3)) == int", [3]),
        ("assert isinstance(f(3), int)", [3]),
        ("assert f(3) is not None", [3]),
        ("assert f(3) in [9]", [3]),
        ("assert f(3) in {9: 1}", [3]),
        ("assert str(f(3)) == '9'", [3]),
        ("assert ''.join([f(3)]) == '9'", [3]),
        ("assert [f(3)] == [9]", [3]),
        ("assert (f(3) == 9) == True", [3]),
        ("assert f(1) == f(2)", [1, 2]),
        ("x = f(3)\nassert x == 9\nassert x == 9.0", [3]),
        ("f(1)\nassert f(3) == 9", [1, 3]),
        ("assert f(3) == (lambda: 9)", [3]),
        ("try:\n    assert f(3) == 9\nexcept ValueError:\n    pass", [3]),
        ("if f(3):\n    assert f(4) == 16", [3, 4]),
        ("while f(1):\n    assert f(2)", None),
        ("import copy\nassert copy.deepcopy(f(3)) == 9", [3]),
        ("import json\nassert json.dumps(f(3)) == '9'", [3]),
        ("try:\n    x = f(3) + 1\nexcept:\n    x = 0\nassert f(4) == 16", [3, 4]),
    ],
)
def test_whatever_else_is_asked_takes_the_values(docker_box: Sandbox, code: str, calls: list[int] | None) -> None:
    found = plan(docker_box, task(code))
    assert isinstance(found, Rounds)
    assert calls is None or in_order(found.parts) == tuple(Call.of("f", each) for each in calls)


@pytest.mark.docker
@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import numpy\nassert f(1) == 1", "NotImportable: numpy"),
        (
            "class Own: pass\nassert f(Own()) == 1",
            "f() is given a value of type Own; only plain values go to a program",
        ),
        ("assert g(1) == 1", "they never call f"),
        ("x = 1 / 0\nassert f(1) == 1", "ZeroDivisionError: division by zero"),
        ("f(1)\nif False:\n    assert f(1)", "no assert is reached"),
        ("while True:\n    pass\nassert f(1)", "they have to be run, which ends with TLE_CPU over the CPU time"),
    ],
)
def test_tests_that_cannot_be_used_judge_nobody(
    docker_box: Sandbox, caplog: pytest.LogCaptureFixture, code: str, why: str
) -> None:
    given = task(code)
    with caplog.at_level(logging.WARNING):
        outcomes = judge([given] * 2, [SQUARE, SAME], docker_box, TERMS)
    assert [(outcome.passed, outcome.reward, outcome.status) for outcome in outcomes] == [
        (False, None, Status.INFRA)
    ] * 2
    assert caplog.messages == [f"the tests of these cannot be used: {why}"]
    assert plan(docker_box, given) == Broken(why)


def test_the_embedded_sandbox_says_that_it_cannot_run_tests(embedded_box: Sandbox) -> None:
    found = plan(embedded_box, task("assert abs(f(2) - 4) < 1e-6"))
    assert isinstance(found, Broken) and "DENIED the embedded sandbox does not run" in found.why


# --- what programs come to


@pytest.mark.docker
@pytest.mark.parametrize(
    ("code", "of_square", "of_same"),
    [
        ("n = 3\nassert f(n) == 9\nassert f(1) == 1", 1.0, 0.5),
        ("assert abs(f(2) - 4) < 1e-6\nassert f(1) == 1", 1.0, 0.5),
        ("assert f(f(f(2))) == 256\nassert f(1) == 1", 1.0, 0.5),
        ("for i in range(f(2)):\n    assert f(i) == i * i", 1.0, 1.0),
        ("assert all(f(f(i)) == i ** 4 for i in range(9))", 1.0, 0.0),
        ("x = f(3)\nassert x == 9\nassert 1 / (x - 3)\nassert x - 3\nassert x", 1.0, 0.25),
        ("assert f(2) == 4\nx = 1 / (f(3) - 3)", 1.0, 0.0),
        ("assert f(0) is not None\nassert f(3) in {9}", 1.0, 0.5),
        ("assert f(3) == 9 or f(3) == 3", 1.0, 1.0),
        ("try:\n    assert f(3) == 9\nexcept KeyError:\n    pass", 1.0, 0.0),
        ("if __name__ == '__main__':\n    assert f(3) == 9", 1.0, 0.0),
    ],
)
def test_programs_are_judged_by_every_assert(docker_box: Sandbox, code: str, of_square: float, of_same: float) -> None:
    assert rewards(docker_box, code, SQUARE, SAME) == [of_square, of_same]


@pytest.mark.docker
def test_exceptions_come_to_the_tests(docker_box: Sandbox) -> None:
    code = "try:\n    f(-1)\n    assert False\nexcept ValueError:\n    pass\nassert f(1) == 1"
    raising = "def f(x):\n    if x < 0: raise ValueError\n    return x"
    other = raising.replace("ValueError", "KeyError")
    own = "class ValueError(Exception):\n    pass\n" + raising
    assert rewards(docker_box, code, raising, SAME, other, own) == [1.0, 0.0, 0.0, 0.0]
    opening = "class Wrong(Exception):\n    pass\n"
    wrong = opening + raising.replace("ValueError", "Wrong")
    assert rewards(docker_box, code.replace("ValueError", "Wrong"), wrong, raising, opening=opening) == [1.0, 0.0]


EXPECTING = [
    "try:\n    f(-1)\n    assert False\nexcept KeyError:\n    assert False\nexcept:\n    pass",
    "try:\n    f(-1)\n    assert False\nexcept ValueError:\n    pass",
    "try:\n    f(-1)\nexcept ValueError:\n    pass\nelse:\n    assert False, 'no'",
    "try:\n    f(-1)\n    raise AssertionError('no')\nexcept ValueError:\n    pass",
    "try:\n    found = f(-1)\nexcept ValueError:\n    found = None\nassert found is None",
    "for x, wanted in [(1, 1), (-1, None)]:\n    try:\n        found = f(x)\n    except ValueError:\n        found = None\n    assert found == wanted",
    "import contextlib\nfound = None\nwith contextlib.suppress(ValueError):\n    found = f(-1)\nassert found == None",
    "def raises(g):\n    try:\n        g(-1)\n    except ValueError:\n        return True\nif not raises(f):\n    raise AssertionError('no')",
]  # fmt: skip


@pytest.mark.docker
@pytest.mark.parametrize("code", EXPECTING)
def test_an_exception_may_be_expected_in_many_ways(docker_box: Sandbox, code: str) -> None:
    """Also by tests of which no assert is reached when all is right."""
    raising = "def f(x):\n    if x < 0:\n        raise ValueError\n    return x\n"
    wrong = [raising.replace("ValueError", "KeyError"), "def f(x):\n    return x\n"]
    assert [reward == 1.0 for reward in rewards(docker_box, code, raising, *wrong)] == [True, False, False]


@pytest.mark.docker
def test_a_test_that_catches_its_own_assert_does_not_hold(docker_box: Sandbox) -> None:
    code = "try:\n    f(-1)\n    assert False\nexcept Exception:\n    pass"
    assert rewards(docker_box, code, SAME, "def f(x):\n    raise ValueError") == [0.0, 1.0]


@pytest.mark.docker
def test_what_an_exception_says_comes_to_the_tests(docker_box: Sandbox) -> None:
    code = plain_tests(
        "import pytest\n"
        "def test_type():\n    with pytest.raises(ValueError, match='^no number: x'):\n        f('x')\n"
        "def test_key():\n    with pytest.raises(LookupError) as e:\n        f('y')\n    assert str(e.value) == repr('y')\n"
        "def test_value():\n    assert f('3') == 3"
    )
    program = (
        "class Odd(ValueError): pass\ndef f(x):\n    if x == 'y': raise {key}('y')\n"
        "    if not x.isdigit(): raise {kind}('{said}: ' + x)\n    return int(x)"
    )
    right, said, kind, key = (
        program.format(kind=kind, said=said, key=key)
        for kind, said, key in [
            ("Odd", "no number", "KeyError"), ("ValueError", "a number", "KeyError"),
            ("TypeError", "no number", "KeyError"), ("Odd", "no number", "IndexError"),
        ]
    )  # fmt: skip
    assert rewards(docker_box, code, right, said, kind, key)[0] == 1.0
    assert all(reward < 1.0 for reward in rewards(docker_box, code, said, kind, key) if reward is not None)


@pytest.mark.docker
def test_what_is_not_plain_is_what_it_is_in_python(docker_box: Sandbox) -> None:
    generator = "def f(x):\n    yield x"
    assert rewards(docker_box, "assert f(3) != 4\nassert list(f(3)) == [3]\nassert f(3)", generator) == [1.0]
    assert rewards(docker_box, "assert f(3) == [3]\nassert list(f(3)) == [4]\nassert not f(3)", generator) == [0.0]


@pytest.mark.docker
def test_a_program_may_remember(docker_box: Sandbox) -> None:
    """All calls are made in one process, in the order of the tests."""
    counter = "n = 0\ndef f():\n    global n\n    n += 1\n    return n"
    assert rewards(docker_box, "one = 1\nassert f() == one\nassert f() == 2", counter) == [1.0]
    assert rewards(docker_box, "assert f() < 2\nassert f() > 1\nassert f() + f() == 7", counter) == [1.0]


@pytest.mark.docker
def test_the_prompts_own_functions_are_there_for_the_tests(docker_box: Sandbox) -> None:
    opening = "import math\ndef twice(x):\n    return 2 * x\ndef f(x):\n    pass\n"
    code = "for i in range(3):\n    assert f(twice(i)) == math.pow(i, 2) * 4"
    assert rewards(docker_box, code, SQUARE, SAME, opening=opening) == [1.0, pytest.approx(1 / 3)]


@pytest.mark.docker
def test_random_tests_repeat(docker_box: Sandbox) -> None:
    code = "import random\nfor _ in range(9):\n    n = random.randrange(99)\n    assert abs(f(n) - n * n) < 1"
    assert rewards(docker_box, code, SQUARE, SQUARE) == [1.0, 1.0]


@pytest.mark.docker
def test_programs_that_break_off_the_tests(docker_box: Sandbox) -> None:
    code = "for i in range(f(1)):\n    assert i < f(2)\nassert f(3) == 9"
    endless = "def f(x):\n    return 1 << 60"
    given = task(code)
    programs = [endless, "def f(x:", "def f(x):\n    while 1: pass", "def g(x): pass"]
    outcomes = judge([given] * 4, programs, docker_box, TERMS)
    assert [outcome.status for outcome in outcomes] == [Status.TLE_CPU, Status.SYNTAX, Status.TLE_CPU, Status.RUNTIME]
    assert [outcome.passed for outcome in outcomes] == [False] * 4
    assert all(outcome.reward is not None for outcome in outcomes)


# --- stages


class Recording:
    """A sandbox that notes its batches."""

    def __init__(self, box: Sandbox) -> None:
        self.box = box
        self.batches: list[list[Job]] = []

    def run(self, jobs: Sequence[Job]) -> list[Verdict]:
        self.batches.append(list(jobs))
        return self.box.run(jobs)


@pytest.mark.docker
def test_a_plan_is_made_once_and_a_winner_runs_elsewhere(docker_box: Sandbox) -> None:
    box, given = Recording(docker_box), task("n = 3\nassert f(n) == 9")
    judge([given] * 3, [SQUARE, SAME, SQUARE], box, TERMS)  # type: ignore[arg-type]
    planning, first, again = box.batches
    assert len(planning) == 1 and SQUARE not in planning[0].program
    assert [job.program for job in first] == [SQUARE, SAME]
    assert [(job.program, job.avoid is not None) for job in again] == [(SQUARE, True)]
    box.batches.clear()
    judge([given], [SAME], box, TERMS)  # type: ignore[arg-type]
    assert [[job.program for job in batch] for batch in box.batches] == [[SAME]]


@pytest.mark.docker
def test_the_expected_values_never_go_where_the_program_does(docker_box: Sandbox) -> None:
    box, given = (
        Recording(docker_box),
        task("secret = 9000 + 9\nassert abs(f(2) - secret) < 1\nassert f(3) == 'hidden'"),
    )
    judge([given], ["def f(x):\n    return 9009"], box, TERMS)  # type: ignore[arg-type]
    programs = [job for batch in box.batches for job in batch if job.calls]
    assert len(programs) == 1
    assert not any(word in repr(programs[0].calls) for word in ("9009", "secret", "hidden"))


@pytest.mark.docker
def test_rounds_end(docker_box: Sandbox) -> None:
    """Calls that depend on results may go on for ever."""
    box, given = Recording(docker_box), task("x = 1\nwhile x:\n    x = f(x)\nassert x == 0")
    outcome = judge([given], ["def f(x):\n    return x + 1"], box, TERMS)[0]  # type: ignore[arg-type]
    assert (outcome.passed, outcome.reward) == (False, 0.0)
    assert len(box.batches) == 1 + 2 * MOST_ROUNDS
    assert judge([given], ["def f(x):\n    return (x + 1) % 9"], docker_box, TERMS)[0].passed


LINES = "def line(at):\n    return at + 1\n"


@pytest.mark.docker
def test_tests_that_wait_for_results_wait_together(docker_box: Sandbox) -> None:
    each = "def test_{n}():\n    at = line({n})\n    for _ in range(3):\n        at = line(at + 1)\n    assert at == {n} + 7\n"
    box, given = (
        Recording(docker_box),
        task(plain_tests("".join(each.format(n=n) for n in range(20))), functions=("line",)),
    )
    assert judge([given], [LINES], box, TERMS)[0].passed  # type: ignore[arg-type]
    assert len(box.batches) == 1 + 2 * (2 * 4)  # a winner is judged twice, in rounds of two runs
    assert not judge([given], [LINES.replace("at + 1", "at + 1 + (at == 22)")], docker_box, TERMS)[0].passed


@pytest.mark.docker
@pytest.mark.parametrize(
    "first, program, left",
    [
        ("x = f(1)\n    assert f(x + 1) == 2", "    return len(log)", 2),
        ("if f(1):\n        f(2)", "    return len(log) > 1", 1),
    ],
    ids=["asks for more later", "asked for too much"],
)
def test_what_a_test_finds_is_what_those_before_it_left(
    docker_box: Sandbox, first: str, program: str, left: int
) -> None:
    """Though it was asked about before those before it had gone on."""
    begun = "log = []\ndef f(x):\n    log.append(x)\n"
    code = plain_tests(f"def test_a():\n    {first}\ndef test_b():\n    assert seen() == {left}\n")
    programs = [f"{begun}{program}\ndef seen():\n    return len(log){more}\n" for more in ("", " + 1")]
    outcomes = judge([task(code, functions=("f", "seen"))] * 2, programs, docker_box, TERMS)
    assert [outcome.passed for outcome in outcomes] == [True, False]


class Faulty:
    """A sandbox that fails at the n-th batch."""

    def __init__(self, box: Sandbox, batch: int) -> None:
        self.box, self.left = box, batch

    def run(self, jobs: Sequence[Job]) -> list[Verdict]:
        self.left -= 1
        return self.box.run(jobs) if self.left else [Verdict(Status.INFRA)] * len(jobs)


@pytest.mark.docker
@pytest.mark.parametrize("batch", [1, 2, 3, 4, 5])
def test_a_fault_at_any_stage_is_no_failure_and_no_plan(docker_box: Sandbox, batch: int) -> None:
    """Planning, the calls, the tests; the calls again and the tests again."""
    given = task("assert abs(f(2) - 4) < 1")
    outcome = judge([given], [SQUARE], Faulty(docker_box, batch), TERMS)[0]  # type: ignore[arg-type]
    assert (outcome.passed, outcome.reward, outcome.status) == (False, None, Status.INFRA)
    assert judge([given], [SQUARE], docker_box, TERMS)[0].passed


@pytest.mark.docker
def test_tests_travel(docker_box: Sandbox) -> None:
    """As they do to generators on other hosts, before and after they have a plan."""
    given = task("assert abs(f(2) - 4) < 1")
    for _ in range(2):
        given = pickle.loads(pickle.dumps(given))
        assert judge([given], [SQUARE], docker_box, TERMS)[0].passed


def test_attempts_may_be_without_a_job_at_one_stage() -> None:
    """And are not confirmed, where nothing was run at any."""

    class Second:
        job = None

        def outcome(self, verdict: Verdict | None) -> Outcome:
            assert verdict is None
            return Outcome("text", 1, True, Status.OK, 1.0)

    class First(Second):
        def outcome(self, verdict: Verdict | None) -> Second:  # type: ignore[override]
            assert verdict is None
            return Second()

    assert [outcome.passed for outcome in judge_attempts([First(), Second()], None)] == [True, True]


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("assert f(3) ==", "the tests do not compile: line 1: invalid syntax"),
        ("x = f(3)", "the tests assert nothing"),
        ("", "the tests assert nothing"),
        ("assert f('\0')", "the tests do not compile"),
    ],
)
def test_tests_that_are_none(code: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Asserts(code, ["f"])


def test_a_job_of_the_tester_is_a_script() -> None:
    job = Asserts("assert f(3) == 9", ["f"]).job(((0, (Call.of("f", 3),)),), [float("nan")])
    (request,) = job.inputs
    assert json.loads(request)["known"] == [[0, [["f", '[[3],{"d":[]}]']]]]
    assert json.loads(request)["results"] == [{"x": "nan"}]
    assert "\nfrom kolmocli" not in job.program
