"""What a run has left to control."""

from __future__ import annotations

import pytest

from kolmocli.curriculum.base import Bucket, FamilyMetrics, Result
from kolmocli.monitor.records import BucketRecord
from kolmocli.training.standing import controlled_rate, in_band, room_of, rows


def test_steps_without_control_are_left_out_of_the_band() -> None:
    between = BucketRecord(pass_rate=0.5, n=8, state="tracking")
    mastered = BucketRecord(pass_rate=1.0, n=24, state="mastered")
    assert controlled_rate({"a": between, "b": mastered}) == 0.5
    assert controlled_rate({"b": mastered}) is None
    assert controlled_rate({"a": BucketRecord(state="tracking", n=0), "b": mastered}) is None
    assert in_band([0.5] * 25 + [None] * 75, 0.5) == 1.0
    assert in_band([0.9] * 25 + [None] * 75, 0.5) == 0.0
    assert in_band([0.5] * 20, 0.5) is None


def test_in_band_is_unknown_for_the_first_twenty_steps() -> None:
    assert in_band([0.5] * 20, 0.5) is None
    assert in_band([0.5] * 21, 0.5) == 1.0


def test_in_band_counts_means_of_ten_steps() -> None:
    rates = [0.0] * 11 + [0.5] * 10 + [1.0] * 10  # means of the last ten: 0.5, 0.55, 0.6, 0.65 … 1.0
    assert in_band(rates, 0.5) == pytest.approx(3 / 11)


@pytest.mark.parametrize(("rate", "inside"), [(0.4, 1.0), (0.6, 1.0), (0.39, 0.0), (0.61, 0.0)])
def test_the_edges_of_the_band_belong_to_it(rate: float, inside: float) -> None:
    assert in_band([rate] * 30, 0.5) == inside


def test_the_room_of_a_run_knows_the_levels_that_it_left_out() -> None:
    steps = [rows([Result(Bucket("a", 2), 4, 8), Result(Bucket("a", 0), 8, 8), Result(Bucket("a", 1), 1, 1)])] * 3
    found = room_of(steps, {"a": FamilyMetrics(2.0, 3, 1.0, "tracking")})
    assert found is not None and found.ratio == pytest.approx(1.0)
