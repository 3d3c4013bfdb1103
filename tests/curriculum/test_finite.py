"""A posterior for every prompt of a finite set: it finds what is near the target, forgets, and goes on where it was."""

from __future__ import annotations

import json
import math
import random

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kolmocli.curriculum.finite.cells import Cells
from kolmocli.curriculum.finite.prompts import Prompts
from kolmocli.curriculum.finite.sum_tree import SumTree
from kolmocli.curriculum.tracker import peak, sigmoid
from kolmocli.errors import UsageError

GROUP, GROUPS = 8, 16


def play(prompts: Prompts, ease: np.ndarray, steps: int, seed: int = 0, start: int = 0) -> list[list[int]]:
    """What is drawn in each step, while prompt i passes with probability sigma(ease[i])."""
    drawn = []
    for step in range(start, start + steps):
        luck = np.random.default_rng([seed, step])
        batch = [prompts.draw() for _ in range(GROUPS)]
        passes = luck.binomial(GROUP, 1.0 / (1.0 + np.exp(-ease[batch]))).tolist()
        prompts.observe(batch, passes, [GROUP] * GROUPS)
        drawn.append(batch)
    return drawn


def information(batches: list[list[int]], ease: np.ndarray) -> float:
    rates = 1.0 / (1.0 + np.exp(-ease[np.concatenate(batches)]))
    return float((4.0 * rates * (1.0 - rates)).mean())


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_sums_are_those_of_the_weights_and_a_leaf_is_found_by_its_share(
    weights: list[float], rng: random.Random
) -> None:
    one, other = SumTree(), SumTree()
    for leaf in rng.sample(range(len(weights)), len(weights)):
        one.set(leaf, weights[leaf])
    other.fill(weights)
    assert one.total == other.total == pytest.approx(sum(weights))
    share = rng.random()
    leaf = one.find(share)
    if one.total:
        assert one[leaf] > 0
        before = sum(weights[:leaf])
        assert before - 1e-6 * one.total <= share * one.total <= before + weights[leaf] + 1e-6 * one.total


@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf])
def test_a_weight_is_a_number(weight: float) -> None:
    with pytest.raises(ValueError, match="a weight is"):
        SumTree().set(0, weight)


@given(st.floats(-8, 8), st.floats(0.01, 8), st.integers(0, 16), st.integers(1, 16))
def test_the_peak_is_where_the_belief_and_the_likelihood_pull_alike(
    mean: float, variance: float, k: int, n: int
) -> None:
    passes, slew = min(k, n), 3.0
    at, information = peak([(0.0, passes, n)], mean, variance, slew)
    rate = sigmoid(at)
    pull = variance * (passes - n * rate) - (at - mean)
    limited = abs(at - mean) > slew - 1e-6
    assert (pull * (at - mean) >= 0) if limited else pull == pytest.approx(0, abs=1e-4)
    assert information == pytest.approx(n * rate * (1 - rate), abs=1e-6)


@given(st.lists(st.integers(1, 3), min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_a_cell_gives_each_of_its_prompts_once(levels: list[int], rng: random.Random) -> None:
    cells = Cells(len(levels), level=levels)
    for cell, bucket in enumerate(cells.bucket):
        taken = []
        while cells.left[cell]:
            taken.append(cells.at(cell, rng.random()))
            cells.take(taken[-1])
        assert sorted(taken) == [i for i, level in enumerate(levels) if level == cells.buckets[bucket].level]


def test_more_is_asked_of_what_is_near_the_target_than_by_chance() -> None:
    ease = np.random.default_rng(0).normal(-2.0, 2.5, 400)
    found = play(Prompts(400), ease, 150)[75:]
    evenly = play(Prompts(400, sharpness=0.0), ease, 150)[75:]
    assert information(found, ease) > 1.5 * information(evenly, ease)


def test_a_level_where_everything_fails_is_left_for_one_where_some_passes() -> None:
    levels = [1] * 200 + [2] * 200
    ease = np.where(np.array(levels) == 1, 0.0, -12.0)
    prompts = Prompts(400, level=levels)
    hard = np.concatenate(play(prompts, ease, 60)[30:]) >= 200
    assert 0 < hard.mean() < 0.15
    assert prompts.metrics()["prompts/2/pass_rate"] < 0.1 < 0.4 < prompts.metrics()["prompts/1/pass_rate"] < 0.6


def test_a_measured_pass_rate_is_the_first_belief() -> None:
    rates = [0.0] * 300 + [0.5] * 100
    prompts = Prompts(400, pass_rate=rates, probes=0.0)
    assert sum(prompts.draw() >= 300 for _ in range(50)) > 35  # a quarter by chance


def test_what_failed_long_ago_is_tried_again() -> None:
    prompts = Prompts(2, memory=20.0, probes=0.0)
    first, other = prompts.draw(), prompts.draw()
    for _ in range(10):
        prompts.observe([first, other], [0, 4], [GROUP, GROUP])
    low = prompts.pass_rate(first)
    for _ in range(200):
        prompts.observe([other], [4], [GROUP])
    assert low < 0.2 < 0.35 < prompts.pass_rate(first)


def test_where_everything_fails_or_passes_every_prompt_is_still_asked() -> None:
    for ease in (-60.0, 60.0):
        prompts = Prompts(60, probes=0.0, sharpness=100.0)
        late = play(prompts, np.full(60, ease), 400)[200:]
        assert set(np.concatenate(late).tolist()) == set(range(60))


def test_a_late_result_moves_the_belief_less() -> None:
    def after(age: int) -> float:
        prompts = Prompts(1)
        prompts.observe([prompts.draw()], [GROUP], [GROUP], age=age)
        return prompts.pass_rate(0)

    assert after(0) > after(50) > after(1000) > 0.5


def test_nothing_is_drawn_twice_before_its_result_is_known() -> None:
    prompts = Prompts(50)
    assert sorted(prompts.draw() for _ in range(50)) == list(range(50))
    assert prompts.draw() in range(50)  # all are out: the loop goes on
    prompts.observe([7], [0], [0])  # lost: it can be drawn again, and nothing is believed of it
    assert prompts.metrics()["seen"] == 0.0


@pytest.mark.parametrize("at", [1, 17, 40])
def test_a_saved_state_goes_on_exactly(at: int) -> None:
    ease = np.random.default_rng(1).normal(-1.0, 2.0, 300)
    levels = [1 + i % 3 for i in range(300)]
    whole = play(Prompts(300, level=levels, seed=5), ease, 60)
    broken, resumed = Prompts(300, level=levels, seed=5), Prompts(300, level=levels, seed=99)
    play(broken, ease, at)
    resumed.load_state_dict(json.loads(json.dumps(broken.state_dict())))
    assert play(resumed, ease, 60 - at, start=at) == whole[at:]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"level": [1, 2]}, "level has 2 entries for 3 prompts"),
        ({"level": [1, 2.5, 3]}, "prompt 1: a level is a whole number, got 2.5"),
        ({"level": [1, "two", 3]}, "prompt 1: a level is a whole number, got 'two'"),
        ({"pass_rate": [0.1, 0.2, 1.5]}, "prompt 2: a pass rate lies between 0 and 1, got 1.5"),
        ({"pass_rate": [0.1, math.nan, 0.5]}, "prompt 1: a pass rate"),
        ({"pass_rate": ["a", "b", "c"]}, "pass_rate: "),
        ({"target": 1.0}, "a target lies between 0 and 1"),
        ({"probes": 2.0}, "probes is a share"),
        ({"memory": 0.0}, "memory is a number"),
        ({"seed": -1}, "a seed is a whole number"),
        ({"sharpness": -1.0}, "sharpness is a power"),
    ],
)
def test_what_does_not_fit_is_one_line(columns: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        Prompts(3, **columns)  # type: ignore[arg-type]
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_wrong_results_are_one_line_and_nothing_is_taken_in() -> None:
    prompts = Prompts(10)
    drawn = prompts.draw()
    before = prompts.state_dict()
    for indices, passes, said in (
        ([drawn, (drawn + 1) % 10], [1, 1], "was never drawn"),
        ([drawn, drawn], [1, 9], "9 passes of 8 rollouts"),
        ([drawn], [1, 1], "one of each a prompt"),
    ):
        with pytest.raises(UsageError, match=said):
            prompts.observe(indices, passes, [GROUP, GROUP])
    for age in (-1, math.nan, math.inf):
        with pytest.raises(UsageError, match="age is a number"):
            prompts.observe([drawn], [1], [GROUP], age=age)  # type: ignore[arg-type]
    for passes_, rollouts in ((math.nan, 8), (1, math.inf)):
        with pytest.raises(UsageError, match="passes of"):
            prompts.observe([drawn], [passes_], [rollouts])  # type: ignore[list-item]
    assert prompts.state_dict() == before


def test_a_state_of_other_prompts_is_refused() -> None:
    state = Prompts(10).state_dict()
    with pytest.raises(UsageError, match="the state is of 10 prompts"):
        Prompts(11).load_state_dict(state)
    beyond = state["seen"] | {"prompts": [10], "offsets": [[0.0, 1.0]], "versions": [0]}
    with pytest.raises(UsageError, match="names prompts that are not there"):
        Prompts(10).load_state_dict(state | {"seen": beyond})
    with pytest.raises(UsageError, match="it has no 'posterior'"):
        Prompts(10).load_state_dict({k: v for k, v in state.items() if k != "posterior"})


@pytest.mark.parametrize(
    ("mine", "others"),
    [
        ({"level": [1] * 20 + [2] * 20}, {"level": [2] * 20 + [1] * 20}),
        ({"level": [1] * 20 + [2] * 20}, {"level": [1] * 10 + [2] * 30}),
        ({"pass_rate": [0.1] * 20 + [0.9] * 20}, {"pass_rate": [0.1, 0.9] * 20}),
    ],
)
def test_a_state_of_the_same_prompts_in_other_cells_is_refused_whole(mine: dict, others: dict) -> None:
    """Else some prompts would be drawn twice as new, and others never."""
    prompts = Prompts(40, **mine)
    play(prompts, np.zeros(40), 1)
    other = Prompts(40, **others)
    before = other.state_dict()
    with pytest.raises(UsageError, match="had another family, level or pass rate"):
        other.load_state_dict(prompts.state_dict())
    assert other.state_dict() == before
