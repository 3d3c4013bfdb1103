"""How large a micro-batch may be on a GPU: one of 2,048 tokens leaves it idle most of the time.

SmolLM2-135M learned 5,000 tokens in 0.95 s on an H100 in parts of 2,048 tokens, and in 0.23 s at once (`benchmarks/gpu.py`).
"""

from __future__ import annotations

from typing import Any

import torch

from kolmocli.learning.limits import TOKENS_PER_MICRO_BATCH
from kolmocli.policy.head import underlying
from kolmocli.policy.sizes import PLAIN

_MOST = 8.0
_SHARE = 0.5
"""Of the GPU's memory, for the policy, its optimiser and a micro-batch. It depends on the kind of GPU alone, so that a run is cut
into the same parts whatever else the GPU is doing."""
_FLOAT = 4


def times_as_large(model: Any) -> float:
    """How many times as large as `limits` says: 1 to 8 on a GPU, as far as there is memory for it, and 1 elsewhere."""
    if model.device.type != "cuda":
        return 1.0
    return times_in(torch.cuda.get_device_properties(model.device).total_memory, model)


def times_in(memory: int, model: Any) -> float:
    """The same, for a GPU with so many bytes."""
    held = sum(p.nbytes + 3 * _FLOAT * p.numel() * p.requires_grad for p in model.parameters())
    config = underlying(model).config.get_text_config()
    of_mlp = getattr(config, "intermediate_size", None) or 4 * config.hidden_size
    numbers = config.num_hidden_layers * PLAIN["fp32"].per_token(config.hidden_size, of_mlp, convolves=False)
    return max(1.0, min(_MOST, (_SHARE * memory - held) / (_FLOAT * numbers * TOKENS_PER_MICRO_BATCH)))
