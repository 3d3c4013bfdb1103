"""From rewards to what each token is blamed or praised with. All arithmetic is exact and tested by hand.

Shapes: a group is the G rollouts of one task; a rollout has T tokens on L lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kolmocli.config.baselines import registered_advantages

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


def advantages(rewards: Sequence[float | None], kind: str, ema: float = 0.0) -> list[float]:
    """The advantage of each rollout of one group; 0 where the reward is None (the sandbox failed).

    `rloo` compares with the mean of the others, A_i = r_i - mean_{j != i} r_j (Ahmadian et al. 2024,
    arXiv 2402.14740): unbiased. It is never divided by a standard deviation: among passes that differ by
    one bit of length that would shout as loudly as pass against fail. For comparison there are `grpo`,
    (r_i - mean) / std (Shao et al. 2024, arXiv 2402.03300), which is, and `maxrl`, (r_i - mean) / mean (arXiv
    2602.02710), which makes rare passes loud; it is for rewards that are not negative, and 0 where all are 0. Any other
    name is that of a registered function. `value`, which looks at the program too, is in `training/methods/value.py`.

    Raises:
        UsageError: what a registered function returns are no advantages, or there is none of this name.
    """
    known = [r for r in rewards if r is not None]
    if kind == "rloo":
        if len(known) < 2:
            return [0.0] * len(rewards)
        total, others = sum(known), len(known) - 1
        return [0.0 if r is None else r - (total - r) / others for r in rewards]
    if kind in ("grpo", "maxrl"):
        mean = sum(known) / max(len(known), 1)
        deviation = (sum((r - mean) ** 2 for r in known) / max(len(known) - 1, 1)) ** 0.5
        scale = deviation if kind == "grpo" else mean
        return [0.0 if r is None or deviation < _ZERO or scale < _ZERO else (r - mean) / scale for r in rewards]
    if kind in ("ema", "none"):
        baseline = ema if kind == "ema" else 0.0
        return [0.0 if r is None else r - baseline for r in rewards]
    found = iter(registered_advantages(known, kind) if known else [])
    return [0.0 if r is None else next(found) for r in rewards]


def is_dead(group: Sequence[float]) -> bool:
    """A group without any advantage teaches nothing; it is left out of loss and denominator, and counted."""
    return all(abs(a) < _ZERO for a in group)


def line_returns(rewards: Sequence[float], gamma: float) -> list[float]:
    """G_l = sum_{k >= l} gamma^(k-l) r_k: the discounted return of each line, from the rewards of the lines."""
    returns, after = [], 0.0
    for reward in reversed(rewards):
        after = reward + gamma * after
        returns.append(after)
    return returns[::-1]


def line_advantages(returns: Sequence[Sequence[float] | None], kind: str, ema: float = 0.0) -> list[list[float]]:
    """The advantage of each line of each rollout of one group; none of a rollout that the sandbox lost.

    A return is compared with those of the others at the same line, an episode that is over with its last one. The
    baseline may not be discounted by what is still to come on the line's own side, as in gamma^(L-1-l) (R - b): how
    long an episode gets is the policy's doing, and that would be a bias.
    """
    longest = max((len(g) for g in returns if g is not None), default=0)
    found: list[list[float]] = [[] for _ in returns]
    for line in range(longest):
        column = [None if g is None else g[min(line, len(g) - 1)] for g in returns]
        for mine, own, value in zip(found, returns, advantages(column, kind, ema), strict=True):
            if own is not None and line < len(own):
                mine.append(value)
    return found


def token_weights(of_lines: Sequence[float], lines: Sequence[int]) -> list[float]:
    """The advantage of its line for every token; 0 beyond the end of the episode. Never normalised within it."""
    return [of_lines[line] if line < len(of_lines) else 0.0 for line in lines]
