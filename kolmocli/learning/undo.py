"""Several updates of a policy, or none of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy

import torch


@contextmanager
def all_or_nothing(parameters: Sequence[torch.nn.Parameter], optimiser: torch.optim.Optimizer) -> Iterator[None]:
    """Where the block raises, weights and moments are as they were before it."""
    weights = [p.detach().clone() for p in parameters]
    moments = deepcopy(optimiser.state_dict())
    try:
        yield
    except BaseException:
        with torch.no_grad():
            for parameter, before in zip(parameters, weights, strict=True):
                parameter.copy_(before)
        optimiser.load_state_dict(moments)
        raise
