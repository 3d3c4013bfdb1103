"""One token more for every row: what sampling asks of a model, and transformers' own forward as the way for any model.

Shapes: P prompts, G samples of each, N = P*G rows (rows of one prompt are neighbours), T prompt tokens, V words,
D hidden units.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch

from kolmocli.policy.cache import new_cache, with_cache
from kolmocli.policy.head import Head
from kolmocli.processor import Precision


class Decoder(Protocol):
    """A model in the middle of writing. Rows form a table of P x G; `logits_NV` are for the next token of each, from
    the last hidden states `states_ND`."""

    logits_NV: torch.Tensor
    states_ND: torch.Tensor

    def step(self, token_N: torch.Tensor) -> None:
        """Give every row its next token, and bring the logits up to date."""
        ...

    def keep(self, rows_PG: torch.Tensor, prompts_P: torch.Tensor) -> None:
        """Go on with these rows only, of these prompts (both by their present numbers), as a table of the new shape."""
        ...


def rounded(model: Any, precision: Precision) -> torch.autocast:
    """The context in which transformers' forward multiplies in this precision."""
    return torch.autocast(model.device.type, torch.bfloat16, enabled=precision == "bf16")


class TransformersDecoder:
    """The model's own forward. Each prompt is read once and its cache repeated for its G samples.

    With a `head` the model is called without it, and there are `states_ND`; else there are not.
    """

    logits_NV: torch.Tensor
    states_ND: torch.Tensor

    def __init__(
        self,
        model: Any,
        ids_PT: torch.Tensor,
        mask_PT: torch.Tensor,
        samples: int,
        head: Head | None = None,
        precision: Precision = "fp32",
    ) -> None:
        self._model, self._head, self._precision = model, head, precision
        self._cache = new_cache(model.config)
        self._cached = with_cache(model if head is None else head.decoder, self._cache)
        positions_PT = (mask_PT.cumsum(-1) - 1).clamp(min=0)
        self._read(input_ids=ids_PT, attention_mask=mask_PT, position_ids=positions_PT)
        self._select(torch.arange(len(ids_PT), device=ids_PT.device).repeat_interleave(samples))
        self.logits_NV = self.logits_NV.repeat_interleave(samples, 0)
        if head is not None:
            self.states_ND = self.states_ND.repeat_interleave(samples, 0)
        self._mask_NT = mask_PT.repeat_interleave(samples, 0)
        self._position_N = positions_PT[:, -1].repeat_interleave(samples, 0)

    def step(self, token_N: torch.Tensor) -> None:
        self._mask_NT = torch.cat([self._mask_NT, self._mask_NT.new_ones(len(token_N), 1)], -1)
        self._position_N = self._position_N + 1
        # Mamba's state holds what was read: a mask of it would be multiplied with the new token.
        mask_NT = self._mask_NT[:, -1:] if "cache_params" in self._cached else self._mask_NT
        self._read(input_ids=token_N[:, None], attention_mask=mask_NT, position_ids=self._position_N[:, None])

    def _read(self, **inputs: torch.Tensor) -> None:
        if self._head is None:
            with rounded(self._model, self._precision):
                self.logits_NV = self._model(**inputs, **self._cached, logits_to_keep=1).logits[:, -1]
        else:
            with rounded(self._model, self._precision):
                self.states_ND = self._head.decoder(**inputs, **self._cached).last_hidden_state[:, -1]
            self.logits_NV = self._head.logits(self.states_ND)

    def _select(self, rows: Any) -> None:
        """These rows of the cache, each as often as it is named: the one way that layers of every kind have."""
        self._cache.reorder_cache(rows)

    def keep(self, rows_PG: torch.Tensor, prompts_P: torch.Tensor) -> None:
        rows = rows_PG.flatten()
        self._select(rows)
        self._mask_NT, self._position_N = self._mask_NT[rows], self._position_N[rows]
