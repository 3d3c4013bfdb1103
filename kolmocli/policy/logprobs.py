"""Log-probabilities of sampled tokens the plain way, all logits at once: the readable reference of `scoring.py`, and
what it falls back to.

Shapes: N rollouts, T tokens of the longest prompt + program, V words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from kolmocli.policy.rollout import Rollout
from kolmocli.policy.rows import padded


def pack(rollouts: Sequence[Rollout], pad: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Ids [N, T], attention mask [N, T] and the mask of program tokens [N, T], padded on the right."""
    ids, attention = padded([r.prompt + r.tokens for r in rollouts], pad, "right")
    program = attention.bool()
    for row, rollout in enumerate(rollouts):
        program[row, : len(rollout.prompt)] = False
    return ids, attention, program


def token_logprobs(
    model: Any, ids_NT: torch.Tensor, attention_NT: torch.Tensor, temperature: float = 1.0
) -> tuple[torch.Tensor, torch.Tensor]:
    """Log-probability of each token given those before it, and the entropy of the choice, both [N, T].

    Column 0 has no prediction and is 0. Computed in fp32, whatever the model computes in.
    """
    logits_NTV = model(input_ids=ids_NT, attention_mask=attention_NT).logits[:, :-1]
    logprobs_NTV = torch.log_softmax(logits_NTV.float() / temperature, -1)
    chosen_NT = logprobs_NTV.gather(-1, ids_NT[:, 1:, None])[..., 0]
    entropy_NT = -(logprobs_NTV.exp() * logprobs_NTV).sum(-1)
    return torch.nn.functional.pad(chosen_NT, (1, 0)), torch.nn.functional.pad(entropy_NT, (1, 0))
