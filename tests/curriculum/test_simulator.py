"""The loop closed over learners whose ability is known: the figures that the default controller must reach.

Eight seeds, 300 steps, two groups of eight a step, as `kolmo curriculum simulate` prints them.
"""

from __future__ import annotations

import random
from functools import cache
from itertools import pairwise
from statistics import fmean
from typing import Any

import pytest

from kolmocli.curriculum.base import Bucket
from kolmocli.curriculum.simulator import measures
from kolmocli.curriculum.simulator.compare import compare
from kolmocli.curriculum.simulator.learner import Learner
from kolmocli.curriculum.simulator.loop import Trace, simulate
from kolmocli.curriculum.simulator.players import ORACLE, REFILL, maker, players
from kolmocli.curriculum.simulator.scenarios import CHANGE, FAMILY, LEVELS, ODD, SCENARIOS, SLOPE, Scenario
from kolmocli.errors import UsageError

SEEDS = 8
FEW = 2
"""Where all scenarios are gone through and the difference is large."""


@cache
def runs(name: str, scenario: str, lag: int = 0, seeds: int = SEEDS) -> list[Trace]:
    return [simulate(maker(name), SCENARIOS[scenario], lag=lag, seed=seed) for seed in range(seeds)]


# --- the gates of the default controller


@pytest.mark.parametrize("scenario", ["base", "constant", "ramp"])
def test_it_settles_within_ten_steps(scenario: str) -> None:
    settled = measures.settle(runs("rasch", scenario))
    assert settled is not None
    assert settled <= 10


@pytest.mark.parametrize("scenario", ["base", "constant"])
@pytest.mark.parametrize(("lag", "most"), [(0, 0.10), (6, 0.12)])
def test_it_holds_the_target(scenario: str, lag: int, most: float) -> None:
    assert measures.rmse(runs("rasch", scenario, lag)) <= most


def test_few_groups_are_dead() -> None:
    assert measures.dead_groups(runs("rasch", "base")) <= 0.12


@pytest.mark.parametrize("lag", [0, 6])
def test_the_intervals_cover(lag: int) -> None:
    covered = measures.coverage(runs("rasch", "base", lag))
    assert covered is not None
    assert 0.85 <= covered <= 0.95


def test_it_recovers_from_a_shock_before_every_other_controller() -> None:
    recovered = {name: measures.settle(runs(name, "shock"), CHANGE) for name in players()}
    mine = recovered.pop("rasch")
    assert mine is not None
    assert all(other is None or mine < other for other in recovered.values()), recovered


@pytest.mark.parametrize("scenario", ["base", "constant", "noisy", "half-slope", "double-slope", "missing"])
@pytest.mark.parametrize("lag", [0, 6])
def test_it_runs_in_no_circles(scenario: str, lag: int) -> None:
    traces = runs("rasch", scenario, lag)
    assert measures.swing(traces) > -0.5
    for trace in traces:
        moves = [b - a for a, b in pairwise(trace.level[60:])]
        off = [move - fmean(moves) for move in moves]
        assert fmean(a * b for a, b in pairwise(off)) > -0.5 * fmean(a * a for a in off)


def test_late_surprises_on_a_steep_ladder_are_not_counted_again_and_again() -> None:
    assert measures.swing(runs("rasch", "steep", 6)) > -0.75


def test_its_learner_gains_nearly_what_the_oracles_gains() -> None:
    gains = [
        fmean(t.abilities[FAMILY] for t in runs(name, "base")) - SCENARIOS["base"].start for name in ("rasch", ORACLE)
    ]
    assert gains[0] >= 0.97 * gains[1]


@pytest.mark.parametrize("scenario", [name for name, s in SCENARIOS.items() if s.sound])
def test_it_is_nearer_to_the_target_than_uniform_everywhere(scenario: str) -> None:
    mine, uniform = (measures.rmse(runs(name, scenario, seeds=FEW)) for name in ("rasch", "uniform"))
    assert mine < 0.5 * uniform


def test_a_limit_cycle_would_be_seen() -> None:
    """An integrator with too much gain for its delay is the textbook case; steep levels raise the gain."""
    assert measures.swing(runs("integral", "steep", 6, FEW)) < -0.7


# --- the simulator itself


@pytest.mark.parametrize("scenario", [s for s in SCENARIOS.values() if s.sound], ids=lambda s: s.name)
def test_nobody_beats_the_oracle(scenario: Scenario) -> None:
    oracle, mine = (measures.rmse(runs(name, scenario.name, seeds=FEW)) for name in (ORACLE, "rasch"))
    assert oracle <= mine


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=lambda s: s.name)
def test_a_learner_passes_as_often_as_its_pass_rate_says(scenario: Scenario) -> None:
    learner, rng = Learner(scenario), random.Random(1)
    learner.at(120)
    level = round(learner.ability / SLOPE)
    outcomes = [learner.group(Bucket(FAMILY, level), 8, rng) for _ in range(2000)]
    rate = sum(r.passes for r in outcomes) / sum(r.rollouts for r in outcomes)
    assert rate == pytest.approx(learner.pass_rate(level), abs=0.03)
    judged = sum(r.rollouts for r in outcomes) / (8 * 2000)
    assert judged == pytest.approx(1 - scenario.faults, abs=0.01)


def test_abilities_follow_the_clock_and_growth_follows_the_signal() -> None:
    ramp, growing = Learner(SCENARIOS["ramp"]), Learner(SCENARIOS["base"])
    ramp.at(100)
    assert ramp.ability == pytest.approx(4.5)
    growing.learn([Bucket(FAMILY, round(growing.ability / SLOPE))] * 2)
    gained = growing.ability - SCENARIOS["base"].start
    growing.learn([Bucket(FAMILY, LEVELS), Bucket(FAMILY, 1)])
    assert 0 < growing.ability - SCENARIOS["base"].start - gained < gained / 2


def test_levels_of_a_non_monotone_ladder_are_out_of_order() -> None:
    learner = Learner(SCENARIOS["non-monotone"])
    assert learner.pass_rate(8) < learner.pass_rate(9) < learner.pass_rate(7)


@pytest.mark.parametrize("jitter", [False, True])
def test_results_come_when_they_should_and_know_their_age(jitter: bool) -> None:
    made = maker("uniform")(Learner(SCENARIOS["base"]))
    observed: list[list[int]] = []
    made.observe = lambda results: observed.append([r.age for r in results]) or []  # type: ignore[method-assign,func-returns-value]
    simulate(lambda _: made, SCENARIOS["missing" if jitter else "base"], lag=3, seed=0, steps=40)
    assert observed[:3] == [[], [], []]
    ages = [age for step in observed for age in step]
    if jitter:
        assert set(ages) == set(range(3, 12))
        assert len(ages) < 0.9 * 2 * 40
    else:
        assert observed[3:] == [[3, 3]] * 37


def test_one_family_teaches_another_and_a_wrong_key_unteaches() -> None:
    two, wrong = Learner(SCENARIOS["transfer"]), Learner(SCENARIOS["wrong-key"])
    before = dict(two.abilities)
    two.learn([Bucket(FAMILY, 8)] * 4)
    gained = {family: two.abilities[family] - before[family] for family in before}
    assert 0 < gained["pupil"] == pytest.approx(gained[FAMILY] / 2)
    wrong.learn([Bucket(FAMILY, ODD)] * 2)
    assert wrong.ability < SCENARIOS["wrong-key"].start


def test_a_form_is_learnt_by_passing_and_its_failures_are_unread() -> None:
    learner, rng = Learner(SCENARIOS["form"]), random.Random(0)
    asked = Bucket(FAMILY, ODD)
    assert sum(learner.group(asked, 8, rng).unread for _ in range(50)) > 0.9 * 400
    for _ in range(60):
        learner.learn([asked, asked])
    assert sum(learner.group(asked, 8, rng).unread for _ in range(50)) < 0.2 * 400


def test_a_refill_learns_from_live_groups_and_pays_for_the_others() -> None:
    """At equal rollouts it has fewer updates, each of more."""
    where = SCENARIOS["base"]
    uniform, refill = (
        [simulate(maker(kind), where, lag=0, seed=s, refills=kind == REFILL) for s in range(FEW)]
        for kind in ("uniform", REFILL)
    )
    assert [t.groups for t in uniform] == [t.groups for t in refill]
    grown = [fmean(t.abilities[FAMILY] for t in traces) - where.start for traces in (uniform, refill)]
    assert 0.5 * grown[0] < grown[1] < 1.1 * grown[0]


def test_settling_needs_ten_steps_in_the_band() -> None:
    far, near = [0.3], [0.05]
    assert measures.settle([Trace(off=far * 4 + near * 20)]) == 4
    assert measures.settle([Trace(off=near * 9 + far + near * 10)]) == 10
    assert measures.settle([Trace(off=near * 9 + far)]) is None
    assert measures.settle([Trace(off=near * 10 + far * 5 + near * 10)], start=10) == 5
    assert measures.settle([Trace(off=far * 20), Trace(off=near * 20)]) is None


def test_the_rmse_is_of_groups_and_not_of_their_mean() -> None:
    """Uniform over a ladder whose middle is the learner's ability: one half on average, and never."""
    assert measures.rmse(runs("uniform", "constant", seeds=FEW)) > 0.3


def test_a_target_of_its_own_is_held() -> None:
    traces = [simulate(maker("rasch", target=0.75), SCENARIOS["base"], lag=0, seed=s, target=0.75) for s in range(FEW)]
    assert measures.rmse(traces) <= 0.1


def test_settings_reach_the_controllers_and_unknown_ones_are_refused() -> None:
    lively = compare(["integral"], ["constant"], lag=0, seeds=1, steps=100, settings={"integral": {"gain": 0.2}})
    usual = compare(["integral"], ["constant"], lag=0, seeds=1, steps=100)
    assert lively["controllers"]["integral"] != usual["controllers"]["integral"]
    with pytest.raises(UsageError, match=r"the controller integral has no setting gian; did you mean gain\?"):
        compare(["integral"], ["constant"], lag=0, seeds=1, steps=100, settings={"integral": {"gian": 0.2}})


def test_the_report_is_deterministic_and_complete() -> None:
    def measured() -> dict[str, Any]:
        return compare(["rasch", "uniform"], ["base", "shock"], lag=1, seeds=2, steps=200)

    report = measured()
    assert report == measured()
    assert report["controllers"] == report["scenarios"]["base"]
    for rows in report["scenarios"].values():
        assert set(rows) == {"rasch", "uniform"}
        assert {"settle", "rmse", "rmse_lag6", "dead_groups", "coverage", "recovery"} <= set(rows["rasch"])
    assert report["controllers"]["uniform"]["coverage"] is None
    assert report["scenarios"]["shock"]["rasch"]["growth"] is None
    assert 0 < report["controllers"]["uniform"]["growth"] < report["controllers"]["rasch"]["growth"] <= 1.01
