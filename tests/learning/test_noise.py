"""The noise of the gradient: measured without changing it, by formulas that are those of a covariance."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from kolmocli.learning.batches import Batch, Weighted
from kolmocli.learning.learner import Learner
from kolmocli.learning.noise import GroupGradients
from tests.policies import TARGETS, prompts, tiny

SAMPLES = 3


def learner() -> Learner:
    return Learner(tiny(), learning_rate=1e-3, max_grad_norm=1e9, entropy_bonus=0.0)


def batch() -> Batch:
    """Rollouts of six groups, and an answer that belongs to none."""
    policy = tiny()
    written = policy.rollout(prompts(), samples=SAMPLES, max_new_tokens=8, generator=torch.Generator().manual_seed(0))
    weighted = [Weighted(r, [(-1.0) ** i * (1 + i % 3)] * len(r.tokens)) for i, r in enumerate(written)]
    groups = [weighted[i : i + SAMPLES] for i in range(0, len(weighted), SAMPLES)]
    taught = replace(written[0], prompt=written[4].prompt, logprobs=())
    return Batch(groups, [Weighted(taught, [0.5] * len(taught.tokens))])


def gradient(part: list[Weighted], denominator: float) -> torch.Tensor:
    """Of the loss of these rollouts alone."""
    one = learner()
    one.optimiser.step = lambda *_: None  # type: ignore[method-assign, assignment]
    one.step(part, denominator=denominator)
    return torch.cat([p.grad.flatten() for p in one.parameters if p.grad is not None])


def test_measuring_does_not_change_the_step() -> None:
    plain, measured = learner(), learner()
    items = batch()
    before, after = plain.step(items, denominator=7.0), measured.step(items, denominator=7.0, noise=True)
    assert before.noise is None and after.noise is not None
    assert (after.tokens, after.answers) == (before.tokens, before.answers)
    assert (after.loss, after.grad_norm) == pytest.approx((before.loss, before.grad_norm), rel=1e-4)
    whole, summed = (
        torch.cat([p.grad.flatten() for p in one.parameters if p.grad is not None]) for one in (plain, measured)
    )
    assert float((whole - summed).norm()) < 1e-4 * float(whole.norm())  # sums in another order


def test_what_is_measured_are_the_gradients_of_the_groups() -> None:
    items = batch()
    noise = learner().step(Batch([*items.groups, []], items.lessons), denominator=7.0, noise=True).noise
    assert noise is not None
    assert list(noise.squared) == list(range(len(TARGETS)))
    for index in (0, 3):
        own = gradient(list(items.groups[index]), 7.0)
        assert noise.squared[index] == pytest.approx(float(own.square().sum()), rel=1e-3)
    together = gradient([item for group in items.groups for item in group], 7.0)
    assert noise.together == pytest.approx(float(together.square().sum()), rel=1e-3)


def test_the_estimates_are_those_of_a_sample_covariance() -> None:
    """Variance: the trace of the unbiased sample covariance. Signal: the mean product of two different groups."""
    n, generator = 5, torch.Generator().manual_seed(1)
    g_nD = torch.randn(n, 7, generator=generator, dtype=torch.double) + 0.5
    parts = g_nD / n
    found = GroupGradients(
        {i: float(p.square().sum()) for i, p in enumerate(parts)}, float(parts.sum(0).square().sum())
    )
    assert found.variance(n) == pytest.approx(float(torch.cov(g_nD.T).trace()))
    products = g_nD @ g_nD.T
    assert found.signal(n) == pytest.approx(float(products.sum() - products.trace()) / (n * (n - 1)))


def test_groups_without_a_gradient_count_as_zeros() -> None:
    one = torch.tensor([3.0, 4.0])
    found = GroupGradients({0: float((one / 2).square().sum())}, float((one / 2).square().sum()))
    assert found.signal(2) == pytest.approx(0.0)
    assert found.variance(2) == pytest.approx(12.5)
    assert (found.signal(1), found.variance(1)) == (None, None)


def test_answers_are_measured_before_they_are_learned() -> None:
    one = learner()
    (answer,) = one.policy.rollout(
        prompts([(1, 2)]), samples=1, max_new_tokens=6, generator=torch.Generator().manual_seed(2)
    )
    items = [Weighted(replace(answer, logprobs=()), [1.0] * len(answer.tokens)), *batch().groups[0][:2]]
    report = one.step(items, denominator=3.0)
    assert report.answers == 1
    assert report.answer_nats == pytest.approx(-sum(answer.logprobs), rel=1e-4)
    again = one.step(items, denominator=3.0)
    assert math.isfinite(again.answer_nats) and again.answer_nats < report.answer_nats
