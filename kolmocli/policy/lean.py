"""A decoding step for models of Llama's shape that computes what transformers' forward computes, with less around it.

At these sizes a step of transformers' forward is mostly Python, mask building and a copy of each prompt's keys for every
one of its samples. Here queries of all samples of a prompt meet its keys in one product, a row's own keys in another,
under one softmax; the weights are the model's own (those of small layers side by side, to be multiplied at once).
Prompts are read by transformers. A test holds the two to each other for every family below.

Shapes: P prompts, G samples of each, N = P*G rows, T prompt tokens, S tokens written, L layers, H key heads, R query
heads per key head, E numbers per head, D hidden units.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import functional as F
from transformers import DynamicCache, LlamaModel, MistralModel, Qwen2Model, Qwen3Model

from kolmocli.policy.cache import attends_to_all
from kolmocli.policy.head import Head, underlying

_FAMILIES = (LlamaModel, MistralModel, Qwen2Model, Qwen3Model)
_FIXED_ROPES = {"default", "linear", "llama3"}
"""Kinds of rotary embedding whose angles do not depend on how long the text has become."""
_JOINED_BELOW = 1 << 20
"""Matrices of fewer numbers are copied side by side: larger ones gain nothing and would take their memory twice."""
_ROOM = 64
"""Tokens that the cache of a row grows by."""


def find_lean(model: Any) -> Head | None:
    """The head of a model that `LeanDecoder` can decode; None for any other."""
    model = underlying(model)
    decoder: Any = getattr(model, "model", None)
    if type(decoder) not in _FAMILIES or type(model.lm_head) is not torch.nn.Linear:
        return None
    config = decoder.config
    fixed = (config.rope_parameters or {}).get("rope_type", "default") in _FIXED_ROPES
    return Head(decoder, model.lm_head, 1.0, None) if fixed and attends_to_all(config) else None


class LeanDecoder:
    """A `Decoder` of a model whose head `find_lean` has found."""

    def __init__(self, head: Head, ids_PT: torch.Tensor, mask_PT: torch.Tensor, samples: int) -> None:
        model, self._head = head.decoder, head
        config = model.config
        self._layers = [_Layer(layer, config) for layer in model.layers]
        self._written = 0
        cache: Any = DynamicCache(config=config)
        positions_PT = (mask_PT.cumsum(-1) - 1).clamp(min=0)
        states_PTD = model(
            input_ids=ids_PT, attention_mask=mask_PT, position_ids=positions_PT, past_key_values=cache, use_cache=True
        ).last_hidden_state
        for layer, cached in zip(self._layers, cache.layers, strict=True):
            layer.start(cached.keys, cached.values, samples)
        self._position_N = positions_PT[:, -1].repeat_interleave(samples, 0)
        hidden = model.embed_tokens.weight
        self._bias_PT: torch.Tensor | None = None
        if not mask_PT.all():
            self._bias_PT = torch.zeros(mask_PT.shape, dtype=hidden.dtype, device=hidden.device)
            self._bias_PT.masked_fill_(mask_PT == 0, float("-inf"))
        self.logits_NV = head.logits(states_PTD[:, -1]).repeat_interleave(samples, 0)

    def step(self, token_N: torch.Tensor) -> None:
        model = self._head.decoder
        self._position_N = self._position_N + 1
        hidden_ND = model.embed_tokens(token_N)
        cos, sin = (x[0][:, None] for x in model.rotary_emb(hidden_ND, self._position_N[None]))
        half = sin.shape[-1] // 2
        sin = torch.cat([-sin[..., :half], sin[..., half:]], -1)  # the sign of the swapped half, once for all layers
        for layer in self._layers:
            hidden_ND = layer(hidden_ND, cos, sin, self._bias_PT, self._written)
        self._written += 1
        self.logits_NV = self._head.logits(_norm(hidden_ND, model.norm))

    def keep(self, rows_PG: torch.Tensor, prompts_P: torch.Tensor) -> None:
        for layer in self._layers:
            layer.keep(rows_PG, prompts_P)
        self._position_N = self._position_N[rows_PG.flatten()]
        if self._bias_PT is not None:
            self._bias_PT = self._bias_PT[prompts_P]


class _Layer:
    """One layer, with the keys and values of the prompts [P, H, T, E] and of the rows [P, H, G, room, E]."""

    def __init__(self, layer: Any, config: Any) -> None:
        self._layer = layer
        attention, mlp = layer.self_attn, layer.mlp
        self._head_size = attention.head_dim
        self._key_heads = config.num_key_value_heads
        self._query_heads = config.num_attention_heads
        self._scale = attention.scaling
        self._norms = getattr(attention, "q_norm", None), getattr(attention, "k_norm", None)
        self._qkv = _Joined([attention.q_proj, attention.k_proj, attention.v_proj])
        self._gate_up = _Joined([mlp.gate_proj, mlp.up_proj])

    def start(self, keys: torch.Tensor, values: torch.Tensor, samples: int) -> None:
        self._prompt = keys.contiguous(), values.contiguous()
        shape = (keys.shape[0], keys.shape[1], samples, _ROOM)
        self._own = keys.new_empty(*shape, keys.shape[-1]), values.new_empty(*shape, values.shape[-1])

    def __call__(
        self, hidden_ND: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, bias_PT: torch.Tensor | None, written: int
    ) -> torch.Tensor:
        layer = self._layer
        mixed = self._attend(_norm(hidden_ND, layer.input_layernorm), cos, sin, bias_PT, written)
        hidden_ND = hidden_ND + layer.self_attn.o_proj(mixed)
        gate, up = self._gate_up(_norm(hidden_ND, layer.post_attention_layernorm)).chunk(2, -1)
        return hidden_ND + layer.mlp.down_proj(layer.mlp.act_fn(gate) * up)

    def _attend(
        self, hidden_ND: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, bias_PT: torch.Tensor | None, written: int
    ) -> torch.Tensor:
        rows, heads = len(hidden_ND), self._key_heads
        prompt_keys, prompt_values = self._prompt
        qkv = self._qkv(hidden_ND).view(rows, -1, self._head_size)
        turned = qkv[:, : self._query_heads + heads]
        if self._norms[0] is not None:
            parts = turned.split([self._query_heads, heads], 1)
            turned = torch.cat([_norm(x, norm) for x, norm in zip(parts, self._norms, strict=True)], 1)
        half = self._head_size // 2
        swapped = torch.cat([turned[..., half:], turned[..., :half]], -1)
        turned = torch.addcmul(turned * cos, swapped, sin)
        prompts = len(prompt_keys)
        table = (prompts, rows // prompts, heads, -1, self._head_size)
        query = (turned[:, : self._query_heads] * self._scale).view(table).transpose(1, 2)  # P H G R E
        if written == self._own[0].shape[3]:
            self._own = tuple(_roomier(x) for x in self._own)  # type: ignore[assignment]
        for own, new in zip(self._own, (turned[:, self._query_heads :], qkv[:, -heads:]), strict=True):
            own[:, :, :, written] = new.view(prompts, -1, heads, self._head_size).transpose(1, 2)
        keys, values = (own[:, :, :, : written + 1] for own in self._own)
        shared = query.flatten(2, 3) @ prompt_keys.mT  # P H (GR) T
        if bias_PT is not None:
            shared = shared + bias_PT[:, None, None]
        alone = (query @ keys.mT).flatten(2, 3)  # P H (GR) S
        share = torch.softmax(torch.cat([shared, alone], -1), -1, dtype=torch.float32).to(query.dtype)
        of_prompt, of_own = share.split([shared.shape[-1], alone.shape[-1]], -1)
        mixed = (of_prompt @ prompt_values).view(query.shape)
        mixed = mixed + of_own.unflatten(2, query.shape[2:4]) @ values
        return mixed.transpose(1, 2).reshape(rows, -1)

    def keep(self, rows_PG: torch.Tensor, prompts_P: torch.Tensor) -> None:
        self._prompt = tuple(x[prompts_P] for x in self._prompt)  # type: ignore[assignment]
        self._own = tuple(_select(x, rows_PG) for x in self._own)  # type: ignore[assignment]


class _Joined:
    """Several linear layers of one input as one product; adapters and 8-bit layers are asked one by one."""

    def __init__(self, layers: Sequence[Any]) -> None:
        self._layers = layers
        self._joined: tuple[torch.Tensor, torch.Tensor | None] | None = None
        plain = all(type(layer) is torch.nn.Linear for layer in layers)
        if plain and sum(layer.weight.numel() for layer in layers) < _JOINED_BELOW:
            bias = None if layers[0].bias is None else torch.cat([layer.bias for layer in layers])
            self._joined = torch.cat([layer.weight for layer in layers]), bias

    def __call__(self, inputs: torch.Tensor) -> torch.Tensor:
        if self._joined is None:
            return torch.cat([layer(inputs) for layer in self._layers], -1)
        return F.linear(inputs, *self._joined)


def _norm(inputs: torch.Tensor, norm: Any) -> torch.Tensor:
    return F.rms_norm(inputs, inputs.shape[-1:], norm.weight, norm.variance_epsilon)


def _roomier(own: torch.Tensor) -> torch.Tensor:
    larger = own.new_empty(*own.shape[:3], own.shape[3] + _ROOM, own.shape[4])
    larger[:, :, :, : own.shape[3]] = own
    return larger


def _select(own: torch.Tensor, rows_PG: torch.Tensor) -> torch.Tensor:
    """Rows of a [P, H, G, room, E] cache, as a table of the shape of `rows_PG`."""
    by_row = own.transpose(1, 2).flatten(0, 1)
    return by_row[rows_PG.flatten()].unflatten(0, rows_PG.shape).transpose(1, 2).contiguous()
