"""What an update did: loss, gradient, entropy and what was read for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from kolmocli.learning.noise import GroupGradients


@dataclass(frozen=True, slots=True)
class StepReport:
    """`entropy` is nats per token; `tokens` counts those that carried weight, `work` all that were read."""

    loss: float
    grad_norm: float
    entropy: float
    tokens: int
    work: int
    answers: int = 0
    """Right answers that were taught."""
    answer_nats: float = 0.0
    """−log p of these answers, before they were learned."""
    noise: GroupGradients | None = None
    """Noise of the gradient, in steps that measure it."""
    skipped: int = 0
    """Updates that were not made, because their gradient was not finite."""


def together(reports: Sequence[StepReport]) -> StepReport:
    """One report of several updates: mean loss and length of the gradient, mean entropy of all tokens, and sums."""
    tokens = sum(r.tokens for r in reports)
    return StepReport(
        fmean(r.loss for r in reports), fmean(r.grad_norm for r in reports),
        sum(r.entropy * r.tokens for r in reports) / max(tokens, 1), tokens, sum(r.work for r in reports),
        sum(r.answers for r in reports), sum(r.answer_nats for r in reports), skipped=sum(r.skipped for r in reports),
    )  # fmt: skip


@dataclass
class Tally:
    """Sums over the micro-batches of a step."""

    denominator: float
    loss: float = 0.0
    entropy: float = 0.0
    tokens: int = 0
    work: int = 0
    answers: int = 0
    answer_nats: float = 0.0

    def report(self, grad_norm: float, noise: GroupGradients | None, skipped: bool) -> StepReport:
        return StepReport(
            self.loss, grad_norm, self.entropy / max(self.tokens, 1), self.tokens, self.work,
            self.answers, self.answer_nats, noise, int(skipped),
        )  # fmt: skip
