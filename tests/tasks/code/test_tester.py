"""The tester as a module of this process: what it notes of tests of our own, without and with results."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kolmocli.sandbox.base import Call, Opaque, Raised
from kolmocli.tasks.code import tester
from kolmocli.tasks.code.asserts import Asserts

ONE = Call.of("f", 1)
TWO = Call.of("f", 2)


def report(code: str, calls: list[Call] | None = None, results: list[Any] | None = None) -> dict[str, Any]:
    job = Asserts(code, ["f"]).job(((0, tuple(calls or ())),), results or [])
    found: dict[str, Any] = json.loads(tester.main(job.inputs[0]))
    return found | {"calls": [call for _, part in found["calls"] for call in part]}


@pytest.mark.parametrize(
    ("code", "noted"),
    [
        ("assert f(1) == [2]", [[0, "equal", [2]]]),
        ("assert (1,) == f(1)", [[0, "equal", {"t": [1]}]]),
        ("assert f(1)", [[0, "true", {"n": 0}]]),
        ("assert not f(1)", [[0, "false", {"n": 0}]]),
        ("assert f(1) is None", [[0, "is", {"n": 0}]]),
        ("assert False is f(1)", [[0, "is", False]]),
        ("assert 1 < 2\nassert 1 > 2", [True, False]),
        ("assert 1 / 0\nassert f(1) == 2", [False, [0, "equal", 2]]),
    ],
)
def test_what_is_noted_without_results(code: str, noted: list[Any]) -> None:
    found = report(code)
    assert (found["asserts"], found["blocked"], found["error"]) == (noted, False, None)


@pytest.mark.parametrize(
    "code",
    [
        "assert f(1) + 1", "assert 1 + f(1)", "assert f(1)[0]", "assert f(1).real", "assert f(1)()", "assert len(f(1))",
        "assert f(1) < 2", "assert f(1) != 2", "assert {f(1)}", "assert f(1) is not None", "assert type(f(1))",
        "assert isinstance(f(1), int)", "assert str(f(1))", "assert f'{f(1)}'", "assert list(f(1))", "assert 1 in f(1)",
        "assert f(1) in [2]", "assert f(1) is f(1)", "assert not (f(1) == 2)", "assert (f(1) == 2) == True",
        "assert [f(1)] == [2]", "assert f(f(1))", "x = 1 if f(1) else 2", "x, y = f(1)", "with f(1):\n    pass",
        "import copy\ncopy.copy(f(1))", "import math\nmath.fabs(f(1))", "assert f(1) == f(2)", "assert f(1) == object()",
    ],
)  # fmt: skip
def test_what_needs_a_result_is_never_taken_for_read(code: str) -> None:
    found = report(f"{code}\nassert True")
    assert found["blocked"] and found["open"]
    assert found["calls"][0] == ["f", ONE.code]


@pytest.mark.parametrize(
    ("code", "asserts", "error"),
    [
        ("assert f(1) == 5\nassert f(2) > 6", [True, True], None),
        ("assert f(1) == 6\nassert f(2)", [False, True], None),
        ("assert f(1) / 0\nassert f(2)", [False, True], None),
        ("x = f(1)\ny = 1 / (x - 5)\nassert f(2)", [], "ZeroDivisionError: division by zero"),
        ("try:\n    assert f(1) == 6\nexcept AssertionError:\n    assert f(2)", [True], None),
        ("try:\n    assert f(1) == 6\nfinally:\n    f(2)", [], "AssertionError: "),
    ],
)
def test_the_tests_run_with_results(code: str, asserts: list[bool], error: str | None) -> None:
    found = report(code, [ONE, TWO], [5, 7])
    assert (found["asserts"], found["error"], found["open"], found["blocked"]) == (asserts, error, False, False)


def test_results_hold_as_far_as_the_calls_are_the_ones_that_were_made() -> None:
    found = report("assert f(2) == 7\nassert f(1) == 5", [ONE, TWO], [5, 7])
    assert found["open"]
    assert found["calls"] == [["f", TWO.code], ["f", ONE.code]]
    assert found["asserts"] == [[0, "equal", 7], [1, "equal", 5]]


@pytest.mark.parametrize(
    ("result", "kinds"),
    [
        (Raised("KeyError"), "KeyError LookupError Exception"),
        (
            Raised("UnicodeDecodeError"),
            "UnicodeDecodeError UnicodeError ValueError Exception",
        ),  # made from five arguments
        (Raised("JSONDecodeError(ValueError)"), "ValueError Exception"),
        (Raised("Mine(Exception)"), "Exception"),
        (Raised("__bench__"), "Foreign Exception"),
        (Raised("ExceptionGroup", "two"), "Foreign Exception"),
        (Raised("KeyError", "{[]: 1}"), "KeyError LookupError Exception"),
    ],
)
def test_what_is_raised_or_not_plain_is_raised_again(result: Raised, kinds: str) -> None:
    code = (
        "try:\n    f(1)\nexcept Exception as error:\n    kinds = [each.__name__ for each in type(error).__mro__]\n"
        f"assert kinds[:-2] == {kinds.split()!r}, kinds"
    )
    assert report(code, [ONE], [result])["asserts"] == [True]


@pytest.mark.parametrize("named", ["SystemExit", "KeyboardInterrupt"])
def test_what_ends_a_program_is_no_exception_that_tests_catch(named: str) -> None:
    found = report("try:\n    f(1)\nexcept Exception:\n    pass\nassert True", [ONE], [Raised(named)])
    assert (found["asserts"], found["error"]) == ([], f"{named}: ")
    expected = f"try:\n    f(1)\nexcept {named}:\n    pass\nassert True"
    assert report(expected, [ONE], [Raised(named)])["asserts"] == [True]


def test_what_cannot_be_seen_is_no_exception_that_tests_expect() -> None:
    code = "try:\n    f(1)\nexcept {}:\n    pass\nassert True"
    assert report(code.format("Exception"), [ONE], [Opaque("generator")])["asserts"] == [True, False]
    found = report(code.format("TypeError"), [ONE], [Opaque("generator")])
    assert (found["asserts"], found["error"]) == ([], "Foreign: generator is no plain value")
    once = report("assert True\nassert f(1) == 2\nassert True", [ONE], [Opaque("generator")])
    assert once["asserts"] == [True, False, True], "an assert counts once"


def test_a_loop_that_a_guess_keeps_going_ends() -> None:
    found = report("n = 0\nwhile f(n):\n    n += 1\nassert n")
    assert found["blocked"] and len(found["calls"]) == 257


def test_what_cannot_be_sent_to_a_program_is_said() -> None:
    assert report("assert f(len) == 3")["unfit"] == (
        "f() is given a value of type builtin_function_or_method; only plain values go to a program"
    )
