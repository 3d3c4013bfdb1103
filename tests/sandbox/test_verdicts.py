"""Reports that a program wrote itself: what is too long or does not fit is no value, whoever says that all is well."""

from __future__ import annotations

import pytest

from kolmocli.sandbox.base import Job, Limits, Status
from kolmocli.sandbox.wire.verdicts import read_output

LIMITS = Limits(max_items=3, output_bytes=40)
JOB = Job("x = [1]")


def said(lines: str, count: int = 1) -> tuple[int, tuple[object, ...], Status | None, str]:
    return read_output(f"{count}\n{lines}!{Status.OK.value}\n".encode(), JOB, LIMITS)


def test_values_of_the_allowed_length_are_read() -> None:
    assert said("[1,2,3]\n[4]\n", 2) == (2, ((1, 2, 3), (4,)), Status.OK, "")


def test_a_longer_value_is_none() -> None:
    assert said("[1,2,3,4]\n") == (1, (), Status.RUNTIME, "a report that does not fit the program")


def test_a_report_of_as_many_bytes_as_are_allowed_is_read() -> None:
    line = "[" + "1" * (LIMITS.output_bytes - 3) + "]\n"
    assert len(line) == LIMITS.output_bytes
    assert said(line)[1] == ((int("1" * (LIMITS.output_bytes - 3)),),)


def test_a_longer_report_is_over_the_limit_and_says_nothing() -> None:
    line = "[" + "1" * (LIMITS.output_bytes - 2) + "]\n"
    assert said(line) == (1, (), Status.OLE, "over the output limit")


@pytest.mark.parametrize("lines", ["[1]\n[2]\n", "{}\n", "[true]\n", "[1.0]\n", '["1"]\n', "1\n"])
def test_what_is_no_sequence_of_integers_for_each_statement_is_none(lines: str) -> None:
    assert said(lines)[1:3] == ((), Status.RUNTIME)
