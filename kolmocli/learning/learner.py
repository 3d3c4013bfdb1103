"""One optimiser step from weighted rollouts: the REINFORCE loss and, with weights of 1, supervised learning.

Shapes: K program tokens of a micro-batch, one rollout after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import torch

from kolmocli.config import OptimiserKind
from kolmocli.learning.batches import Batch, Weighted, by_temperature, per_token
from kolmocli.learning.noise import one_by_one
from kolmocli.learning.optimiser import build_optimiser
from kolmocli.learning.packing import micro_batches
from kolmocli.learning.report import StepReport, Tally, together
from kolmocli.learning.room import times_as_large
from kolmocli.learning.undo import all_or_nothing
from kolmocli.pace import Done, Pace
from kolmocli.policy.decoding import rounded
from kolmocli.policy.looking import look_between
from kolmocli.policy.policy import Policy
from kolmocli.policy.recompute import recompute_layers
from kolmocli.policy.rollout import Rollout, sampled_at
from kolmocli.policy.scoring import Scorer, Scores

Reference = Callable[[Sequence[Rollout]], torch.Tensor]
"""From rollouts to the log-probability of each of their program tokens under another policy, [K]."""
StateReader = Callable[[torch.Tensor, Sequence[Weighted]], None]
"""Is shown the last hidden state before each program token, [K, D], of the rollouts of a micro-batch."""
_FURTHEST = 10.0
"""Nats that a token of the policy and the reference may differ by: beyond it exp() would drown all others."""


class Learner:
    """The optimiser of a policy. `step` minimises -sum(weight * log p) / denominator, and what is switched on with it.

    `entropy_bonus` is the weight of the choices' entropy. `kl` is the weight of the divergence from `reference`, per
    sampled token d = r - log r - 1 with r = p_reference / p, which is never negative and is unbiased under the policy's
    own samples (Schulman 2020, joschu.net/blog/kl-approx.html). With `ratio_cap` the weight of a sampled token is
    multiplied by min(p / p_sampler, cap): truncated importance sampling (Espeholt et al. 2018, arXiv 1802.01561, 4.1).
    Log-probabilities are those at the temperature that each rollout was sampled at, those of answers at `temperature`.
    `recompute` has every layer computed again for the backward pass. With `means` a rollout counts by the mean of its tokens.
    `read_states` is shown the hidden states of the learning pass, and changes none of its gradients. Products of matrices are
    in the policy's precision; weights, gradients and the optimiser's moments are in fp32. `pace` counts the rollouts of a step
    and is looked at between any two layers.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        learning_rate: float,
        max_grad_norm: float,
        entropy_bonus: float,
        optimiser: OptimiserKind = "adamw",
        kl: float = 0.0,
        reference: Reference | None = None,
        ratio_cap: float | None = None,
        temperature: float = 1.0,
        recompute: bool = False,
        means: bool = False,
        read_states: StateReader | None = None,
        pace: Pace | None = None,
    ) -> None:
        self.policy = policy
        self.pace = pace or Pace()
        if pace is not None:
            look_between(policy.model, pace.look)
        self.max_grad_norm = max_grad_norm
        self.entropy_bonus = entropy_bonus
        self.kl = kl
        self.reference = reference
        self.ratio_cap = ratio_cap
        self.temperature = temperature
        self.means = means
        self.read_states = read_states
        if recompute:
            recompute_layers(policy.model)
        self.parameters = [p for p in policy.model.parameters() if p.requires_grad]
        self.optimiser = build_optimiser(optimiser, self.parameters, learning_rate)

    def step(
        self,
        batch: Batch | Sequence[Weighted],
        learning_rate: float | None = None,
        *,
        denominator: float | None = None,
        noise: bool = False,
        updates: int = 1,
    ) -> StepReport:
        """One update, at the learning rate of the one before where none is given.

        Without a `denominator` the loss is a mean over rollouts; with one the sum over their tokens divided by it. It is
        that of the whole batch, so micro-batches do not matter. A batch without tokens that carry weight changes nothing.
        With `noise` the groups are learned one by one, which gives the same gradient, and the report says how much they
        differed. With several `updates` each is of a part of the groups, so that all but the first learn from rollouts of
        an older policy, and noise is not measured. Where it raises, weights and optimiser are as they were.
        """
        if learning_rate is not None:
            for group in self.optimiser.param_groups:
                group["lr"] = learning_rate
        batch = batch if isinstance(batch, Batch) else Batch(lessons=batch)
        with self.pace.counting(sum(item.end > 0 for item in batch), "rollouts") as learnt:
            if updates == 1:  # what changes the weights comes last
                report = self._update(batch, denominator, noise, learnt)
            else:
                with all_or_nothing(self.parameters, self.optimiser):
                    parts = batch.parts(updates)
                    report = together([self._update(part, denominator, False, learnt) for part in parts])
        self.policy.version += 1
        return report

    def _update(self, batch: Batch, denominator: float | None, noise: bool, learnt: Done) -> StepReport:
        if denominator is None:
            batch, denominator = batch.map(per_token) if self.means else batch, len(batch)
        if not any(any(w.weights) for w in batch) or denominator <= 0:
            return StepReport(0.0, 0.0, 0.0, 0, 0)
        self.policy.model.eval()  # without dropout: what is scored is the distribution that was sampled from
        self.optimiser.zero_grad(set_to_none=True)
        tally, gradients, rest = Tally(denominator), None, list(batch)
        if noise:
            gradients = one_by_one(self.parameters, batch.groups, lambda part: self._backward(part, tally, learnt))
            rest = list(batch.lessons)
        self._backward(rest, tally, learnt)
        norm = float(torch.nn.utils.clip_grad_norm_(self.parameters, self.max_grad_norm))
        finite = math.isfinite(norm)
        if finite:
            self.optimiser.step()
        return tally.report(norm, gradients, skipped=not finite)

    def _backward(self, batch: Sequence[Weighted], tally: Tally, learnt: Done) -> None:
        """Add the gradient of these rollouts, as many at a time as there is room for."""
        with self.scorer.begun([w.rollout.prompt for w in batch if w.end], self._products) as begun:
            tally.work += 0 if begun is None else begun.read
            for alike in by_temperature(batch, self.temperature):
                parts = micro_batches(alike, shared=self.scorer.shares, begun=begun, times=self.times)
                self._add(parts, tally, learnt)

    def _add(self, parts: Iterable[Sequence[Weighted]], tally: Tally, learnt: Done) -> None:
        for part in parts:
            with self._products():
                scores = self._scores([w.rollout for w in part])
            weights_K = torch.tensor([x for w in part for x in w.weights], device=scores.logprobs_K.device)
            counted_K = weights_K != 0
            answer_K = torch.tensor([w.rollout.is_answer for w in part for _ in w.weights], device=weights_K.device)
            if self.ratio_cap is not None:
                weights_K = torch.where(answer_K, weights_K, weights_K * self._ratios(part, scores.logprobs_K.detach()))
            part_loss = -(weights_K * scores.logprobs_K).sum()
            part_entropy = (scores.entropy_K * counted_K).sum()
            if self.entropy_bonus:
                part_loss = part_loss - self.entropy_bonus * part_entropy
            if self.kl and self.reference is not None:
                with self._products():
                    apart_K = self.reference([w.rollout for w in part]) - scores.logprobs_K
                apart_K = apart_K.clamp(-_FURTHEST, _FURTHEST)
                part_loss = part_loss + self.kl * ((apart_K.exp() - apart_K - 1.0) * (counted_K & ~answer_K)).sum()
            (part_loss / tally.denominator).backward()
            if self.read_states is not None:
                assert scores.states_KD is not None
                self.read_states(scores.states_KD.detach(), part)
            tally.loss += float(part_loss.detach()) / tally.denominator
            tally.entropy += float(part_entropy.detach())
            tally.tokens += int(counted_K.sum())
            tally.work += scores.read
            tally.answers += sum(w.rollout.is_answer for w in part)
            tally.answer_nats -= float(scores.logprobs_K.detach()[answer_K].sum())
            learnt(len(part))

    def _ratios(self, part: Sequence[Weighted], logprobs_K: torch.Tensor) -> torch.Tensor:
        sampled = (w.rollout.logprobs or [0.0] * len(w.weights) for w in part)  # an answer has no ratio
        sampled_K = torch.tensor([x for logprobs in sampled for x in logprobs], device=logprobs_K.device)
        return (logprobs_K - sampled_K).exp().clamp(max=self.ratio_cap)

    def _scores(self, rollouts: Sequence[Rollout]) -> Scores:
        """Scores of rollouts that have one temperature: ratios compare with the sampler, which wrote at it."""
        return self.scorer(rollouts, sampled_at(rollouts, self.temperature))

    @cached_property
    def scorer(self) -> Scorer:
        return Scorer(self.policy.model, self.policy.pad_id)

    @cached_property
    def times(self) -> float:
        """How many times as large as the limits say a micro-batch is on this device."""
        return times_as_large(self.policy.model)

    def _products(self) -> Any:
        return rounded(self.policy.model, self.policy.precision)

    def state_dict(self) -> dict[str, Any]:
        return self.optimiser.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.optimiser.load_state_dict(state)
