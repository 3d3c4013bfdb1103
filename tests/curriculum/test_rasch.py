"""The default controller: properties that hold for any results whatever."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kolmocli.curriculum.base import GroupResult
from kolmocli.curriculum.rasch import RaschController, group_signal, systematic
from kolmocli.curriculum.tracker import Tracker
from kolmocli.tasks.base import Bucket

LEVELS = {"a": 6, "b": 1, "c": 12}
G = 8


def controller(target: float = 0.5, floor: float = 0.05) -> RaschController:
    return RaschController(LEVELS, dict.fromkeys(LEVELS, target), floor, probes=0.05)


buckets = st.sampled_from([Bucket(family, level + 1) for family, top in LEVELS.items() for level in range(top)])


@st.composite
def results(draw: Any) -> GroupResult:
    rollouts = draw(st.integers(0, G))
    return GroupResult(draw(buckets), draw(st.integers(0, rollouts)), rollouts, draw(st.integers(0, 8)))


steps = st.lists(results(), max_size=6)
histories = st.lists(steps, max_size=12)


def after(history: list[list[GroupResult]], **settings: float) -> RaschController:
    made = controller(**settings)
    for step in history:
        made.observe(step)
    return made


def levels(c: RaschController) -> dict[str, float]:
    return {family: metrics.level for family, metrics in c.metrics().items()}


# --- for any history


@given(histories, steps.filter(bool), st.data())
def test_more_passes_never_lower_the_next_level(
    history: list[list[GroupResult]], step: list[GroupResult], data: st.DataObject
) -> None:
    better = [GroupResult(r.bucket, data.draw(st.integers(r.passes, r.rollouts)), r.rollouts, r.age) for r in step]
    worse_levels, better_levels = levels(after([*history, step])), levels(after([*history, better]))
    assert all(better_levels[f] >= worse_levels[f] - 1e-9 for f in LEVELS)


@given(histories, steps, st.randoms(use_true_random=False))
def test_the_order_inside_a_step_does_not_matter(
    history: list[list[GroupResult]], step: list[GroupResult], rng: random.Random
) -> None:
    shuffled = rng.sample(step, len(step))
    assert after([*history, step]).state_dict() == after([*history, shuffled]).state_dict()


@given(histories, st.floats(0.01, 0.99), st.integers(1, 40), st.integers(0, 99))
def test_proposals_stay_on_the_ladder(history: list[list[GroupResult]], target: float, groups: int, seed: int) -> None:
    proposed = after(history, target=target).propose(groups, random.Random(seed))
    assert len(proposed) == groups
    assert all(1 <= b.level <= LEVELS[b.family] for b in proposed)


@given(histories)
def test_the_belief_stays_within_a_margin_of_the_ladder(history: list[list[GroupResult]]) -> None:
    for tracker in after(history).trackers.values():
        assert 1 - 1 / tracker.slope <= tracker.mean <= tracker.top + 1 / tracker.slope
        assert 0 < tracker.variance <= 4
        assert 1 <= tracker.scatter <= G


@pytest.mark.parametrize("passes", [0, G])
def test_nothing_but_failures_or_passes_leaves_finite_numbers(passes: int) -> None:
    made = controller()
    for _ in range(500):
        made.observe([GroupResult(b, passes, G) for b in made.propose(4, random.Random(0))])
    state = made.state_dict()
    numbers = [x for t in state["trackers"].values() for x in t.values()] + list(state["signal"].values())
    assert all(math.isfinite(x) for x in numbers)
    assert levels(made) == ({"a": 1.0, "b": 1.0, "c": 1.0} if passes == 0 else {"a": 6.0, "b": 1.0, "c": 12.0})


@given(histories, histories)
def test_a_saved_state_goes_on_exactly(history: list[list[GroupResult]], future: list[list[GroupResult]]) -> None:
    original, loaded = after(history), controller()
    loaded.load_state_dict(json.loads(json.dumps(original.state_dict())))
    for number, step in enumerate([[], *future]):
        assert original.observe(step) == loaded.observe(step)
        assert original.propose(9, random.Random(number)) == loaded.propose(9, random.Random(number))
    assert original.state_dict() == loaded.state_dict()


@given(histories, buckets, st.integers(0, 8))
def test_a_group_that_the_sandbox_lost_never_counts(history: list[list[GroupResult]], bucket: Bucket, age: int) -> None:
    lost = GroupResult(bucket, 0, 0, age)
    assert after([*history, [lost]]).state_dict() == after([*history, []]).state_dict()


@given(histories, st.floats(0, 1 / 3))
def test_weights_add_to_one_and_respect_the_floor(history: list[list[GroupResult]], floor: float) -> None:
    weights = after(history, floor=floor).weights()
    assert sum(weights.values()) == pytest.approx(1)
    assert min(weights.values()) >= floor - 1e-12


# --- what it does with signal and states


def test_weight_goes_to_the_family_with_the_signal() -> None:
    made = controller()
    for _ in range(30):
        made.observe(
            [GroupResult(Bucket("a", 3), 4, G), GroupResult(Bucket("b", 1), G, G), GroupResult(Bucket("c", 1), 0, G)]
        )
    weights = made.weights()
    assert weights["a"] > 0.75
    assert weights["b"] == pytest.approx(weights["c"])


def test_without_any_signal_the_weights_are_equal() -> None:
    made = controller()
    made.signal = dict.fromkeys(LEVELS, 0.0)
    assert set(made.weights().values()) == {1 / 3}


def test_mastered_and_out_of_reach_are_said_once() -> None:
    made = controller()
    told = [
        line
        for _ in range(60)
        for line in made.observe([GroupResult(Bucket("a", 6), G, G), GroupResult(Bucket("c", 1), 0, G)])
    ]
    assert made.state("a") == "mastered"
    assert made.state("c") == "tracking"  # just below the ladder: the lowest level still passes now and then
    assert told.count("a: mastered") == 1


def test_a_family_far_below_the_target_at_the_bottom_is_out_of_reach() -> None:
    made = RaschController({"a": 6}, {"a": 0.9}, 0.05, 0.05)
    for _ in range(60):
        made.observe([GroupResult(Bucket("a", 1), 0, G)])
    assert made.state("a") == "out of reach"


def test_a_floor_that_families_cannot_share_is_refused() -> None:
    with pytest.raises(ValueError, match=r"controller\.floor 0\.5 times 3 families"):
        controller(floor=0.5)


@pytest.mark.parametrize(
    "change",
    [{"kind": "uniform"}, {"trackers": {}}, {"trackers": {**{f: {} for f in LEVELS}}}, {"signal": {}}],
)
def test_a_state_that_does_not_fit_is_refused(change: dict[str, Any]) -> None:
    made = controller()
    with pytest.raises((ValueError, KeyError)):
        made.load_state_dict({**made.state_dict(), **change})


def test_a_state_of_another_ladder_is_refused() -> None:
    longer = RaschController({**LEVELS, "a": 9}, dict.fromkeys(LEVELS, 0.5), 0.05, 0.05)
    with pytest.raises(ValueError, match="a"):
        controller().load_state_dict(longer.state_dict())


# --- the parts


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8).filter(any), st.integers(0, 50), st.integers(0, 99))
def test_systematic_sampling_counts_within_one_of_the_share(raw: list[float], count: int, seed: int) -> None:
    weights = [w / math.fsum(raw) for w in raw]
    items = [str(i) for i in range(len(weights))]
    chosen = Counter(systematic(items, weights, count, random.Random(seed)))
    assert sum(chosen.values()) == count
    assert all(abs(chosen[item] - count * w) < 1 + 1e-6 for item, w in zip(items, weights, strict=True))


def test_the_two_levels_around_the_target_are_mixed_in_proportion() -> None:
    made = RaschController({"a": 6}, {"a": 0.5}, 0.05, probes=0.0)
    made.trackers["a"] = Tracker(6, mean=2.25)
    rng = random.Random(0)
    drawn = Counter(b.level for _ in range(400) for b in made.propose(10, rng))
    assert set(drawn) == {2, 3}
    assert drawn[3] / 4000 == pytest.approx(0.25, abs=0.03)


def test_probes_reach_one_level_beyond_the_bracket() -> None:
    made = RaschController({"a": 6}, {"a": 0.5}, 0.05, probes=0.3)
    made.trackers["a"] = Tracker(6, mean=3.5)
    rng = random.Random(0)
    assert {b.level for _ in range(100) for b in made.propose(10, rng)} == {2, 3, 4, 5}


@given(st.integers(2, 16), st.floats(0, 1))
def test_group_signal_is_unbiased(n: int, p: float) -> None:
    expected = sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) * group_signal(k, n) for k in range(n + 1))
    assert expected == pytest.approx(p * (1 - p), abs=1e-9)
