"""The policy that a run began with, for the divergence from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import torch

from kolmocli.learning.learner import Reference
from kolmocli.pace import Look, unheard
from kolmocli.policy.loading import load_policy
from kolmocli.policy.looking import look_between
from kolmocli.policy.policy import Policy
from kolmocli.policy.rollout import Rollout, sampled_at
from kolmocli.policy.scoring import Scorer


def open_reference(policy: Policy, model: str, *, seed: int, temperature: float, look: Look = unheard) -> Reference:
    """The model that was named, or without its adapter the policy itself. `look` is called while it computes.

    It is loaded and not saved: what a run began with is still where it was read from.
    """
    if policy.base is not None:
        return _scored(policy, policy.model.disable_adapter, temperature)
    began = load_policy(model, device=str(policy.model.device), seed=seed, alphabet=policy.alphabet or "programs")
    began.model.float().requires_grad_(False)
    look_between(began.model, look)
    return _scored(began, nullcontext, temperature)


def _scored(policy: Policy, aside: Callable[[], Any], temperature: float) -> Reference:
    scorer = Scorer(policy.model, policy.pad_id)

    def reference(rollouts: Sequence[Rollout]) -> torch.Tensor:
        with torch.no_grad(), aside():
            return scorer(rollouts, sampled_at(rollouts, temperature)).logprobs_K

    return reference
