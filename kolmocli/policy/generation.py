"""Sampling with a KV cache: each prompt is read once, and its cache is shared by its G samples.

Sampling is from the full softmax, at temperature 1 unless another is given: what is scored later is then
the very distribution that was sampled from, with no truncation to correct for.

Shapes: P prompts, G samples of each, N = P*G rows (rows of one prompt are neighbours), T tokens, V words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from kolmocli.pace import Look, unheard
from kolmocli.policy import limits
from kolmocli.policy.decoding import Decoder, TransformersDecoder
from kolmocli.policy.generated import Generated, StateValue
from kolmocli.policy.lean.beginnings import beginnings_in
from kolmocli.policy.lean.decoding import LeanDecoder
from kolmocli.policy.lean.parts import find_lean
from kolmocli.policy.lengths import tables
from kolmocli.policy.rows import COMPACT_SHARE, compact, padded
from kolmocli.processor import Precision

_BLOCK = 256
"""Words of a block, in vocabularies so large that a token is drawn in two steps."""
_STEPS_BETWEEN_LOOKS, _STEPS_ELSEWHERE = {"cpu": 1}, 8
"""Steps between two looks for rows that have ended, by device. A look anywhere but on the CPU waits until the
device has done all that it was told to: meanwhile rows that have ended write on, to a spare row."""


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
    value: StateValue | None = None,
    lean: bool = True,
    finished: Callable[[int, Generated], None] | None = None,
    precision: Precision = "fp32",
    version: int | None = None,
    look: Look = unheard,
) -> list[Generated]:
    """`samples` continuations of every prompt, in order. `generator=None` decodes greedily.

    A continuation ends with the first of `stop_ids` (kept as its last token) or at `max_new_tokens`. Every row has its
    own random numbers from the start, so that which rows are computed together does not change what they draw.
    `value` is asked for the state before each token. `lean=False` takes transformers' forward where there is a leaner one.
    `finished` is called with each continuation, and its place in the result, as soon as it has ended. `precision` is that of
    products of matrices, where weights are in fp32: those of transformers' forward are then under autocast. `look` is called
    between two tokens, and between the layers of the leaner forward. `version` counts the updates of the weights: as long as
    it stays, what prompts begin with is not read again.
    """
    device, rows = model.device, len(prompts) * samples
    uniform_NT = None
    if generator is not None:
        uniform_NT = torch.rand(rows, max_new_tokens, generator=generator, device=device)
    results: dict[int, Generated] = {}
    head = find_lean(model) if lean else None
    begun, read = beginnings_in(model, head, prompts, version)
    # Anywhere but on the CPU a further table costs more than padding does.
    whole = [list(range(len(prompts)))]
    lengths = [len(prompt) - len(before) for prompt, before in zip(prompts, begun, strict=True)]
    for table in tables(lengths, max_new_tokens) if device.type == "cpu" else whole:
        table.sort(key=lambda number: begun[number])  # equal beginnings side by side
        row_N = [number * samples + i for number in table for i in range(samples)]

        def take(row: int, result: Generated, row_N: list[int] = row_N) -> None:
            results[row_N[row]] = result
            if finished is not None:
                finished(row_N[row], result)

        ids_PT, mask_PT = (x.to(device) for x in padded([prompts[n][len(begun[n]) :] for n in table], pad_id, "left"))
        if head is None:
            of_value = None if value is None else value.head
            decoder: Decoder = TransformersDecoder(model, ids_PT, mask_PT, samples, of_value, precision)
        else:
            decoder = LeanDecoder(head, ids_PT, mask_PT, samples, precision, [begun[n] for n in table], read, look)
        _write(
            decoder, ids_PT[:, -1], take, samples=samples, max_new_tokens=max_new_tokens, stop_ids=stop_ids,
            uniform_NT=None if uniform_NT is None else uniform_NT[row_N], temperature=temperature, value=value, look_up=look,
        )  # fmt: skip
    return [results[row] for row in range(rows)]


def _write(
    decoder: Decoder,
    last_P: torch.Tensor,
    take: Callable[[int, Generated], None],
    *,
    samples: int,
    max_new_tokens: int,
    stop_ids: Sequence[int],
    uniform_NT: torch.Tensor | None,
    temperature: float,
    value: StateValue | None,
    look_up: Look,
) -> None:
    """Continue the prompts that the decoder has read, whose last tokens these are; `take` gets each row as it ends."""
    device, rows = last_P.device, len(last_P) * samples
    stops_V = torch.zeros(decoder.logits_NV.shape[-1], dtype=torch.bool, device=device)
    stops_V[[i for i in stop_ids if 0 <= i < len(stops_V)]] = True
    # Row `rows` of the results is spare: what rows that have finished still write goes there.
    token_NT = torch.zeros(rows + 1, max_new_tokens, dtype=torch.long, device=device)
    logprob_NT = torch.zeros(rows + 1, max_new_tokens, device=device)
    value_NT = torch.zeros(rows + 1, max_new_tokens, device=device) if value is not None else None
    # Where a continuation has ended: how many tokens it has; -1 while it is being written.
    length_N = torch.full((rows + 1,), -1, device=device)
    taken = [False] * rows

    def look(written: int) -> int:
        """Tell what has ended since the last look, the first to end first; how many are still being written."""
        lengths = length_N[:rows].tolist()
        fresh = sorted((length, row) for row, length in enumerate(lengths) if length >= 0 and not taken[row])
        if fresh:
            row_N = torch.tensor([row for _, row in fresh], device=device)
            tokens, logprobs = token_NT[row_N, :written].tolist(), logprob_NT[row_N, :written].tolist()
            values = [[]] * len(fresh) if value_NT is None else value_NT[row_N, :written].tolist()
            for (length, row), of_tokens, of_logprobs, of_states in zip(fresh, tokens, logprobs, values, strict=True):
                kept, taken[row] = of_tokens[:length], True
                take(row, Generated(kept, of_logprobs[:length], kept[-1] in stop_ids, of_states[:length]))
        return lengths.count(-1)

    every = _STEPS_BETWEEN_LOOKS.get(device.type, _STEPS_ELSEWHERE)
    result_PG = torch.arange(rows, device=device).view(len(last_P), samples)
    token_N = last_P.repeat_interleave(samples, 0)
    for step in range(max_new_tokens):
        look_up()
        result_N = result_PG.flatten()
        if value is not None and value_NT is not None:
            value_NT[result_N, step] = value(decoder.states_ND)
        draw_N = None if uniform_NT is None else uniform_NT[result_N.clamp(max=rows - 1), step]
        token_N, logprob_NT[result_N, step] = _choose(decoder.logits_NV, temperature, draw_N)
        token_NT[result_N, step] = token_N
        stopped_N = stops_V[token_N]
        length_N[result_N] = torch.where(stopped_N, step + 1, -1)
        result_PG = result_N.masked_fill(stopped_N, rows).view(result_PG.shape)
        if step == max_new_tokens - 1:
            break
        if (step + 1) % every == 0:
            if not (alive := look(step + 1)):
                break
            if alive < COMPACT_SHARE * result_PG.numel():
                result_PG, token_N = compact(decoder, result_PG, token_N, rows)
        decoder.step(token_N)
    length_N.masked_fill_(length_N < 0, max_new_tokens)
    look(max_new_tokens)


def _choose(
    logits_NV: torch.Tensor, temperature: float, draw_N: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """The next token of every row and its log-probability, in fp32. `draw_N` None takes the likeliest."""
    if draw_N is None:
        logprobs_NV = torch.log_softmax(logits_NV.float(), -1)
        token_N = logprobs_NV.argmax(-1)
    else:
        logits_NV = logits_NV.float() if temperature == 1.0 else logits_NV.float() / temperature
        logprobs_NV = torch.log_softmax(logits_NV, -1)
        token_N = _drawn(logprobs_NV.exp(), draw_N)
    return token_N, logprobs_NV.gather(-1, token_N[:, None])[:, 0]


def _drawn(share_NV: torch.Tensor, draw_N: torch.Tensor) -> torch.Tensor:
    """The word of each row in whose part of the sum of all its shares the random number from 0 to 1 falls.

    One uniform per row against the cumulative distribution: a fifth of the cost of `multinomial`, which draws V numbers
    per row. In a large vocabulary the block is found first, so that only its own are added up one after the other.
    """
    words = share_NV.shape[-1]
    if words < limits.WIDE:
        cumulative_NV = share_NV.cumsum(-1)
        token_N = torch.searchsorted(cumulative_NV, draw_N[:, None] * cumulative_NV[:, -1:], right=True)[:, 0]
        return token_N.clamp(max=words - 1)
    blocks_NBW = torch.nn.functional.pad(share_NV, (0, -words % _BLOCK)).unflatten(-1, (-1, _BLOCK))
    until_NB = blocks_NBW.sum(-1).cumsum(-1)
    wanted_N1 = draw_N[:, None] * until_NB[:, -1:]
    block_N1 = torch.searchsorted(until_NB, wanted_N1, right=True).clamp(max=until_NB.shape[-1] - 1)
    before_N1 = torch.nn.functional.pad(until_NB, (1, 0)).gather(-1, block_N1)
    within_NW = blocks_NBW[torch.arange(len(share_NV), device=share_NV.device), block_N1[:, 0]].cumsum(-1)
    place_N1 = torch.searchsorted(within_NW, wanted_N1 - before_N1, right=True).clamp(max=_BLOCK - 1)
    return (block_N1 * _BLOCK + place_N1)[:, 0].clamp(max=words - 1)
