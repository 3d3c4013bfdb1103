"""Sampling with a KV cache: each prompt is read once, and its cache is shared by its G samples.

Sampling is from the full softmax, at temperature 1 unless told otherwise: what is scored later is then
the very distribution that was sampled from, with no truncation to correct for.

Shapes: P prompts, G samples of each, N = P*G rows (rows of one prompt are neighbours), T tokens, V words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from kolmocli.policy.cache import new_cache

_COMPACT_SHARE = 0.75
"""Finished rows leave the batch once fewer than this share still run: each removal copies the cache."""


@dataclass(frozen=True, slots=True)
class Generated:
    tokens: list[int]
    logprobs: list[float]
    finished: bool


def left_pad(sequences: Sequence[Sequence[int]], pad: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and attention mask, both [len(sequences), longest], padded on the left."""
    width = max(len(s) for s in sequences)
    ids = torch.full((len(sequences), width), pad, dtype=torch.long)
    mask = torch.zeros((len(sequences), width), dtype=torch.long)
    for row, sequence in enumerate(sequences):
        ids[row, width - len(sequence) :] = torch.tensor(sequence, dtype=torch.long)
        mask[row, width - len(sequence) :] = 1
    return ids, mask


@torch.inference_mode()
def generate(
    model: Any,
    prompts: Sequence[Sequence[int]],
    *,
    samples: int,
    max_new_tokens: int,
    stop_ids: Sequence[int],
    pad_id: int,
    generator: torch.Generator | None,
    temperature: float = 1.0,
) -> list[Generated]:
    """`samples` continuations of every prompt, in order. `generator=None` decodes greedily.

    A continuation ends with the first of `stop_ids` (kept as its last token) or at `max_new_tokens`.
    """
    device = model.device
    ids_PT, mask_PT = (x.to(device) for x in left_pad(prompts, pad_id))
    positions_PT = (mask_PT.cumsum(-1) - 1).clamp(min=0)
    cache = new_cache(model.config)
    output = model(
        input_ids=ids_PT, attention_mask=mask_PT, position_ids=positions_PT,
        past_key_values=cache, use_cache=True, logits_to_keep=1,
    )  # fmt: skip
    cache.batch_repeat_interleave(samples)
    logits_NV = output.logits[:, -1].repeat_interleave(samples, 0)
    mask_NT = mask_PT.repeat_interleave(samples, 0)
    position_N = positions_PT[:, -1].repeat_interleave(samples, 0)

    rows = len(prompts) * samples
    results = [Generated([], [], False) for _ in range(rows)]
    alive = list(range(rows))  # alive[i]: the result that batch row i still writes, or -1
    stop = torch.tensor(list(stop_ids), device=device)
    for step in range(max_new_tokens):
        token_N, logprob_N = _choose(logits_NV, temperature, generator)
        stopped_N = torch.isin(token_N, stop)
        for i, (token, logprob, done) in enumerate(
            zip(token_N.tolist(), logprob_N.tolist(), stopped_N.tolist(), strict=True)
        ):
            if alive[i] < 0:
                continue
            result = results[alive[i]]
            result.tokens.append(token)
            result.logprobs.append(logprob)
            if done:
                results[alive[i]] = Generated(result.tokens, result.logprobs, True)
                alive[i] = -1
        running = [i for i, a in enumerate(alive) if a >= 0]
        if not running or step == max_new_tokens - 1:
            break
        if len(running) < _COMPACT_SHARE * len(alive):
            keep = torch.tensor(running, device=device)
            cache.batch_select_indices(keep)
            token_N, mask_NT, position_N = token_N[keep], mask_NT[keep], position_N[keep]
            alive = [alive[i] for i in running]
        mask_NT = torch.cat([mask_NT, mask_NT.new_ones(len(alive), 1)], -1)
        position_N = position_N + 1
        output = model(
            input_ids=token_N[:, None], attention_mask=mask_NT, position_ids=position_N[:, None],
            past_key_values=cache, use_cache=True,
        )  # fmt: skip
        logits_NV = output.logits[:, -1]
    return results


def _choose(
    logits_NV: torch.Tensor, temperature: float, generator: torch.Generator | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """The next token of every row and its log-probability, in fp32."""
    if generator is None:
        logprobs_NV = torch.log_softmax(logits_NV.float(), -1)
        token_N = logprobs_NV.argmax(-1)
    else:
        logprobs_NV = torch.log_softmax(logits_NV.float() / temperature, -1)
        # One uniform per row against the cumulative distribution: a fifth of the cost of `multinomial`,
        # which draws V numbers per row.
        cumulative_NV = logprobs_NV.exp().cumsum(-1)
        uniform_N1 = torch.rand(len(logits_NV), 1, generator=generator, device=logits_NV.device)
        token_N = torch.searchsorted(cumulative_NV, uniform_N1 * cumulative_NV[:, -1:], right=True)[:, 0]
        token_N = token_N.clamp(max=logits_NV.shape[-1] - 1)
    return token_N, logprobs_NV.gather(-1, token_N[:, None])[:, 0]
