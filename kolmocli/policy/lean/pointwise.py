"""What both lean forward passes do to each token by itself: the rotary embedding, and norms."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F


def angles(model: Any, like: torch.Tensor, position_NT: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosines and sines for `turn`, [N, T, E], of the device and type of `like`."""
    cos, sin = model.rotary_emb(like, position_NT)
    half = sin.shape[-1] // 2
    return cos, torch.cat([-sin[..., :half], sin[..., half:]], -1)  # the sign of the swapped half, once for all layers


def turn(inputs: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, sign: float = 1.0) -> torch.Tensor:
    """The rotary embedding, x cos + swapped(x) sin: `swapped` exchanges the halves of a head. -1 turns back."""
    half = inputs.shape[-1] // 2
    swapped = torch.cat([inputs[..., half:], inputs[..., :half]], -1)
    return (inputs * cos).addcmul_(swapped, sin, value=sign)


def over_rms(inputs: torch.Tensor, epsilon: float) -> torch.Tensor:
    """One over the root of the mean square of the last dimension, [..., 1]: `rms_norm` takes twice as many passes."""
    length = torch.linalg.vector_norm(inputs, dim=-1, keepdim=True, dtype=torch.float32)
    return length.square_().div_(inputs.shape[-1]).add_(epsilon).rsqrt_()


def norm(inputs: torch.Tensor, layer: Any) -> torch.Tensor:
    """A layer of the kind of `LlamaRMSNorm`. A GPU has one kernel for it, which on a CPU takes twice as many passes."""
    if inputs.is_cuda:
        return F.rms_norm(inputs, inputs.shape[-1:], layer.weight, layer.variance_epsilon)
    return (inputs * over_rms(inputs, layer.variance_epsilon)).to(inputs.dtype).mul_(layer.weight)
