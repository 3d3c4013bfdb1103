"""Tests that the host knows as calls and what they have to return: one job per program, compared here."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from kolmocli.sandbox.base import Call, Job, Raised, Verdict
from kolmocli.tasks.base import Attempt
from kolmocli.tasks.code.judge import Second, Submission, returns_objects
from kolmocli.tasks.outcome import Outcome

Relation = Literal["equal", "true", "false", "is", "json", "wrapped", "near", "members", "root"]
"""Relation of a result to the expected value: equal, true, false, or the very None, True or False that is expected.

`json`: equal where JSON cannot tell them apart, so that a tuple is a list and a key a text. `wrapped`: the same, and what is
expected may stand in a list of its own, as APPS has it. `near`: equal, or numbers within the tolerance, as EvalPlus has it. `members`: the
same ones, in any order. `root`: a zero of the polynomial whose coefficients are expected.
"""
Otherwise = Callable[[Submission], Attempt]
"""How the same tests judge a program that returns objects."""
_USUAL = 1e-6
"""The tolerance of EvalPlus where a task has floats and names none."""
_RELATIVE = 1e-7
_ROOT = 1e-4
"""Distance from zero that HumanEval/32 allows a polynomial."""


@dataclass(frozen=True, slots=True)
class Check:
    """One call, and what its result has to be.

    Results are plain values of exact built-in types, so that `==` is Python's own: True equals 1, and nan not itself. An exception,
    or a value that is not plain, passes nothing.
    """

    call: Call
    expected: Any = None
    relation: Relation = "equal"
    tolerance: float = 0.0
    """Absolute tolerance of `near`; 0 for the usual one where floats are expected."""

    def holds(self, result: Any) -> bool:
        if isinstance(result, Raised):
            return False
        if self.relation == "equal":
            return bool(result == self.expected)
        if self.relation == "is":
            return result is self.expected
        if self.relation in ("json", "wrapped"):
            made, wanted = _as_json(result), _as_json(self.expected)
            return bool(made == wanted) or (self.relation == "wrapped" and bool([made] == wanted))
        if self.relation == "near":
            return near(result, self.expected, self.tolerance or (_USUAL if _has_floats(self.expected) else 0.0))
        if self.relation == "members":
            return _members(result) == _members(self.expected) is not None
        if self.relation == "root":
            return _is_number(result) and _is_root(result, self.expected)
        return bool(result) is (self.relation == "true")


@dataclass(frozen=True, slots=True)
class Checks:
    """Checks in the order in which the calls are made, in one process."""

    checks: tuple[Check, ...]
    otherwise: Otherwise | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not self.checks:
            raise ValueError("no checks")

    def attempt(self, submission: Submission) -> Attempt:
        return CheckedCalls(self.checks, submission, self.otherwise)


@dataclass(frozen=True, slots=True)
class CheckedCalls:
    """A program and the calls that it is judged by."""

    checks: tuple[Check, ...]
    submission: Submission
    otherwise: Otherwise | None = None

    @property
    def job(self) -> Job | None:
        return self.submission.job(calls=[check.call for check in self.checks])

    def outcome(self, verdict: Verdict | None) -> Outcome | Attempt:
        assert verdict is not None
        made = len(verdict.trace)
        held = [i < made and check.holds(verdict.trace[i]) for i, check in enumerate(self.checks)]
        found = self.submission.outcome(verdict, held)
        if self.otherwise is None or not returns_objects(verdict):
            return found
        return Second(self.otherwise(self.submission), found)


def near(made: Any, wanted: Any, tolerance: float) -> bool:
    """Whether a value is what is wanted, where numbers may differ a little. A list is no tuple then either."""
    if bool(made == wanted):
        return True
    if not tolerance or type(made) is not type(wanted):
        return bool(tolerance) and _is_number(made) and _is_number(wanted) and _close(made, wanted, tolerance)
    if isinstance(wanted, list | tuple):
        return len(made) == len(wanted) and all(map(lambda a, b: near(a, b, tolerance), made, wanted))
    if isinstance(wanted, dict):
        return made.keys() == wanted.keys() and all(near(made[key], wanted[key], tolerance) for key in wanted)
    return _is_number(wanted) and _close(made, wanted, tolerance)


def _close(made: Any, wanted: Any, tolerance: float) -> bool:
    try:
        both_nan = made != made and wanted != wanted
        return both_nan or math.isclose(made, wanted, rel_tol=0.0, abs_tol=tolerance + _RELATIVE * abs(wanted))
    except (OverflowError, ValueError):
        return False


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _has_floats(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_floats, value.values()))
    return any(map(_has_floats, value)) if isinstance(value, list | tuple) else type(value) is float


def _as_json(value: Any) -> Any:
    """The value as it comes back from JSON."""
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(key): _as_json(each) for key, each in value.items()}
    return [_as_json(each) for each in value] if isinstance(value, list | tuple) else value


def _members(value: Any) -> frozenset[Any] | None:
    try:
        return frozenset(value)
    except TypeError:
        return None


def _is_root(x: float, coefficients: Any) -> bool:
    try:
        return abs(sum(c * x**power for power, c in enumerate(coefficients))) <= _ROOT
    except (OverflowError, TypeError):
        return False
