"""The default controller and its tracker."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest
from hypothesis import given

from kolmocli.curriculum.base import Bucket, Ladder, Result
from kolmocli.curriculum.controllers.rasch import RaschLevel
from kolmocli.curriculum.levels import standing
from kolmocli.curriculum.tracker import Tracker, sigmoid
from tests.curriculum.controllers import G, History, after, controller, family_controller, histories


def tracker_of(made: object) -> Tracker:
    assert isinstance(made, RaschLevel)
    return made.tracker


def groups(level: int, *passes: int, age: int = 0) -> list[Result]:
    return [Result(Bucket("f", level), k, G, age) for k in passes]


@given(histories)
def test_the_belief_stays_within_a_margin_of_the_ladder(history: History) -> None:
    for level in after(history, family_controller()).levels.values():
        tracker = tracker_of(level)
        assert tracker.bottom * tracker.slope - 1 <= tracker.ability <= tracker.top * tracker.slope + 1
        assert 0 < tracker.variance <= 4
        assert 1 <= tracker.scatter <= G


def test_the_mean_is_the_peak_of_belief_times_likelihood() -> None:
    """Against a fine grid, for results within the slew limit and groups without over-dispersion."""
    tracker = Tracker(12)
    tracker.ability, tracker.variance, tracker.scatter = 5.0, 0.5, 1.0
    seen = [*groups(5, 3, 5), *groups(6, 4)]

    def log_posterior(x: float) -> float:
        prior = -((x - 5.0) ** 2) / (2 * (0.5 + tracker.drift**2))
        rates = [sigmoid(x - r.bucket.level) for r in seen]
        return prior + sum(
            r.passes * math.log(p) + (r.rollouts - r.passes) * math.log(1 - p) for r, p in zip(seen, rates, strict=True)
        )

    best = max((i / 1000 for i in range(3000, 7000)), key=log_posterior)
    curvature = -(log_posterior(best + 0.01) - 2 * log_posterior(best) + log_posterior(best - 0.01)) / 0.01**2
    tracker.observe(seen)
    assert tracker.ability == pytest.approx(best, abs=1e-3)
    assert 1 / tracker.variance == pytest.approx(curvature, rel=1e-3)


def test_a_ladder_in_other_units_is_the_same_ladder() -> None:
    """Half a logit per level and twice the levels: the same abilities, at twice the level."""
    one, two = Tracker(12), Tracker(24, bottom=2, slope=0.5)
    for step in range(50):
        rng, other = random.Random(step), random.Random(step)
        passes = [rng.randint(0, G) for _ in range(3)]
        one.observe([r for k in passes for r in groups(rng.randint(1, 12), k)])
        [other.randint(0, G) for _ in range(3)]
        two.observe([r for k in passes for r in groups(2 * other.randint(1, 12), k)])
        assert two.ability == pytest.approx(one.ability)
        assert two.variance == pytest.approx(one.variance)
        assert two.level_for(0.5) == pytest.approx(2 * one.level_for(0.5))


def test_the_mean_moves_no_further_than_the_slew_limit() -> None:
    tracker = Tracker(30, slew=0.7)
    before = tracker.ability
    tracker.observe(groups(1, *[G] * 20))
    assert tracker.ability == pytest.approx(before + 0.7, abs=1e-6)


def test_groups_that_agree_with_themselves_only_teach_less() -> None:
    """Half the groups all pass and half all fail: the over-dispersion grows, and the belief stays wide."""
    noisy, even = Tracker(12), Tracker(12)
    for _ in range(40):
        noisy.observe(groups(3, 0, G))
        even.observe(groups(3, G // 2, G // 2))
    assert noisy.scatter > 4
    assert even.scatter == 1.0, "independent trials at the most"
    assert noisy.variance > 2 * even.variance


def test_an_unexpected_pass_rate_is_a_shock_and_reopens_the_belief() -> None:
    tracker = Tracker(12)
    for _ in range(60):
        assert not tracker.observe(groups(3, 4, 4, 4, 4))
    settled = tracker.variance
    assert tracker.observe(groups(3, 0, 0, 0, 0))
    tracker.observe(groups(3, 0, 0, 0, 0))
    assert tracker.variance > 2 * settled


@pytest.mark.parametrize("age", [0, 4])
def test_a_surprise_fades_by_half_and_reopens_the_belief_less_when_results_are_late(age: int) -> None:
    """At a level that is far out of reach, where failing says nothing and the rest of an update is still."""
    tracker = Tracker(20)
    tracker.ability, tracker.variance, tracker.surprise = 0.0, 0.1, 3.0
    assert not tracker.observe(groups(20, 0, age=age))
    assert tracker.variance == pytest.approx(0.1 + 0.1**2 + 0.2 * (3.0**2 - 1) / (1 + age), abs=1e-3)
    assert tracker.surprise == pytest.approx(1.5, abs=0.01)


@pytest.mark.parametrize(("passes", "level", "end"), [(G, 6, 7.0), (0, 1, 0.0)])
def test_the_ability_does_not_run_away_from_the_ladder(passes: int, level: int, end: float) -> None:
    """One logit beyond it and no further: it is soon back when things change."""
    tracker = Tracker(6)
    for _ in range(60):
        tracker.observe(groups(level, passes, passes))
    assert tracker.ability == pytest.approx(end)


def test_a_saved_belief_is_the_whole_belief() -> None:
    one, other = Tracker(6), Tracker(6)
    one.observe(groups(2, 7, 5, age=3))
    one.observe(groups(3, 1, 0, age=2))
    other.load_state_dict(one.state_dict())
    assert vars(other) == vars(one)


def test_late_results_move_the_belief_less_and_leave_it_wider() -> None:
    fresh, late = Tracker(12), Tracker(12)
    for tracker in (fresh, late):
        tracker.ability, tracker.variance = 5.0, 0.3
    fresh.observe(groups(5, 7, 7))
    late.observe(groups(5, 7, 7, age=8))
    assert 5.0 < late.ability < fresh.ability
    one, other = fresh.belief(5), late.belief(5)
    assert other.high - other.low > one.high - one.low


def test_the_belief_about_now_is_as_wide_as_its_results_are_old() -> None:
    """0.1 logits of drift for each update since then, to be added to the variance."""
    tracker = Tracker(12)
    tracker.ability, tracker.variance = 5.0, 0.3
    tracker.observe(groups(5, 4, 4, age=9))
    assert tracker.age == 9
    half = 1.6449 * math.sqrt(tracker.variance + 0.1**2 * 9)
    belief = tracker.belief(5)
    assert belief.low == pytest.approx(sigmoid(tracker.ability - 5 - half), abs=1e-4)
    assert belief.high == pytest.approx(sigmoid(tracker.ability - 5 + half), abs=1e-4)


def test_the_belief_is_about_the_pass_rate_at_the_level() -> None:
    level = family_controller().levels["c"]
    belief = level.belief()
    assert belief is not None
    assert 0 < belief.low < belief.pass_rate < belief.high < 1
    assert belief.pass_rate == pytest.approx(0.5)


def test_mastered_is_said_once_and_out_of_reach_too() -> None:
    made = controller()
    told = [
        line for _ in range(60) for line in made.observe([Result(Bucket("a", 6), G, G), Result(Bucket("c", 1), 0, G)])
    ]
    states = {family: metrics.state for family, metrics in made.metrics().items()}
    assert states["a"] == "mastered"
    assert states["c"] == "tracking"  # just below the ladder: the lowest level still passes now and then
    assert told.count("a: mastered") == 1


def test_a_family_far_below_the_target_at_the_bottom_is_out_of_reach() -> None:
    made = controller(families={"a": {"target": 0.9}})
    for _ in range(60):
        made.observe([Result(Bucket("a", 1), 0, G)])
    assert made.metrics()["a"].state == "out of reach"


@pytest.mark.parametrize(
    ("at_bottom", "at_top", "said"),
    [(0.9, 0.1, "tracking"), (0.9, 0.7, "mastered"), (0.2, 0.0, "out of reach"), (0.25, 0.6, "tracking")],
)
def test_states(at_bottom: float, at_top: float, said: str) -> None:
    assert standing(Ladder(6), at_bottom, at_top) == said


def test_the_two_levels_around_the_target_are_mixed_in_proportion() -> None:
    level = RaschLevel(Ladder(6), probes=0.0)
    level.tracker.ability = 2.25
    rng = random.Random(0)
    drawn = Counter(level.draw(rng) for _ in range(4000))
    assert set(drawn) == {2, 3}
    assert drawn[3] / 4000 == pytest.approx(0.25, abs=0.03)


def test_probes_reach_one_level_beyond_the_bracket() -> None:
    level = RaschLevel(Ladder(6), probes=0.3)
    level.tracker.ability = 3.5
    rng = random.Random(0)
    assert {level.draw(rng) for _ in range(1000)} == {2, 3, 4, 5}


def test_a_higher_target_asks_for_an_easier_level() -> None:
    tracker = Tracker(12)
    tracker.ability = 6.0
    assert tracker.level_for(0.5) == pytest.approx(6.0)
    assert tracker.level_for(0.8) == pytest.approx(6.0 - math.log(4))
    assert tracker.pass_rate(tracker.level_for(0.8)) == pytest.approx(0.8)


@pytest.mark.parametrize(("ability", "level"), [(-3.0, 2.0), (1.9, 2.0), (4.5, 4.5), (8.1, 8.0), (30.0, 8.0)])
def test_the_level_asked_for_is_on_the_ladder(ability: float, level: float) -> None:
    tracker = Tracker(8, bottom=2)
    tracker.ability = ability
    assert tracker.level_for(0.5) == pytest.approx(level)


def test_a_review_is_of_any_level_evenly() -> None:
    """With bounds, of those within them."""
    level = RaschLevel(Ladder(9, bottom=3), review=0.5)
    rng = random.Random(0)
    drawn = Counter(level.draw(rng) for _ in range(14_000))
    assert set(drawn) == {3, 4, 5, 6, 7, 8, 9}
    above = [drawn[each] for each in (5, 6, 7, 8, 9)]  # beyond the bracket and its probes
    assert all(count == pytest.approx(1000, abs=150) for count in above)
