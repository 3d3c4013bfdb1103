"""One token more for every row: what sampling asks of a model, and transformers' own forward as the way for any model.

Shapes: P prompts, G samples of each, N = P*G rows (rows of one prompt are neighbours), T prompt tokens, V words.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch

from kolmocli.policy.cache import new_cache


class Decoder(Protocol):
    """A model in the middle of writing. Rows form a table of P x G; `logits_NV` are for the next token of each."""

    logits_NV: torch.Tensor

    def step(self, token_N: torch.Tensor) -> None:
        """Give every row its next token, and bring the logits up to date."""
        ...

    def keep(self, rows_PG: torch.Tensor, prompts_P: torch.Tensor) -> None:
        """Go on with these rows only, of these prompts (both by their present numbers), as a table of the new shape."""
        ...


class TransformersDecoder:
    """The model's own forward. Each prompt is read once and its cache repeated for its G samples."""

    def __init__(self, model: Any, ids_PT: torch.Tensor, mask_PT: torch.Tensor, samples: int) -> None:
        self._model = model
        self._cache = new_cache(model.config)
        positions_PT = (mask_PT.cumsum(-1) - 1).clamp(min=0)
        output = model(
            input_ids=ids_PT, attention_mask=mask_PT, position_ids=positions_PT,
            past_key_values=self._cache, use_cache=True, logits_to_keep=1,
        )  # fmt: skip
        self._cache.batch_repeat_interleave(samples)
        self.logits_NV = output.logits[:, -1].repeat_interleave(samples, 0)
        self._mask_NT = mask_PT.repeat_interleave(samples, 0)
        self._position_N = positions_PT[:, -1].repeat_interleave(samples, 0)

    def step(self, token_N: torch.Tensor) -> None:
        self._mask_NT = torch.cat([self._mask_NT, self._mask_NT.new_ones(len(token_N), 1)], -1)
        self._position_N = self._position_N + 1
        output = self._model(
            input_ids=token_N[:, None], attention_mask=self._mask_NT, position_ids=self._position_N[:, None],
            past_key_values=self._cache, use_cache=True,
        )  # fmt: skip
        self.logits_NV = output.logits[:, -1]

    def keep(self, rows_PG: torch.Tensor, prompts_P: torch.Tensor) -> None:
        rows = rows_PG.flatten()
        self._cache.batch_select_indices(rows)
        self._mask_NT, self._position_N = self._mask_NT[rows], self._position_N[rows]
