"""The policy that a run began with, for the divergence from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import torch

from kolmocli.config import Config
from kolmocli.policy.loading import load_policy
from kolmocli.policy.policy import Policy
from kolmocli.policy.rollout import Rollout
from kolmocli.policy.scoring import Scorer

Reference = Callable[[Sequence[Rollout]], torch.Tensor]
"""From rollouts to the log-probability of each of their program tokens, [K]."""


def open_reference(config: Config, policy: Policy) -> Reference | None:
    """Where `training.kl` is on: the model that was named, or without its adapter the policy itself; None where not.

    It is loaded and not saved: what a run began with is still where it was read from.
    """
    if not config.training.kl:
        return None
    if policy.base is not None:
        return _scored(policy, policy.model.disable_adapter, config.training.temperature)
    began = load_policy(config.model.name, device=str(policy.model.device), seed=config.seed, alphabet=config.alphabet)
    began.model.float().requires_grad_(False)
    return _scored(began, nullcontext, config.training.temperature)


def _scored(policy: Policy, aside: Callable[[], Any], temperature: float) -> Reference:
    scorer = Scorer(policy.model, policy.pad_id)

    def reference(rollouts: Sequence[Rollout]) -> torch.Tensor:
        with torch.no_grad(), aside():
            return scorer(rollouts, temperature).logprobs_K

    return reference
