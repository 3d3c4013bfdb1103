"""The policy that a run trains, and its learner, from what a configuration says of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kolmocli.checkpoints import silent
from kolmocli.config import Training
from kolmocli.config.machine import Model
from kolmocli.learning.learner import Learner, StateReader
from kolmocli.learning.reference import open_reference
from kolmocli.learning.value import ValueHead
from kolmocli.pace import Pace, unheard
from kolmocli.policy.adapters import Adaptation
from kolmocli.policy.loading import load_policy
from kolmocli.policy.policy import Policy
from kolmocli.policy.presets import Alphabet


def load_trained(
    model: Model,
    training: Training,
    *,
    seed: int,
    adapter_rank: int,
    alphabet: Alphabet,
    checkpoint: Path | None = None,
    warn: Callable[[str], None] = silent,
) -> Policy:
    """As a run begins with it, or as it was in this checkpoint; with a value head, as new, where one is its baseline.

    Raises what `load_policy` and `ValueHead` do.
    """
    policy = load_policy(
        str(checkpoint) if checkpoint else model.name,
        device=model.device,
        seed=seed,
        train=Adaptation(adapter_rank, training.lora.alpha, model.load_in_8bit),
        alphabet=alphabet,
        warn=warn,
    )
    if model.precision != "auto":
        policy.precision = model.precision
    if training.baseline == "value":
        policy.value = ValueHead(policy)
    return policy


def open_learner(
    policy: Policy,
    training: Training,
    *,
    model: str,
    seed: int,
    ratio_cap: float | None = None,
    read_states: StateReader | None = None,
    pace: Pace | None = None,
) -> Learner:
    """`model` is what the run began with, as it was named."""
    reference = None
    if training.kl:
        look = unheard if pace is None else pace.look
        reference = open_reference(policy, model, seed=seed, temperature=training.temperature, look=look)
    return Learner(
        policy,
        learning_rate=training.learning_rate,
        max_grad_norm=training.max_grad_norm,
        entropy_bonus=training.entropy_bonus,
        optimiser=training.optimizer,
        kl=training.kl,
        reference=reference,
        ratio_cap=ratio_cap,
        temperature=training.temperature,
        recompute=training.gradient_checkpointing,
        means=training.per_token,
        read_states=read_states,
        pace=pace,
    )
