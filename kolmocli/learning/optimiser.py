"""The optimisers to choose from."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from kolmocli.config import OptimiserKind
from kolmocli.policy.quiet import quiet_bitsandbytes

_BETAS = (0.9, 0.95)


def build_optimiser(
    kind: OptimiserKind, parameters: Iterable[torch.nn.Parameter], learning_rate: float
) -> torch.optim.Optimizer:
    """AdamW without weight decay; `adamw8bit` keeps its moments in blocks of 8 bits.

    Source: Dettmers et al. 2021 (arXiv 2110.02861). Tensors of fewer than 4,096 numbers keep 32 bits there.
    """
    if kind == "adamw":
        return torch.optim.AdamW(parameters, lr=learning_rate, betas=_BETAS, weight_decay=0.0, fused=True)
    quiet_bitsandbytes()
    from bitsandbytes.optim.adamw import AdamW8bit

    optimiser: torch.optim.Optimizer = AdamW8bit(parameters, lr=learning_rate, betas=_BETAS, weight_decay=0.0)
    return optimiser
