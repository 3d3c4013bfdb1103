"""The step that changes weights: its gradient is REINFORCE's, and how the batch is cut does not matter."""

from __future__ import annotations

import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from kolmocli.learning import packing
from kolmocli.learning.batches import Batch, Weighted
from kolmocli.learning.learner import Learner
from kolmocli.learning.packing import micro_batches
from kolmocli.learning.report import together
from kolmocli.learning.returns import line_advantages, line_returns, token_weights
from kolmocli.policy.loading import load_policy
from kolmocli.policy.policy import Policy
from kolmocli.policy.rollout import Rollout, ValuedRollout
from kolmocli.training.methods.value import line_values
from tests.policies import prompts, tiny


def make(policy: Any, rate: float = 1e-3, entropy_bonus: float = 0.0) -> Learner:
    return Learner(policy, learning_rate=rate, max_grad_norm=1e9, entropy_bonus=entropy_bonus)


# --- the gradient, on a policy whose every outcome can be listed


class Toy(torch.nn.Module):
    """Two tokens out of three words each: a table for the first, one row per first token for the second."""

    device = torch.device("cpu")

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first = torch.nn.Parameter(torch.randn(3, dtype=torch.double))
        self.second = torch.nn.Parameter(torch.randn(3, 3, dtype=torch.double))

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> SimpleNamespace:
        first = self.first.expand(len(input_ids), 3)
        second = self.second[input_ids[:, 1]]
        return SimpleNamespace(logits=torch.stack([first, second, torch.zeros_like(first)], 1)[:, : input_ids.shape[1]])

    def probabilities(self) -> torch.Tensor:
        """Of every outcome, [3, 3]."""
        return torch.softmax(self.first, -1)[:, None] * torch.softmax(self.second, -1)


OUTCOMES = list(itertools.product(range(3), range(3)))
REWARDS = [0.0, 1.0, 0.2, 0.0, 0.0, 1.25, -1.0, 0.5, 1.0]


def policy_of(model: Toy) -> Any:
    return Policy("toy", model, SimpleNamespace(pad_token_id=0))


def expected_batch(model: Toy, group: int, kind: str, gamma: float) -> list[Weighted]:
    """Every outcome once, its weights those it gets on average over all groups that it can be in."""
    p = model.probabilities().detach().flatten().tolist()
    totals = [[0.0, 0.0] for _ in OUTCOMES]
    for members in itertools.product(range(9), repeat=group):
        chance = torch.tensor([p[i] for i in members], dtype=torch.double).prod().item()
        returns = [line_returns([0.0, REWARDS[i]], gamma) for i in members]
        for i, of_lines in zip(members, line_advantages(returns, kind, 0.4), strict=True):
            totals[i] = [total + chance * a / group for total, a in zip(totals[i], of_lines, strict=True)]
    lines = (0, 1)
    return [
        Weighted(Rollout((0,), tokens, (0.0, 0.0), lines, "", True), token_weights(of_lines, lines))
        for tokens, of_lines in zip(OUTCOMES, totals, strict=True)
    ]


def gradients(model: Toy) -> list[torch.Tensor]:
    assert model.first.grad is not None
    assert model.second.grad is not None
    return [model.first.grad.clone(), model.second.grad.clone()]


@pytest.mark.parametrize("kind", ["rloo", "ema", "none"])
@pytest.mark.parametrize("group", [2, 3])
def test_the_expected_gradient_is_that_of_the_expected_reward(kind: str, group: int) -> None:
    model = Toy()
    analytic = torch.autograd.grad(
        (model.probabilities().flatten() * torch.tensor(REWARDS)).sum(), [model.first, model.second]
    )
    make(policy_of(model)).step(expected_batch(model, group, kind, 1.0), denominator=1.0)
    for ours, exact in zip(gradients(model), analytic, strict=True):
        torch.testing.assert_close(-ours, exact, rtol=0, atol=1e-6)


VALUES: dict[tuple[int, ...], float] = {(): 0.7, (0,): -1.0, (1,): 2.0, (2,): 0.4}
"""Of the state after each beginning, however wrong."""


@pytest.mark.parametrize("ahead", [0, 1])
def test_a_value_may_be_wrong_but_may_not_look_ahead(ahead: int) -> None:
    """One that had seen the token that it is to be compared with would be a bias."""
    model, batch = Toy(), []
    analytic = torch.autograd.grad(
        (model.probabilities().flatten() * torch.tensor(REWARDS)).sum(), [model.first, model.second]
    )
    for tokens, reward, p in zip(OUTCOMES, REWARDS, model.probabilities().flatten().tolist(), strict=True):
        values = VALUES[tokens[:ahead]], VALUES[tokens[:1]]
        rollout = ValuedRollout((0,), tokens, (0.0, 0.0), (0, 1), "", True, values)
        _, of_lines = line_values([0.0, reward], 1.0, rollout)
        batch.append(Weighted(rollout, [p * a for a in token_weights(of_lines, rollout.lines)]))
    make(policy_of(model)).step(batch, denominator=1.0)
    near = [torch.allclose(-g, exact, rtol=0, atol=1e-6) for g, exact in zip(gradients(model), analytic, strict=True)]
    assert near == [not ahead, True]


def test_the_discount_shrinks_the_gradient_of_the_first_line_only() -> None:
    whole, discounted = Toy(), Toy()
    for model, gamma in ((whole, 1.0), (discounted, 0.25)):
        make(policy_of(model)).step(expected_batch(model, 2, "rloo", gamma), denominator=1.0)
    torch.testing.assert_close(discounted.first.grad, 0.25 * whole.first.grad)
    torch.testing.assert_close(discounted.second.grad, whole.second.grad)


def test_the_reported_entropy_is_that_of_the_choices() -> None:
    model = Toy()
    batch = [Weighted(Rollout((0,), (1, 2), (0.0, 0.0), (0, 0), "", True), [1.0, 0.0])]
    report = make(policy_of(model)).step(batch, denominator=1.0)
    exact = torch.distributions.Categorical(logits=Toy().first).entropy()
    assert report.entropy == pytest.approx(exact.item(), abs=1e-6)
    assert (report.tokens, report.work) == (1, 2)  # the token without a weight is not read


def test_the_entropy_bonus_makes_choices_more_even() -> None:
    model = Toy()
    before = torch.distributions.Categorical(logits=model.first).entropy().item()
    batch = [Weighted(Rollout((0,), (i, 0), (0.0, 0.0), (0, 0), "", True), [1e-12, 0.0]) for i in range(3)]
    make(policy_of(model), 0.01, entropy_bonus=1.0).step(batch, denominator=3)
    assert torch.distributions.Categorical(logits=model.first).entropy().item() > before


# --- on real policies


def batch_of(policy: Policy, samples: int = 4) -> list[Weighted]:
    written = policy.rollout(prompts(), samples=samples, max_new_tokens=16, generator=torch.Generator().manual_seed(0))
    return [Weighted(r, [(-1.0) ** i * (1 + i % 3)] * len(r.tokens)) for i, r in enumerate(written)]


def weights_of(policy: Policy) -> list[torch.Tensor]:
    return [p.detach().clone() for p in policy.model.parameters()]


def test_micro_batches_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even where the rollouts of one prompt are cut apart, which only reads the prompt again."""
    seen = []
    for limit in (1, 200, 1_000_000):
        monkeypatch.setattr(packing, "TOKENS_PER_MICRO_BATCH", limit)
        policy = tiny()
        report = make(policy).step(batch_of(policy), denominator=24)
        seen.append((len(list(micro_batches(batch_of(policy)))), report, [p.grad for p in policy.model.parameters()]))
    assert [count for count, *_ in seen] == sorted({count for count, *_ in seen}, reverse=True)
    assert [report.work for _, report, _ in seen] == sorted({report.work for _, report, _ in seen}, reverse=True)
    for _, report, grads in seen[1:]:
        assert report.tokens == seen[0][1].tokens
        assert report.loss == pytest.approx(seen[0][1].loss, abs=1e-4)
        for ours, first in zip(grads, seen[0][2], strict=True):
            torch.testing.assert_close(ours, first, rtol=1e-4, atol=1e-5)


def test_the_order_of_the_batch_does_not_matter() -> None:
    one, other = tiny(), tiny()
    make(one).step(batch_of(one), denominator=24)
    make(other).step(batch_of(other)[::-1], denominator=24)
    for a, b in zip(one.model.parameters(), other.model.parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad, rtol=1e-4, atol=1e-5)


def test_several_updates_are_a_step_each_for_their_share_of_the_groups() -> None:
    one, other = tiny(), tiny()
    groups, lessons = [[w, w] for w in batch_of(one)], batch_of(one)[:3]
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # sums of several threads have other last digits at times
    report = make(one).step(Batch(groups, lessons), 1e-3, updates=2)
    learner = make(other)
    reports = [learner.step(Batch(groups[i::2], lessons[i::2]), 1e-3) for i in range(2)]
    torch.set_num_threads(before)
    assert all(map(torch.equal, one.model.parameters(), other.model.parameters()))
    assert (one.version, other.version) == (1, 2), "the age of a rollout is counted in steps, not in updates"
    assert report == together(reports)
    assert report.tokens == sum(r.tokens for r in reports) and report.loss != reports[0].loss != reports[1].loss


def test_a_batch_without_weights_changes_nothing() -> None:
    policy = tiny()
    learner = make(policy)
    learner.step(batch_of(policy), denominator=24)  # so that the optimiser has a momentum to coast on
    before = weights_of(policy)
    idle = [Weighted(w.rollout, [0.0] * len(w.weights)) for w in batch_of(policy)]
    for batch, denominator in ((idle, 24.0), ([], 24.0), (batch_of(policy), 0.0)):
        assert learner.step(batch, denominator=denominator).tokens == 0
    assert all(torch.equal(a, b) for a, b in zip(before, weights_of(policy), strict=True))


def test_a_gradient_that_is_not_finite_changes_nothing() -> None:
    policy = tiny()
    before = weights_of(policy)
    batch = [Weighted(w.rollout, [float("inf")] * len(w.weights)) for w in batch_of(policy)]
    make(policy).step(batch, denominator=1.0)
    assert all(torch.equal(a, b) for a, b in zip(before, weights_of(policy), strict=True))


def test_the_gradient_is_clipped_to_the_norm() -> None:
    policy = tiny()
    learner = Learner(policy, learning_rate=1e-3, max_grad_norm=0.5, entropy_bonus=0.0)
    assert learner.step(batch_of(policy), denominator=1.0).grad_norm > 0.5
    norm = torch.stack([p.grad.square().sum() for p in policy.model.parameters()]).sum().sqrt()
    assert norm.item() == pytest.approx(0.5, rel=1e-3)


def test_praise_makes_a_program_likelier_and_blame_less_likely() -> None:
    for sign in (1.0, -1.0):
        policy = tiny()
        batch = [Weighted(batch_of(policy)[0].rollout, [sign] * len(batch_of(policy)[0].rollout.tokens))]
        learner = make(policy, 1e-4)
        losses = [learner.step(batch, denominator=1.0).loss for _ in range(3)]
        assert losses[0] > losses[1] > losses[2]


def test_a_chat_model_with_dropout_is_scored_as_it_was_sampled(chat_folder: Path) -> None:
    policy = load_policy(str(chat_folder), device="cpu")
    written = policy.rollout(
        prompts([(1, 2)]), samples=4, max_new_tokens=12, generator=torch.Generator().manual_seed(0)
    )
    before = weights_of(policy)
    report = make(policy).step([Weighted(r, [1.0] * len(r.tokens)) for r in written], denominator=1.0)
    assert report.loss == pytest.approx(-sum(sum(r.logprobs) for r in written), abs=1e-3)
    assert not all(torch.equal(a, b) for a, b in zip(before, weights_of(policy), strict=True))
