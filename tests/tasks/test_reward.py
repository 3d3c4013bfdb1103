"""The three reward rules, by hand."""

from __future__ import annotations

import pytest

from kolmocli.tasks.reward import Binary, ConstantMinusLength, Relative, Reward, reward_rule


def test_relative_pays_one_and_a_share_of_what_was_saved() -> None:
    rule = reward_rule(Reward(kind="relative", length_weight=0.5))
    assert rule == Relative(0.5)
    assert rule.failure == 0.0
    assert rule.success(25, 100) == 1.0 + 0.5 * 0.75
    assert rule.success(100, 100) == 1.0
    assert rule.success(150, 100) == 1.0 - 0.5 * 0.5


def test_relative_takes_no_more_than_the_weight_away() -> None:
    assert Relative(0.25).success(10_000, 100) == 0.75
    assert Relative(0.25).success(0, 100) == 1.25


def test_constant_minus_length_pays_by_the_bit() -> None:
    rule = reward_rule(Reward(kind="constant_minus_length", constant=10, length_penalty=0.5))
    assert rule == ConstantMinusLength(10, 0.5)
    assert (rule.failure, rule.success(4, 100), rule.success(40, 100)) == (0.0, 8.0, -10.0)


def test_binary_ignores_the_length() -> None:
    rule = reward_rule(Reward(kind="binary"))
    assert rule == Binary()
    assert (rule.failure, rule.success(4, 100), rule.success(400, 100)) == (-1.0, 1.0, 1.0)


@pytest.mark.parametrize("kind", ["relative", "constant_minus_length", "binary"])
def test_every_rule_may_pay_for_parts(kind: str) -> None:
    assert reward_rule(Reward.model_validate({"kind": kind})).partial == 0.0
    assert reward_rule(Reward.model_validate({"kind": kind, "partial": 0.3})).partial == 0.3


@pytest.mark.parametrize("kind", ["relative", "binary"])
def test_a_pass_is_worth_more_than_a_failure_however_long(kind: str) -> None:
    rule = reward_rule(Reward.model_validate({"kind": kind}))
    assert rule.success(10**6, 10) > rule.failure
