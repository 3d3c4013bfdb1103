"""From rewards to what each token is blamed or praised with. All arithmetic is exact and tested by hand.

Shapes: a group is the G rollouts of one task; a rollout has T tokens on L lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

BaselineKind = Literal["rloo", "ema", "none"]
_EMA = 0.9
_ZERO = 1e-6
"""An advantage below this is none: rewards are sums of a few floats, so equality is to a tolerance."""


@dataclass
class EmaBaseline:
    """Running mean of rewards, the baseline of `ema`; part of the trainer's state."""

    value: float = 0.0

    def update(self, rewards: Sequence[float]) -> None:
        if rewards:
            self.value = _EMA * self.value + (1.0 - _EMA) * sum(rewards) / len(rewards)


def advantages(rewards: Sequence[float | None], kind: BaselineKind, ema: float = 0.0) -> list[float]:
    """The advantage of each rollout of one group; 0 where the reward is None (the sandbox failed).

    `rloo` compares with the mean of the others, A_i = r_i - mean_{j != i} r_j (Ahmadian et al. 2024,
    arXiv 2402.14740): unbiased. It is never divided by a standard deviation: among passes that differ by
    one bit of length that would shout as loudly as pass against fail.
    """
    known = [r for r in rewards if r is not None]
    if kind == "rloo":
        if len(known) < 2:
            return [0.0] * len(rewards)
        total, others = sum(known), len(known) - 1
        return [0.0 if r is None else r - (total - r) / others for r in rewards]
    baseline = ema if kind == "ema" else 0.0
    return [0.0 if r is None else r - baseline for r in rewards]


def is_dead(group: Sequence[float]) -> bool:
    """A group without any advantage teaches nothing; it is left out of loss and denominator, and counted."""
    return all(abs(a) < _ZERO for a in group)


def token_weights(advantage: float, lines: Sequence[int], end: int, gamma: float) -> list[float]:
    """gamma^(L-1-l) * advantage for a token on line l of an episode of L = `end` lines; 0 beyond its end.

    The reward comes with the last line, so a token's discounted return is gamma to the number of lines
    still to come. Never normalised within the episode.
    """
    return [advantage * gamma ** (end - 1 - line) if line < end else 0.0 for line in lines]
