"""Returns and advantages by a value head: by hand, and that it leaves the expected gradient as it was."""

from __future__ import annotations

import random
from collections import defaultdict

import pytest

from kolmocli.config import Training
from kolmocli.contrib.methods.shaping import Shaping
from kolmocli.engine.base import Group
from kolmocli.learning.regression import Regression
from kolmocli.policy.rollout import ValuedRollout
from kolmocli.training.methods.value import Value, ValueWeighted, line_values
from kolmocli.training.weigh import line_rewards
from tests.contrib.methods.test_shaping import TASK, Episode, Gradient, add, chance, episodes, expected, outcome


def value(beginning: Episode) -> float:
    """Of the state after these lines: anything."""
    return random.Random(repr(beginning)).uniform(-0.5, 1.0)


def rollout(lines: Episode) -> ValuedRollout:
    """One token a line."""
    n = len(lines)
    values = tuple(value(lines[:t]) for t in range(n))
    return ValuedRollout((0,), (1,) * n, (0.0,) * n, tuple(range(n)), "", True, values)


def found(config: Training, shaping: float) -> Gradient:
    """The exact mean of the gradient over all episodes."""
    gradient: Gradient = defaultdict(float)
    for lines in episodes():
        rewards = line_rewards(outcome(lines), TASK, Shaping(shaping, config.gamma))
        assert rewards is not None
        _, advantages = line_values(rewards, config.gamma, rollout(lines))
        add(gradient, lines, [chance(lines) * a for a in advantages])
    return gradient


@pytest.mark.parametrize("gamma", [1.0, 0.8])
@pytest.mark.parametrize("shaping", [0.0, 0.7])
def test_the_expected_gradient_is_that_without_a_baseline(gamma: float, shaping: float) -> None:
    plain = expected(Training(baseline="none", gamma=gamma))
    ours = found(Training(baseline="value", gamma=gamma), shaping)
    assert dict(ours) == pytest.approx(dict(plain), abs=1e-12)


def test_a_line_is_compared_with_the_state_that_it_began_in() -> None:
    # lines of two, one and two tokens; the episode ends with the second line
    written = ValuedRollout((1,), (5, 6, 7, 8, 9), (0.0,) * 5, (0, 0, 1, 2, 2), "", True, (0.5, 9.0, -1.0, 9.0, 9.0))
    assert line_values([0.0, 3.0], 1.0, written) == ([3.0, 3.0], [2.5, 4.0])
    assert line_values([1.0, 4.0], 0.5, written) == ([3.0, 4.0], [2.5, 5.0])
    # begun for the policy, within line 1; line 2 has no tokens of its own
    begun = ValuedRollout((1,), (5, 6, 7, 8, 9), (0.0,) * 5, (1, 1, 3, 3, 3), "", True, (0.5, 9.0, -1.0, 9.0, 9.0))
    assert line_values([0.0, 0.0, 0.0, 4.0], 1.0, begun)[1] == [4.0, 3.5, 4.0, 5.0]


def test_a_rollout_that_the_sandbox_lost_has_no_lines() -> None:
    written = ValuedRollout((1,), (5,), (0.0,), (0,), "", True, (0.5,))
    baseline = Value(Regression(2), gamma=1.0)
    one, lost = baseline(Group(TASK, [written, written], []), [[2.0], None])
    assert isinstance(one, ValueWeighted) and isinstance(lost, ValueWeighted)
    assert (one.returns, one.weights) == ([2.0], [1.5])
    assert (lost.returns, lost.weights, lost.end) == ([], [0.0], 0)
