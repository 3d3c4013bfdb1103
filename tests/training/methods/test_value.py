"""What the value head learns in a step, and that the policy's gradient does not see it."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch

from kolmocli.learning import packing
from kolmocli.learning.batches import Batch
from kolmocli.learning.learner import Learner
from kolmocli.learning.regression import Regression
from kolmocli.learning.value import ValueHead
from kolmocli.policy.policy import Policy
from kolmocli.training.methods.value import Value, ValueWeighted
from tests.policies import prompts, tiny

SAMPLES = 4


class Valued:
    """A learner with a value head for its baseline."""

    def __init__(self) -> None:
        self.policy: Policy = tiny()
        self.head: Regression = ValueHead(self.policy).regression
        self.value = Value(self.head, gamma=1.0)
        self.learner = make(self.policy, read_states=self.value.read)

    def step(self, items: Sequence[ValueWeighted], rate: float = 1e-3, *, noise: bool = False) -> Value:
        groups = [items[i : i + SAMPLES] for i in range(0, len(items), SAMPLES)]
        self.learner.step(Batch(groups), rate, denominator=24, noise=noise)
        self.value.observe([])
        return self.value


def make(policy: Policy, **options: Any) -> Learner:
    return Learner(policy, learning_rate=1e-3, max_grad_norm=1e9, entropy_bonus=0.0, **options)


@functools.cache
def batch() -> tuple[ValueWeighted, ...]:
    """Rollouts said to have a line of every four tokens; the last line of each is beyond its episode."""
    written = tiny().rollout(prompts(), samples=SAMPLES, max_new_tokens=14, generator=torch.Generator().manual_seed(0))
    found = []
    for i, rollout in enumerate(written):
        lines = tuple(t // 4 for t in range(len(rollout.tokens)))
        returns = [0.1 * i - line for line in range(lines[-1])]
        weights = [0.5 if line < len(returns) else 0.0 for line in lines]
        found.append(ValueWeighted(replace(rollout, lines=lines), weights, returns))
    return tuple(found)


def test_the_gradient_of_the_policy_does_not_see_the_head() -> None:
    plain, valued = make(tiny()), Valued()
    plain.step(Batch([batch()]), denominator=24)
    valued.step(batch())
    pairs = zip(plain.policy.model.parameters(), valued.policy.model.parameters(), strict=True)
    assert all(torch.equal(a.grad, b.grad) for a, b in pairs)


@pytest.mark.parametrize("noise", [False, True])
def test_micro_batches_do_not_matter_to_the_head(noise: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    heads, losses = [], []
    for limit in (1, 1_000_000):
        monkeypatch.setattr(packing, "TOKENS_PER_MICRO_BATCH", limit)
        valued = Valued()
        losses += [valued.step(batch(), noise=noise).loss for _ in range(2)]
        heads.append(valued.head)
    torch.testing.assert_close(heads[0].weight, heads[1].weight, rtol=1e-3, atol=1e-4)
    assert losses[1] == pytest.approx(losses[3], rel=1e-3)


def test_it_learns_the_lines_of_the_episode_and_reports_what_it_knew_before() -> None:
    valued = Valued()
    first, second = ((v.loss, v.explained) for v in (valued.step(batch(), 0.0) for _ in range(2)))
    expected = [x for w in batch() for x in w.returns]
    assert len(expected) > 30
    assert first[0] == pytest.approx(sum(x * x for x in expected) / len(expected), rel=1e-5)
    mean = sum(expected) / len(expected)
    variance = sum((x - mean) ** 2 for x in expected) / len(expected)
    assert first[1] == pytest.approx(1 - first[0] / variance, rel=1e-4)
    assert second[1] is not None and second[1] > 0.5


def test_a_line_counts_for_as_many_as_it_stands_for() -> None:
    once, thrice = Valued(), Valued()
    once.step([*batch(), *batch()[:9], *batch()[:9]])
    thrice.step([replace(w, count=3.0 if i < 9 else 1.0) for i, w in enumerate(batch())])
    torch.testing.assert_close(once.head.weight, thrice.head.weight, rtol=1e-3, atol=1e-4)


def test_what_is_no_rollout_of_a_task_teaches_the_head_nothing() -> None:
    valued = Valued()
    assert valued.step([replace(w, returns=()) for w in batch()]).loss is None
    assert not valued.head.weight.any()


def test_a_return_that_was_expected_exactly_is_learnt_too() -> None:
    """Weights of 0 alone would cut these lines off."""
    known = [replace(w, weights=[0.0] * len(w.weights)) for w in batch()[1:]]
    loss = Valued().step([batch()[0], *known]).loss
    assert loss is not None and loss > 1.0
