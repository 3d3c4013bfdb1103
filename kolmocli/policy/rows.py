"""Tables of rows: texts padded to one width, and fewer rows once some have ended.

Shapes: P prompts, G rows of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch

from kolmocli.policy.decoding import Decoder

COMPACT_SHARE = 0.75
"""Finished rows leave the batch once what is left fits a table of this share: each removal copies the cache."""


def padded(
    sequences: Sequence[Sequence[int]], pad: int, side: Literal["left", "right"]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and attention mask, both [len(sequences), longest]."""
    width = max(len(s) for s in sequences)
    ids = torch.full((len(sequences), width), pad, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, sequence in enumerate(sequences):
        place = slice(len(sequence)) if side == "right" else slice(width - len(sequence), width)
        ids[row, place] = torch.tensor(sequence, dtype=torch.long)
        mask[row, place] = 1
    return ids, mask


def compact(
    decoder: Decoder, result_PG: torch.Tensor, token_N: torch.Tensor, spare: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Drop finished rows, as far as a smaller table holds the others: its width is that of the prompt with the most."""
    finished_PG = result_PG == spare
    prompts_P = (~finished_PG).any(-1).nonzero()[:, 0]
    order_PG = finished_PG[prompts_P].long().argsort(dim=-1, stable=True)
    order_PG = order_PG[:, : int((~finished_PG).sum(-1).max())]
    if order_PG.numel() > COMPACT_SHARE * result_PG.numel():
        return result_PG, token_N
    rows_PG = prompts_P[:, None] * result_PG.shape[1] + order_PG
    decoder.keep(rows_PG, prompts_P)
    rows = rows_PG.flatten()
    return result_PG.flatten()[rows].view(rows_PG.shape), token_N[rows]
