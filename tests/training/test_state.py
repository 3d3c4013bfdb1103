from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from kolmocli.training.state import RunState, Totals, in_band


def test_a_state_survives_json() -> None:
    state = RunState(phase="rl", step=3, drawn={"a/1": 4}, passed_before=[0, 1])
    assert RunState(**json.loads(json.dumps(asdict(state)))) == state
    totals = Totals(pass_rates=[0.25], bits=1.5)
    totals.spend("learn", 0.1)
    assert Totals(**json.loads(json.dumps(asdict(totals)))) == totals


def test_in_band_is_unknown_for_the_first_twenty_steps() -> None:
    assert in_band([0.5] * 20, 0.5) is None
    assert in_band([0.5] * 21, 0.5) == 1.0


def test_in_band_counts_means_of_ten_steps() -> None:
    rates = [0.0] * 11 + [0.5] * 10 + [1.0] * 10  # means of the last ten: 0.5, 0.55, 0.6, 0.65 … 1.0
    assert in_band(rates, 0.5) == pytest.approx(3 / 11)


@pytest.mark.parametrize(("rate", "inside"), [(0.4, 1.0), (0.6, 1.0), (0.39, 0.0), (0.61, 0.0)])
def test_the_edges_of_the_band_belong_to_it(rate: float, inside: float) -> None:
    assert in_band([rate] * 30, 0.5) == inside
