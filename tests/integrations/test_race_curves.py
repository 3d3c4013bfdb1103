"""How soon a way to train has what another ends with: on curves whose answer is known."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

caught_up = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "race_curves.py"))["caught_up"]


def runs(gain: float, seeds: int = 8, *, spread: float = 0.0) -> dict[int, dict[str, Any]]:
    """Each begins at 20 %, gains so much by 1,000 rollouts, 50 for each second, and a seed lies `spread` above the last one."""
    return {
        seed: {"accuracies": [[r, 0.2 + seed * spread + gain * r / 1000, r / 50] for r in range(0, 1001, 100)]}
        for seed in range(seeds)
    }


def test_what_learns_twice_as_fast_has_it_after_half() -> None:
    for what in ("rollouts", "seconds"):
        found = caught_up(runs(0.4), runs(0.2), what)
        assert (found["mean"], found["ci"], found["n"]) == (
            pytest.approx(0.5), pytest.approx([0.5, 0.5]), 8
        )  # fmt: skip
    assert caught_up(runs(0.3, spread=0.01), runs(0.2, spread=0.01), "rollouts")["mean"] == pytest.approx(2 / 3)


def test_what_never_gets_there_has_no_share() -> None:
    found = caught_up(runs(0.1), runs(0.2), "rollouts")
    assert (found["mean"], found["ci"]) == (None, None)
    assert caught_up(runs(0.1), {}, "rollouts") is None


def test_an_interval_is_open_where_some_draws_never_get_there() -> None:
    """Two seeds of eight learn nothing, and a draw that has them often does not get there."""
    mine, theirs = runs(0.4), runs(0.2)
    for seed in (0, 1):
        mine[seed] = runs(0.0)[seed]
    found = caught_up(mine, theirs, "rollouts")
    assert found["mean"] == pytest.approx(2 / 3)
    assert found["ci"][0] == pytest.approx(0.5, abs=0.01)
    assert found["ci"][1] is None
    assert caught_up(mine, theirs, "rollouts") == found  # the draws are always the same


def test_few_seeds_have_no_interval() -> None:
    found = caught_up(runs(0.4, 4), runs(0.2, 6), "rollouts")
    assert (found["mean"], found["ci"], found["n"]) == (pytest.approx(0.5), None, 4)
