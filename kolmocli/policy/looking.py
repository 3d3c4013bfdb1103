"""Looking up while a model computes, which takes seconds for one micro-batch of a small language model."""

from __future__ import annotations

from typing import Any

from kolmocli.pace import Look

_MATRIX = 2
"""Dimensions of the weights of what takes long."""


def look_between(model: Any, look: Look) -> None:
    """From now on `look` is called before every product with a matrix of the model's own, and in the backward pass when the
    gradient of a parameter is there. An exception ends the pass that is under way."""
    for module in model.modules():
        if any(p.ndim >= _MATRIX for p in module.parameters(recurse=False)):
            module.register_forward_pre_hook(lambda *_: look())
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.register_post_accumulate_grad_hook(lambda _: look())
