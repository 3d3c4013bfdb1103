"""What the value head learns in a step, and that the policy's gradient does not see it."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import pytest
import torch

from kolmocli.learning import batches
from kolmocli.learning.batches import Weighted
from kolmocli.learning.learner import Learner
from kolmocli.policy.value import open_value_head
from tests.policies import prompts, tiny


def make(policy: Any, *, values: bool = True) -> Learner:
    if values:
        policy.value_head = open_value_head(policy.model)
    return Learner(policy, learning_rate=1e-3, max_grad_norm=1e9, entropy_bonus=0.0)


@functools.cache
def batch() -> tuple[Weighted, ...]:
    """Rollouts said to have a line of every four tokens; the last line of each is beyond its episode."""
    written = tiny().rollout(prompts(), samples=4, max_new_tokens=14, generator=torch.Generator().manual_seed(0))
    found = []
    for i, rollout in enumerate(written):
        lines = tuple(t // 4 for t in range(len(rollout.tokens)))
        returns = [0.1 * i - line for line in range(lines[-1])]
        weights = [0.5 if line < len(returns) else 0.0 for line in lines]
        found.append(Weighted(replace(rollout, lines=lines), weights, group=i // 4, returns=returns))
    return tuple(found)


def test_the_gradient_of_the_policy_does_not_see_the_head() -> None:
    found = []
    for values in (False, True):
        policy = tiny()
        make(policy, values=values).step(batch(), denominator=24)
        found.append([p.grad for p in policy.model.parameters()])
    assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))


@pytest.mark.parametrize("noise", [False, True])
def test_micro_batches_do_not_matter_to_the_head(noise: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    heads, reports = [], []
    for limit in (1, 1_000_000):
        monkeypatch.setattr(batches, "TOKENS_PER_MICRO_BATCH", limit)
        learner = make(tiny())
        for _ in range(2):
            reports.append(learner.step(batch(), denominator=24, noise=noise).value)
        heads.append(learner.policy.value_head)
    torch.testing.assert_close(heads[0].weight, heads[1].weight, rtol=1e-3, atol=1e-4)
    assert reports[1].loss == pytest.approx(reports[3].loss, rel=1e-3)


def test_it_learns_the_lines_of_the_episode_and_reports_what_it_knew_before() -> None:
    learner = make(tiny())
    learner.set_learning_rate(0.0)
    first, second = (learner.step(batch(), denominator=24).value for _ in range(2))
    expected = [x for w in batch() for x in w.returns]
    assert len(expected) > 30
    assert first.loss == pytest.approx(sum(x * x for x in expected) / len(expected), rel=1e-5)
    mean = sum(expected) / len(expected)
    variance = sum((x - mean) ** 2 for x in expected) / len(expected)
    assert first.explained == pytest.approx(1 - first.loss / variance, rel=1e-4)
    assert second.explained > 0.5


def test_a_line_counts_for_as_many_as_it_stands_for() -> None:
    once, thrice = make(tiny()), make(tiny())
    once.step([*batch(), *batch()[:9], *batch()[:9]], denominator=24)
    thrice.step([replace(w, stands_for=3.0 if i < 9 else 1.0) for i, w in enumerate(batch())], denominator=24)
    torch.testing.assert_close(once.policy.value_head.weight, thrice.policy.value_head.weight, rtol=1e-3, atol=1e-4)


def test_what_is_no_rollout_of_a_task_teaches_the_head_nothing() -> None:
    learner = make(tiny())
    report = learner.step([replace(w, returns=(), answer=True) for w in batch()], denominator=24)
    assert report.value is None
    assert not learner.policy.value_head.weight.any()


def test_a_return_that_was_expected_exactly_is_learnt_too() -> None:
    """Weights of 0 alone would cut these lines off."""
    learner = make(tiny())
    known = [replace(w, weights=[0.0] * len(w.weights)) for w in batch()[1:]]
    assert learner.step([batch()[0], *known], denominator=24).value.loss > 1.0
