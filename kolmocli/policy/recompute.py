"""Layers that are computed again for the backward pass, so that between them only their inputs are kept.

transformers has the same switch, but it drops the cache that shared prompts need. The caches of `scoring.py` replace
instead of adding, so here a layer may run twice.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint
from transformers.modeling_layers import GradientCheckpointingLayer

from kolmocli.errors import UsageError


def recompute_layers(model: Any) -> None:
    """From now on every layer of the model is computed twice where gradients are asked for.

    Raises UsageError for an architecture whose layers transformers does not mark as fit for it.
    """
    layers = [module for module in model.modules() if isinstance(module, GradientCheckpointingLayer)]
    if not layers:
        raise UsageError(
            f"training: gradient_checkpointing is on, but the layers of a {type(model).__name__} cannot be computed again"
        )
    for layer in layers:
        layer.forward = partial(_twice, layer.forward)


def recomputes(model: Any) -> bool:
    """Whether `recompute_layers` was asked for it."""
    forwards = (vars(module).get("forward") for module in model.modules())
    return any(isinstance(forward, partial) and forward.func is _twice for forward in forwards)


def _twice(forward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    if not torch.is_grad_enabled():
        return forward(*args, **kwargs)
    # Policies are scored without dropout: there is no random state to restore.
    return checkpoint(forward, *args, use_reentrant=False, preserve_rng_state=False, **kwargs)
