"""One optimiser step from weighted rollouts: the REINFORCE loss and, with weights of 1, supervised learning.

Shapes: N rollouts in a micro-batch, T tokens.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from kolmocli.config import OptimiserKind
from kolmocli.policy.logprobs import pack, token_logprobs
from kolmocli.policy.policy import Policy
from kolmocli.policy.rollout import Rollout
from kolmocli.training.limits import TOKENS_PER_MICRO_BATCH
from kolmocli.training.optimiser import build_optimiser


@dataclass(frozen=True, slots=True)
class Weighted:
    """A rollout and one weight per token: the advantage that its log-probability is multiplied with."""

    rollout: Rollout
    weights: Sequence[float]


@dataclass(frozen=True, slots=True)
class StepReport:
    """`entropy` is nats per token; `tokens` counts those that carried weight, `work` all that were read."""

    loss: float
    grad_norm: float
    entropy: float
    tokens: int
    work: int


class Learner:
    """The optimiser of a policy. `step` minimises -sum(weight * log p) / denominator (+ entropy bonus)."""

    def __init__(
        self,
        policy: Policy,
        *,
        learning_rate: float,
        max_grad_norm: float,
        entropy_bonus: float,
        optimiser: OptimiserKind = "adamw",
    ) -> None:
        self.policy = policy
        self.max_grad_norm = max_grad_norm
        self.entropy_bonus = entropy_bonus
        self.parameters = [p for p in policy.model.parameters() if p.requires_grad]
        self.optimiser = build_optimiser(optimiser, self.parameters, learning_rate)

    def set_learning_rate(self, value: float) -> None:
        for group in self.optimiser.param_groups:
            group["lr"] = value

    def step(self, batch: Sequence[Weighted], denominator: float) -> StepReport:
        """One update. The denominator is that of the whole batch, so micro-batches do not matter.

        A batch without tokens that carry weight changes nothing.
        """
        if not any(any(w.weights) for w in batch) or denominator <= 0:
            return StepReport(0.0, 0.0, 0.0, 0, 0)
        model = self.policy.model
        model.eval()  # without dropout: what is scored is the distribution that was sampled from
        self.optimiser.zero_grad(set_to_none=True)
        loss, entropy, tokens, work = 0.0, 0.0, 0, 0
        for part in micro_batches(batch):
            ids, attention, program = pack([w.rollout for w in part], self.policy.pad_id)
            weights = torch.zeros(ids.shape)
            weights[program] = torch.tensor([x for w in part for x in w.weights])
            ids, attention, weights = (x.to(model.device) for x in (ids, attention, weights))
            with self._precision():
                logprobs_NT, entropy_NT = token_logprobs(model, ids, attention)
            counted_NT = weights != 0
            part_entropy = (entropy_NT * counted_NT).sum()
            part_loss = (-(weights * logprobs_NT).sum() - self.entropy_bonus * part_entropy) / denominator
            part_loss.backward()
            loss += float(part_loss.detach())
            entropy += float(part_entropy.detach())
            tokens += int(counted_NT.sum())
            work += int(attention.sum())
        norm = float(torch.nn.utils.clip_grad_norm_(self.parameters, self.max_grad_norm))
        if math.isfinite(norm):
            self.optimiser.step()
        return StepReport(loss, norm, entropy / max(tokens, 1), tokens, work)

    def _precision(self) -> Any:
        """bfloat16 where the device multiplies it natively; elsewhere it is several times slower."""
        device = self.policy.model.device.type
        return torch.autocast(device, torch.bfloat16, enabled=device == "cuda")

    def state_dict(self) -> dict[str, Any]:
        return self.optimiser.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.optimiser.load_state_dict(state)


def micro_batches(batch: Sequence[Weighted]) -> Iterator[list[Weighted]]:
    """Rollouts of like length together, as many as fit the token limit."""

    def length(w: Weighted) -> int:
        return len(w.rollout.prompt) + len(w.rollout.tokens)

    part: list[Weighted] = []
    for item in sorted(batch, key=length):
        if part and length(item) * (len(part) + 1) > TOKENS_PER_MICRO_BATCH:
            yield part
            part = []
        part.append(item)
    if part:
        yield part
