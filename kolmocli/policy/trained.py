"""The policy that a configuration trains."""

from __future__ import annotations

from pathlib import Path

from kolmocli.config import Config
from kolmocli.policy.adapters import Adaptation
from kolmocli.policy.loading import load_policy
from kolmocli.policy.policy import Policy
from kolmocli.policy.value import open_value_head


def load_trained(config: Config, checkpoint: Path | None = None) -> Policy:
    """As a run begins with it, or as it was in this checkpoint; with a value head, as new, where one is its baseline.

    Raises what `load_policy` and `open_value_head` do.
    """
    policy = load_policy(
        str(checkpoint) if checkpoint else config.model.name,
        device=config.model.device,
        seed=config.seed,
        train=Adaptation(config.adapter_rank, config.training.lora.alpha, config.model.load_in_8bit),
        alphabet=config.alphabet,
    )
    if config.training.baseline == "value":
        policy.value_head = open_value_head(policy.model)
    return policy
