"""Advantages and returns, by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kolmocli.learning.returns import (
    EmaBaseline,
    advantages,
    is_dead,
    line_advantages,
    line_returns,
    token_weights,
)

rewards = st.lists(st.one_of(st.none(), st.floats(-5, 5)), max_size=10)


def test_rloo_compares_with_the_mean_of_the_others() -> None:
    assert advantages([1.0, 0.0, 0.0, 0.5], "rloo") == pytest.approx([1 - 0.5 / 3, -0.5, -0.5, 0.5 - 1 / 3])


def test_rloo_leaves_out_what_the_sandbox_lost() -> None:
    assert advantages([1.0, None, 0.0], "rloo") == [1.0, 0.0, -1.0]
    assert advantages([1.0, None], "rloo") == [0.0, 0.0]
    assert advantages([None, None], "rloo") == [0.0, 0.0]
    assert advantages([], "rloo") == []


def test_ema_and_none_compare_with_one_number() -> None:
    assert advantages([1.0, None, 0.0], "ema", 0.25) == [0.75, 0.0, -0.25]
    assert advantages([1.0, None, 0.0], "none", 0.25) == [1.0, 0.0, 0.0]


@given(rewards)
def test_rloo_advantages_add_to_nothing_and_keep_the_order(group: list[float | None]) -> None:
    values = advantages(group, "rloo")
    assert sum(values) == pytest.approx(0, abs=1e-9)
    known = [(r, a) for r, a in zip(group, values, strict=True) if r is not None]
    assert sorted(known) == sorted(known, key=lambda pair: (pair[1], pair[0]))


def test_the_running_mean_moves_a_tenth_of_the_way() -> None:
    baseline = EmaBaseline(1.0)
    baseline.update([3.0, 1.0])
    assert baseline.value == pytest.approx(1.1)
    baseline.update([])
    assert baseline.value == pytest.approx(1.1)


@pytest.mark.parametrize(
    ("group", "dead"),
    [
        ([0.0, 0.0], True),
        ([], True),
        ([1e-9, -1e-9], True),
        ([0.0, 1e-3], False),
        ([-0.5, 0.5], False),
        ([-0.5, -0.5], False),
    ],
)
def test_a_group_without_any_advantage_is_dead(group: list[float], dead: bool) -> None:
    assert is_dead(group) == dead


@pytest.mark.parametrize("reward", [0.0, 1.1, 0.1 + 0.2])
def test_equal_rewards_make_a_dead_group(reward: float) -> None:
    assert is_dead(advantages([reward] * 7, "rloo"))


@pytest.mark.parametrize("kind", ["grpo", "maxrl"])
def test_what_differs_by_a_last_digit_is_equal(kind: str) -> None:
    assert advantages([0.1 + 0.2, 0.3, 0.3], kind) == [0.0, 0.0, 0.0]


def test_the_return_is_discounted_over_the_lines_to_come() -> None:
    assert line_returns([0.0, 2.0], 0.5) == [1.0, 2.0]
    assert line_returns([1.0, -1.0, 2.0], 0.5) == [1.0, 0.0, 2.0]
    assert line_returns([0.0, 0.0, -3.0], 1.0) == [-3.0, -3.0, -3.0]
    assert line_returns([0.0, 1.0], 0.0) == [0.0, 1.0]
    assert line_returns([], 0.5) == []


def test_a_line_is_compared_with_the_same_line_of_the_others() -> None:
    returns = [[0.25, 0.5, 1.0], None, [0.0], [2.0, 4.0]]
    assert line_advantages(returns, "rloo") == [
        pytest.approx([0.25 - 1.0, 0.5 - 2.0, 1.0 - 2.0]),
        [],
        pytest.approx([0.0 - 2.25 / 2]),
        pytest.approx([2.0 - 0.125, 4.0 - 0.25]),
    ]
    assert line_advantages(returns, "ema", 0.5) == [[-0.25, 0.0, 0.5], [], [-0.5], [1.5, 3.5]]
    assert line_advantages([None, None], "rloo") == [[], []]
    assert line_advantages([[1.0, 1.0], None], "rloo") == [[0.0, 0.0], []]


def test_without_discount_every_line_has_the_advantage_of_the_rollout() -> None:
    rewards, lengths = [1.1, 0.0, 0.3, 1.2], [3, 1, 4, 2]
    returns = [line_returns([0.0] * (n - 1) + [r], 1.0) for r, n in zip(rewards, lengths, strict=True)]
    of_rollouts = zip(advantages(rewards, "rloo"), lengths, strict=True)
    assert line_advantages(returns, "rloo") == [[a] * n for a, n in of_rollouts]


def test_every_token_has_the_weight_of_its_line_up_to_the_end() -> None:
    # three lines of two, one and two tokens; the episode ended with the second line
    assert token_weights([1.0, 2.0], [0, 0, 1, 2, 2]) == [1.0, 1.0, 2.0, 0.0, 0.0]
    assert token_weights([-3.0], [0, 1, 2]) == [-3.0, 0.0, 0.0]
