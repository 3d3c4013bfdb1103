"""Curves of pass rates: counts, intervals of alike rollouts, the crossing."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from kolmocli.evaluation.calibration import family_record, level_record, non_increasing
from kolmocli.evaluation.intervals import pass_rate_interval, wilson
from kolmocli.sandbox.base import Status
from kolmocli.tasks.outcome import Outcome

PASS = Outcome("", 1, True, Status.OK, 1.0)
FAIL = Outcome("", 1, False, Status.OK, 0.0)
LOST = Outcome("", 1, False, Status.INFRA, None)


def curve(*rates: float, n: int = 1000) -> list[dict[str, object]]:
    return [
        {"level": i, "pass_rate": rate, "n": n, "ci": list(wilson(rate * n, n))}
        for i, rate in enumerate(rates, start=1)
    ]


def test_rollouts_that_the_sandbox_lost_count_nowhere() -> None:
    record = level_record(2, [[PASS, FAIL, PASS, FAIL], [PASS, LOST, LOST, FAIL], [LOST] * 4])
    clean = level_record(2, [[PASS, FAIL, PASS, FAIL], [PASS, FAIL]])
    assert record == {**clean, "masked": 6}
    assert (record["level"], record["pass_rate"], record["n"], record["tasks"], record["dead"]) == (2, 0.5, 6, 2, 0.0)
    assert record["signal"] == pytest.approx((2 * 2 / 12 + 1 / 2) / 2)


def test_nothing_judged_is_no_number() -> None:
    record = level_record(1, [[LOST, LOST]])
    assert [record[key] for key in ("pass_rate", "signal", "bits", "dead")] == [None] * 4
    assert record["ci"] == [0.0, 1.0]
    assert family_record([record], 0.5)["state"] == "unknown"


def test_rollouts_of_one_task_are_worth_less_the_more_alike_they_are() -> None:
    mixed, alike = [(4, 8)] * 10, [(8, 8), (0, 8)] * 5
    assert pass_rate_interval(mixed) == wilson(40, 80)
    low, high = pass_rate_interval(alike)
    assert (low, high) == pytest.approx(wilson(5, 10))
    assert pass_rate_interval([(8, 8)] * 10) == wilson(10, 10)


def test_coverage_where_tasks_differ() -> None:
    """Plain Wilson over all rollouts holds a mean of 0.5 in 74 % of the draws here."""
    rng, held, plain, draws = random.Random(0), 0, 0, 400
    for _ in range(draws):
        rates = [rng.betavariate(1, 1) for _ in range(16)]
        groups = [(sum(rng.random() < p for _ in range(8)), 8) for p in rates]
        low, high = pass_rate_interval(groups)
        held += low <= 0.5 <= high
        low, high = wilson(sum(k for k, _ in groups), 128)
        plain += low <= 0.5 <= high
    assert 0.91 <= held / draws <= 0.99
    assert plain / draws < 0.85


@pytest.mark.parametrize(
    ("rates", "state", "crossing"),
    [
        ((0.9, 0.7, 0.3, 0.1), "crosses", 2.5),
        ((0.9, 0.5, 0.3), "crosses", 2.0),
        ((0.9, 0.8), "above", None),
        ((0.4, 0.1), "below", None),
        ((0.9, 0.4, 0.6, 0.1), "crosses", 3.0),
    ],
)
def test_where_the_target_is_crossed(rates: tuple[float, ...], state: str, crossing: float | None) -> None:
    record = family_record(curve(*rates), 0.5)
    assert record["state"] == state
    assert record["crossing"] == (None if crossing is None else pytest.approx(crossing))


def test_a_level_that_is_clearly_easier_than_one_before_is_named() -> None:
    assert family_record(curve(0.9, 0.3, 0.6, 0.5), 0.5)["misordered"] == [3, 4]
    assert family_record(curve(0.9, 0.3, 0.6, n=6), 0.5)["misordered"] == []


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(1, 50)), min_size=1, max_size=8))
def test_the_ordered_curve(points: list[tuple[float, int]]) -> None:
    fitted = non_increasing(points)
    assert len(fitted) == len(points)
    assert all(a >= b for a, b in pairwise(fitted))
    weight = sum(w for _, w in points)
    assert sum(f * w for f, (_, w) in zip(fitted, points, strict=True)) / weight == pytest.approx(
        sum(v * w for v, w in points) / weight
    )
    falling = sorted((v for v, _ in points), reverse=True)
    assert non_increasing([(v, 1.0) for v in falling]) == falling
