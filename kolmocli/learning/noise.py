"""Noise of the gradient: the part of each group of a step in it.

Shapes: n groups were sampled, g_j is the gradient of group j, scaled so that the batch gradient is their mean. Groups
without a gradient (all failed, or all passed alike) count as zeros: their rollouts were paid for too.

From the squared norms alone, without bias (McCandlish et al. 2018, arXiv 1812.06162, appendix A.1, with one group as
the small batch and all of them as the large one):

    signal   |E g|²     = (n |mean g|² − mean |g_j|²) / (n − 1)
    variance tr(cov g)  = n (mean |g_j|² − |mean g|²) / (n − 1)

variance ÷ signal is their simple noise scale: the number of groups at which noise and signal are equally long.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from kolmocli.learning.batches import Weighted


@dataclass(frozen=True, slots=True)
class GroupGradients:
    """`squared[j]` is the squared norm of what group j added to the gradient, `together` that of the sum over groups."""

    squared: Mapping[int, float]
    together: float

    def signal(self, n: int) -> float | None:
        """|E g|² over n groups; an estimate, so that it may be below 0. None for fewer than two groups."""
        return None if n < 2 else n * (self.together - sum(self.squared.values())) / (n - 1)

    def variance(self, n: int) -> float | None:
        """The trace of the covariance of g over n groups. None for fewer than two groups."""
        return None if n < 2 else n * (n * sum(self.squared.values()) - self.together) / (n - 1)


def one_by_one(
    parameters: Sequence[torch.nn.Parameter],
    groups: Sequence[Sequence[Weighted]],
    backward: Callable[[Sequence[Weighted]], None],
) -> GroupGradients:
    """Call `backward` on one group after the other, empty ones aside, and leave the sum of their gradients in the
    parameters.

    The gradients of the parameters must be None before; a second set of them exists meanwhile.
    """
    sums: list[Any] = [None] * len(parameters)
    squared = {}
    for index, items in enumerate(groups):
        if not items:
            continue
        backward(items)
        own = [p.grad for p in parameters]
        squared[index] = _squared_norm(own)
        sums = [
            new if old is None else old if new is None else old.add_(new) for old, new in zip(sums, own, strict=True)
        ]
        for p in parameters:
            p.grad = None
    for p, total in zip(parameters, sums, strict=True):
        p.grad = total
    return GroupGradients(squared, _squared_norm(sums))


def _squared_norm(gradients: Sequence[torch.Tensor | None]) -> float:
    known = [g for g in gradients if g is not None]
    return float(torch.nn.utils.get_total_norm(known)) ** 2 if known else 0.0
