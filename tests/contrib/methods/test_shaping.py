"""Potential shaping on a tree of programs that is small enough to be enumerated: nothing that is optimal changes."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from itertools import combinations_with_replacement, permutations

import pytest
from hypothesis import given, strategies as st

from kolmocli.config import Training
from kolmocli.contrib.methods.shaping import Shaping, potentials, shaping_rewards
from kolmocli.curriculum.base import Bucket
from kolmocli.learning.returns import line_advantages, line_returns, token_weights
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Outcome, Terms
from kolmocli.tasks.reward import Relative
from kolmocli.tasks.sequences.task import sequence_task
from kolmocli.training.weigh import line_rewards
from tests.tasks.sequences.test_environment import Interpreted

TASK = sequence_task(Bucket("toy", 1), 0, (1, 2, 1, 2, 5))
STOP = ""
LINES = ("a = range_func_up(1, 2)", "a = repeat_list(2, a)", "b = set_list([5])", "a = concatenate(a, b)", STOP)
"""What can be written on each line; some of it fails, depending on what was written before."""
MAX_LINES = 4
Episode = tuple[str, ...]


@cache
def outcome(lines: Episode, partial: float = 0.0) -> Outcome:
    rule = Relative(0.25, partial=partial)
    return judge([TASK], ["\n".join(lines)], Interpreted(), Terms(rule, MAX_LINES))[0]  # type: ignore[arg-type]


def ends(lines: Episode) -> bool:
    """Whether the episode is over with the last of these lines."""
    made = outcome(lines)
    return lines[-1] == STOP or len(lines) == MAX_LINES or made.passed or made.status.value != "OK"


@cache
def episodes(before: Episode = ()) -> tuple[Episode, ...]:
    return tuple(
        episode
        for line in LINES
        for episode in ([(*before, line)] if ends((*before, line)) else episodes((*before, line)))
    )


def test_the_tree_is_worth_enumerating() -> None:
    passed = [e for e in episodes() if outcome(e).passed]
    assert (len(episodes()), len(passed)) == (97, 3)
    assert all(outcome(e).end == len(e) for e in episodes())
    assert {len(e) for e in episodes()} == {1, 2, 3, 4}


# --- the rewards and their sums


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0, 1))
def test_shaping_rewards_add_up_to_less_the_potential(shares: list[float], gamma: float) -> None:
    returns = line_returns(shaping_rewards([*shares, 0.0], gamma), gamma)
    assert returns == pytest.approx([-share for share in shares])


def test_the_potential_is_what_is_explained_before_each_line() -> None:
    lines = (LINES[0], "", LINES[2], LINES[1], STOP)
    blank = judge([TASK], ["\n".join(lines)], Interpreted(), Terms(Relative(0.25), 9))[0]  # type: ignore[arg-type]
    assert potentials(blank, TASK.target) == pytest.approx([0, 2 / 5, 2 / 5, 3 / 5, 1, 0])


# --- the optimum


def best(gamma: float, shaping: float, partial: float = 0.0) -> dict[Episode, set[str]]:
    """The optimal lines after every beginning, by dynamic programming over per-line rewards."""
    choices: dict[Episode, set[str]] = {}

    def value(before: Episode) -> float:
        values = {line: worth((*before, line)) for line in LINES}
        top = max(values.values())
        choices[before] = {line for line, v in values.items() if v > top - 1e-9}
        return top

    def worth(lines: Episode) -> float:
        over = ends(lines)
        made = outcome(lines, partial)
        here = potentials(outcome(lines), TASK.target)[len(lines) - 1]
        after = 0.0 if over else potentials(outcome((*lines, STOP)), TASK.target)[len(lines)]
        reward = made.reward if over else 0.0
        assert reward is not None
        shaped = shaping_rewards([here, after], gamma)[0]
        return reward + shaping * shaped + (0.0 if over else gamma * value(lines))

    value(())
    return choices


@pytest.mark.parametrize("gamma", [1.0, 0.9])
def test_the_optimal_policies_are_the_same(gamma: float) -> None:
    plain = best(gamma, shaping=0.0)
    assert any(len(choice) < len(LINES) for choice in plain.values())
    for weight in (0.3, 1.0, 20.0):
        assert best(gamma, shaping=weight) == plain


def test_a_process_reward_changes_what_is_optimal() -> None:
    assert best(0.9, 0.0, partial=0.1) != best(0.9, 0.0)
    assert best(0.9, 0.0, partial=3.0)[()] != best(0.9, 0.0)[()]


# --- the expected gradient


def policy(seed: int = 3) -> dict[Episode, list[float]]:
    """Random probabilities of the lines after every beginning."""
    rng, table = random.Random(seed), {}
    for episode in episodes():
        for n in range(len(episode)):
            if episode[:n] not in table:
                odds = [math.exp(rng.gauss(0, 0.3)) for _ in LINES]
                table[episode[:n]] = [o / sum(odds) for o in odds]
    return table


POLICY = policy()


@cache
def chance(episode: Episode) -> float:
    return math.prod(POLICY[episode[:n]][LINES.index(line)] for n, line in enumerate(episode))


Gradient = dict[tuple[Episode, int], float]


def add(gradient: Gradient, episode: Episode, weights: list[float]) -> None:
    """Add what an episode contributes: for each line its weight times the gradient of its log-probability."""
    for n, (line, weight) in enumerate(zip(episode, weights, strict=True)):
        for k, p in enumerate(POLICY[episode[:n]]):
            gradient[episode[:n], k] += weight * ((LINES[k] == line) - p)


@cache
def returns_of(episode: Episode, gamma: float, shaping: float) -> list[float]:
    rewards = line_rewards(outcome(episode), TASK, Shaping(shaping, gamma))
    assert rewards is not None
    return line_returns(rewards, gamma)


def weights_of(group: Sequence[Episode], config: Training, shaping: float = 0.0) -> list[list[float]]:
    """As the trainer weighs them, one token a line."""
    returns = [returns_of(e, config.gamma, shaping) for e in group]
    return [
        token_weights(values, range(len(episode)))
        for values, episode in zip(line_advantages(returns, config.baseline), group, strict=True)
    ]


def expected(config: Training, shaping: float = 0.0) -> Gradient:
    """The exact mean of the gradient over all groups: of one without a baseline, of two with leave-one-out."""
    size = 2 if config.baseline == "rloo" else 1
    totals = {episode: [0.0] * len(episode) for episode in episodes()}
    for group in combinations_with_replacement(episodes(), size):
        orders = len(set(permutations(group)))
        scale = orders * math.prod(map(chance, group)) / size
        for episode, weights in zip(group, weights_of(group, config, shaping), strict=True):
            totals[episode] = [total + scale * w for total, w in zip(totals[episode], weights, strict=True)]
    gradient: Gradient = defaultdict(float)
    for episode, weights in totals.items():
        add(gradient, episode, weights)
    return gradient


def test_the_chances_add_to_one() -> None:
    assert sum(map(chance, episodes())) == pytest.approx(1)


@pytest.mark.parametrize("gamma", [1.0, 0.8])
def test_the_expected_gradient_is_the_same_with_shaping_and_with_either_baseline(gamma: float) -> None:
    plain = expected(Training(baseline="none", gamma=gamma))
    assert max(map(abs, plain.values())) > 1e-3
    for config, shaping in (
        (Training(baseline="none", gamma=gamma), 0.7),
        (Training(baseline="rloo", gamma=gamma), 0.0),
        (Training(baseline="rloo", gamma=gamma), 0.7),
    ):
        assert dict(expected(config, shaping)) == pytest.approx(dict(plain), abs=1e-12)


def test_shaping_changes_what_single_rollouts_are_told() -> None:
    good, bad = (LINES[0], LINES[1], LINES[2], STOP), (LINES[0], STOP)
    assert weights_of([good, bad], Training()) == [[0.0] * 4, [0.0] * 2]
    told = weights_of([good, bad], Training(baseline="none"), shaping=1.0)
    assert told == [pytest.approx([0, -2 / 5, -4 / 5, -1]), pytest.approx([0, -2 / 5])]
