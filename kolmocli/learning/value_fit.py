"""What the value head learns in one step: the returns of the lines, from the policy's states before them.

Shapes: K program tokens of a micro-batch, D hidden units, L lines among them that have a return.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from kolmocli.learning.batches import Weighted
from kolmocli.policy.value import ValueHead

_ALIKE = 1e-6
"""A variance below this share of the mean square is rounding."""


@dataclass(frozen=True, slots=True)
class ValueReport:
    """`loss` is the mean squared error before the step was learned; `explained` the share of the returns' variance that
    the values explain, None where the returns do not differ."""

    loss: float
    explained: float | None


class ValueFit:
    """Collects lines from micro-batches, one step long."""

    def __init__(self, head: ValueHead) -> None:
        self._head = head
        self._count = self._sum = self._squares = self._errors = 0.0

    def add(self, states_KD: torch.Tensor, part: Sequence[Weighted]) -> None:
        """The lines of these rollouts, whose states before each token are given, one rollout after the other."""
        places, returns, counts, before = [], [], [], 0
        for item in part:
            lines = item.rollout.lines
            for t in item.rollout.starts:
                if lines[t] < len(item.returns):
                    places.append(before + t)
                    returns.append(item.returns[lines[t]])
                    counts.append(item.stands_for)
            before += len(lines)
        if not places:
            return
        states_LD = states_KD.detach()[torch.tensor(places, device=states_KD.device)]
        returns_L, counts_L = (torch.tensor(x, device=states_KD.device) for x in (returns, counts))
        self._count += float(counts_L.sum())
        self._sum += float((counts_L * returns_L).sum())
        self._squares += float((counts_L * returns_L.square()).sum())
        self._errors += float((counts_L * (returns_L - self._head(states_LD)).square()).sum())
        self._head.observe(states_LD, returns_L, counts_L)

    def finish(self) -> ValueReport | None:
        """Fit the head to what was collected; None, and as before, where nothing was."""
        if not self._count:
            return None
        self._head.fit()
        loss = self._errors / self._count
        variance = self._squares / self._count - (self._sum / self._count) ** 2
        return ValueReport(loss, 1.0 - loss / variance if variance > _ALIKE * self._squares / self._count else None)
