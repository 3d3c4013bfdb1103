"""The policy's states at the end of a prompt, before it writes a word, as features to predict the outcome.

Shapes: N prompts of T tokens at most, D hidden units.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from kolmocli.policy.head import Head
from kolmocli.policy.limits import PROMPT_TOKENS_AT_ONCE


def prompt_states(head: Head, prompts: Sequence[Sequence[int]], pad: int) -> torch.Tensor:
    """The last hidden state of each prompt and the mean of all its states, [N, 2 D], in fp32; equal prompts are read once."""
    distinct = sorted(dict.fromkeys(map(tuple, prompts)), key=len)
    found: dict[tuple[int, ...], torch.Tensor] = {}
    while distinct:
        rows = max(1, PROMPT_TOKENS_AT_ONCE // len(distinct[-1]))
        part, distinct = distinct[-rows:], distinct[:-rows]
        found.update(zip(part, _read(head, part, pad), strict=True))
    return torch.stack([found[tuple(prompt)] for prompt in prompts])


@torch.inference_mode()
def _read(head: Head, prompts: Sequence[tuple[int, ...]], pad: int) -> torch.Tensor:
    device, width = head.linear.weight.device, max(map(len, prompts))
    ids_NT = torch.tensor([[*p, *[pad] * (width - len(p))] for p in prompts], device=device)
    length_N = torch.tensor([len(p) for p in prompts], device=device)
    mask_NT = torch.arange(width, device=device)[None] < length_N[:, None]
    states_NTD = head.decoder(input_ids=ids_NT, attention_mask=mask_NT.long(), use_cache=False).last_hidden_state
    last_ND = states_NTD[torch.arange(len(prompts), device=device), length_N - 1]
    mean_ND = (states_NTD * mask_NT[..., None]).sum(1) / length_N[:, None]
    return torch.cat([last_ND, mean_ND], -1).float()
