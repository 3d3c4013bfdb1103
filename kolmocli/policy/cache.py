"""A growing KV cache that does not copy itself at every token, and how a model is given one."""

from __future__ import annotations

from typing import Any

import torch
from transformers import Cache, DynamicCache
from transformers.cache_utils import DynamicLayer

from kolmocli.models.folders import name_of_cache
from kolmocli.policy.head import underlying

_CHUNK = 32
"""Positions that a full buffer grows by: one copy per chunk instead of one per token."""


class ChunkedLayer(DynamicLayer):
    """A `DynamicLayer` whose keys and values are views of buffers [rows, heads, capacity, head size].

    `DynamicLayer` concatenates, which copies the whole cache for every new token; with many short rows on
    a CPU that was the largest part of sampling. The attributes `keys` and `values` stay what they were, so
    reordering, repeating and selecting rows are inherited.
    """

    _buffers: tuple[torch.Tensor, torch.Tensor] | None = None

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        start = self.get_seq_length()
        end = start + key_states.shape[-2]
        if not self._has_room(end):
            self._grow(key_states, value_states, end)
        assert self._buffers is not None
        keys, values = self._buffers
        keys[:, :, start:end] = key_states
        values[:, :, start:end] = value_states
        self.keys, self.values = keys[:, :, :end], values[:, :, :end]
        return self.keys, self.values

    def _has_room(self, end: int) -> bool:
        """Whether `keys` is still a view of the buffer (rows may have been selected since) with space left."""
        if self._buffers is None or self.keys is None:
            return False
        buffer = self._buffers[0]
        return self.keys.data_ptr() == buffer.data_ptr() and end <= buffer.shape[-2]

    def _grow(self, key_states: torch.Tensor, value_states: torch.Tensor, end: int) -> None:
        old = (self.keys, self.values) if self.get_seq_length() else None
        keys, values = (x.new_empty(*x.shape[:2], end + _CHUNK, x.shape[3]) for x in (key_states, value_states))
        self._buffers = (keys, values)
        if old is not None:
            for buffer, view in zip(self._buffers, old, strict=True):
                assert view is not None
                buffer[:, :, : view.shape[-2]] = view


def attends_to_all(config: Any) -> bool:
    """Whether every layer attends to every token before: no sliding window, no state of another kind."""
    config = config.get_text_config()  # of a model that sees as well
    kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
    windows = getattr(config, "sliding_window", None) or "local" in getattr(config, "attention_layers", ())  # GPT-Neo's
    return kinds == {"full_attention"} and not windows


def new_cache(config: Any) -> Cache:
    """The cache to sample with; models with sliding or mixed layers keep transformers' own."""
    if attends_to_all(config):
        return Cache(layer_class_to_replicate=ChunkedLayer)
    return DynamicCache(config=config)


def with_cache(model: Any, cache: Any) -> dict[str, Any]:
    """Arguments with which the forward of a model, or of its decoder, reads and fills this cache.

    A forward with `**kwargs` takes any name, and may read without a cache: so its parameters are looked at.
    """
    return {name_of_cache(underlying(model)) or "past_key_values": cache, "use_cache": True}
