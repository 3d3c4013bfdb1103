from __future__ import annotations

import math

import pytest

from kolmocli.monitor.words import compact, decimal, duration, number, percent, rate, so_far
from kolmocli.pace import Reached


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, ".50"),
        (0.0, ".00"),
        (1.0, "1.00"),
        (-0.25, "-.25"),
        (12.345, "12.35"),
        (0.996, "1.00"),
        (None, "–"),
    ],
)
def test_rate(value: float | None, text: str) -> None:
    assert rate(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (987, "987"),
        (5376, "5.4k"),
        (9960, "10k"),
        (3_100_000, "3.1M"),
        (2.5e10, "25G"),
        (None, "–"),
    ],
)
def test_compact(value: float | None, text: str) -> None:
    assert compact(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.00"),
        (0.01234, "0.0123"),
        (1.234, "1.23"),
        (12.34, "12.3"),
        (123.4, "123"),
        (-0.5, "-0.500"),
        (5e3, "5.0k"),
    ],
)
def test_decimal(value: float, text: str) -> None:
    assert decimal(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0:00"), (31.2, "0:31"), (59.6, "1:00"), (3725, "1:02:05"), (-3, "0:00"), (None, "–")],
)
def test_duration(value: float | None, text: str) -> None:
    assert duration(value) == text


@pytest.mark.parametrize(
    ("reached", "text"),
    [
        (Reached(0, 512, "rollouts", 3.0), "0/512 rollouts"),
        (Reached(128, 512, "rollouts", 40.0), "128/512 rollouts, 3.2/s, 2:00 left"),
        (Reached(5, 24, "steps", 28.0), "5/24 steps, 5.6 s each, 1:46 left"),
        (Reached(2048, None, "programs", 10.0), "2,048 programs, 204.8/s"),
    ],
)
def test_how_far_it_is(reached: Reached, text: str) -> None:
    assert so_far(reached) == text


def test_what_is_missing_or_not_finite_is_no_number() -> None:
    record = {"a": 1, "b": math.nan, "c": None, "d": "x"}
    assert [number(record, key) for key in "abcde"] == [1.0, None, None, None, None]
    assert number(None, "a") is None
    assert percent(None) == "–" and percent(0.125) == "12%"
