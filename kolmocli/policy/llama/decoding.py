"""A decoding step for models of Llama's shape that computes what transformers' forward computes, with less around it.

At these sizes a step of transformers' forward is mostly Python, mask building and a copy of each prompt's keys for every
one of its samples. Here queries of all samples of a prompt meet its keys in one product, a row's own keys in another,
under one softmax; the weights are the model's own (those of small layers copied side by side, the way round that few
rows are multiplied fastest). A test holds the two to each other for every family below.

Shapes: P prompts, G samples of each, N = P*G rows, T prompt tokens, S tokens written, L layers, H key heads, R query
heads per key head, E numbers per head, D hidden units.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import functional as F
from transformers import LlamaModel, MistralModel, Qwen2Model, Qwen3Model

from kolmocli.policy.cache import attends_to_all
from kolmocli.policy.head import Head, underlying

_FAMILIES = (LlamaModel, MistralModel, Qwen2Model, Qwen3Model)
_FIXED_ROPES = {"default", "linear", "llama3"}
"""Kinds of rotary embedding whose angles do not depend on how long the text has become."""
_JOINED_BELOW = 1 << 20
"""Matrices of fewer numbers are copied side by side: larger ones gain nothing and would take their memory twice."""
_ROOM = 65
"""Tokens that the cache of a row grows by. Not a power of two: the rows would share a few lines of a processor's cache."""


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
        positions_PT = (mask_PT.cumsum(-1) - 1).clamp(min=0)
        hidden_PTD = model.embed_tokens(ids_PT)
        cos, sin = (x.unsqueeze(2) for x in angles(model, hidden_PTD, positions_PT))
        allowed_PTT = None if mask_PT.all() else _allowed(mask_PT)
        for i, layer in enumerate(self._layers):
            is_last = i == len(self._layers) - 1
            hidden_PTD = layer.read(hidden_PTD, cos, sin, allowed_PTT, samples, is_last)
        self._position_N = positions_PT[:, -1].repeat_interleave(samples, 0)
        self._bias_PT: torch.Tensor | None = None
        if allowed_PTT is not None:
            self._bias_PT = torch.zeros_like(mask_PT, dtype=hidden_PTD.dtype).masked_fill_(mask_PT == 0, float("-inf"))
        self._scale_H1 = self._layers[0].scale_of_heads(hidden_PTD)
        state_PD = norm(hidden_PTD[:, -1], model.norm)
        self.states_ND = state_PD.repeat_interleave(samples, 0)
        self.logits_NV = head.logits(state_PD).repeat_interleave(samples, 0)

    def step(self, token_N: torch.Tensor) -> None:
        model = self._head.decoder
        self._position_N = self._position_N + 1
        hidden_ND = model.embed_tokens(token_N)
        # Scores are scaled with the angles that queries are turned by, once for all layers.
        cos, sin = (x[0][:, None] * self._scale_H1 for x in angles(model, hidden_ND, self._position_N[None]))
        for layer in self._layers:
            hidden_ND = layer(hidden_ND, cos, sin, self._bias_PT, self._written)
        self._written += 1
        self.states_ND = norm(hidden_ND, model.norm)
        self.logits_NV = self._head.logits(self.states_ND)

    def keep(self, rows_PG: torch.Tensor, prompts_P: torch.Tensor) -> None:
        for layer in self._layers:
            layer.keep(rows_PG, prompts_P)
        self._position_N = self._position_N[rows_PG.flatten()]
        if self._bias_PT is not None:
            self._bias_PT = self._bias_PT[prompts_P]


class _Layer:
    """One layer, with the keys and values of the prompts, [P, H, E, T] and [P, H, T, E], and of the rows [P, H, G, room, E]."""

    def __init__(self, layer: Any, config: Any) -> None:
        self._layer = layer
        attention, mlp = layer.self_attn, layer.mlp
        self._head_size = attention.head_dim
        self._key_heads = config.num_key_value_heads
        self._query_heads = config.num_attention_heads
        self._scale = attention.scaling
        self._norms = getattr(attention, "q_norm", None), getattr(attention, "k_norm", None)
        self._qkv = _Joined([attention.q_proj, attention.k_proj, attention.v_proj])
        self._output = _Joined([attention.o_proj])
        self._gate_up = _Joined([mlp.gate_proj, mlp.up_proj])
        self._down = _Joined([mlp.down_proj])

    def scale_of_heads(self, like: torch.Tensor) -> torch.Tensor:
        """What queries, and then keys, are to be multiplied with: [heads of both, 1]."""
        return like.new_tensor([[self._scale]] * self._query_heads + [[1.0]] * self._key_heads)

    def read(
        self,
        hidden_PTD: torch.Tensor,
        cos: torch.Tensor,
        sin: torch.Tensor,
        allowed_PTT: torch.Tensor | None,
        samples: int,
        is_last: bool,
    ) -> torch.Tensor:
        """Take the prompts in; of the last layer only their last state is made."""
        turned, value = self._project(hidden_PTD, cos, sin)
        query, key, value = (x.transpose(1, 2) for x in (*turned.split([self._query_heads, self._key_heads], 2), value))
        self._prompt = key.mT.contiguous(), value.contiguous()
        shape = (*key.shape[:2], samples, _ROOM, self._head_size)
        self._own = key.new_empty(shape), value.new_empty(shape)
        causal = allowed_PTT is None
        if is_last:
            hidden_PTD, query, causal = hidden_PTD[:, -1:], query[:, :, -1:], False
            allowed_PTT = None if allowed_PTT is None else allowed_PTT[:, :, -1:]
        mixed = F.scaled_dot_product_attention(
            query, key, value, attn_mask=allowed_PTT, is_causal=causal, scale=self._scale, enable_gqa=True
        )
        return self._finish(hidden_PTD, mixed.transpose(1, 2).flatten(2))

    def __call__(
        self, hidden_ND: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, bias_PT: torch.Tensor | None, written: int
    ) -> torch.Tensor:
        turned, value = self._project(hidden_ND, cos, sin)
        return self._finish(hidden_ND, self._attend(turned, value, bias_PT, written))

    def _project(self, hidden: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Queries and keys of all heads, turned, and values: [..., heads, E]."""
        qkv = self._qkv(norm(hidden, self._layer.input_layernorm)).unflatten(-1, (-1, self._head_size))
        turned, value = qkv.split([self._query_heads + self._key_heads, self._key_heads], -2)
        if self._norms[0] is not None:
            parts = turned.split([self._query_heads, self._key_heads], -2)
            turned = torch.cat([norm(x, own) for x, own in zip(parts, self._norms, strict=True)], -2)
        return turn(turned, cos, sin), value

    def _finish(self, hidden: torch.Tensor, mixed: torch.Tensor) -> torch.Tensor:
        layer = self._layer
        hidden = self._output(mixed).add_(hidden)
        gate, up = self._gate_up(norm(hidden, layer.post_attention_layernorm)).chunk(2, -1)
        return self._down(layer.mlp.act_fn(gate).mul_(up)).add_(hidden)

    def _attend(
        self, turned: torch.Tensor, value: torch.Tensor, bias_PT: torch.Tensor | None, written: int
    ) -> torch.Tensor:
        """Mixed values of the rows [N, heads * E]; the query's part of `turned` is scaled."""
        rows, heads = len(turned), self._key_heads
        prompt_keys, prompt_values = self._prompt
        prompts = len(prompt_keys)
        table = (prompts, rows // prompts, heads, -1, self._head_size)
        query = turned[:, : self._query_heads].view(table).transpose(1, 2)  # P H G R E
        if written == self._own[0].shape[3]:
            self._own = _roomier(self._own[0]), _roomier(self._own[1])
        for own, new in zip(self._own, (turned[:, self._query_heads :], value), strict=True):
            own[:, :, :, written] = new.view(prompts, -1, heads, self._head_size).transpose(1, 2)
        keys, values = (own[:, :, :, : written + 1] for own in self._own)
        shared = query.flatten(2, 3) @ prompt_keys  # P H (GR) T
        if bias_PT is not None:
            shared = shared + bias_PT[:, None, None]
        alone = (query @ keys.mT).flatten(2, 3)  # P H (GR) S
        share = torch.softmax(torch.cat([shared, alone], -1), -1, dtype=torch.float32).to(query.dtype)
        of_prompt, of_own = share.split([shared.shape[-1], alone.shape[-1]], -1)
        mixed = (of_prompt @ prompt_values).view(query.shape)
        mixed = mixed + of_own.unflatten(2, query.shape[2:4]) @ values
        return mixed.transpose(1, 2).reshape(rows, -1)

    def keep(self, rows_PG: torch.Tensor, prompts_P: torch.Tensor) -> None:
        self._prompt = (self._prompt[0][prompts_P], self._prompt[1][prompts_P])
        self._own = _select(self._own[0], rows_PG), _select(self._own[1], rows_PG)


class _Joined:
    """Linear layers of one input as one product; large ones, adapters and 8-bit layers are asked one by one."""

    def __init__(self, layers: Sequence[Any]) -> None:
        self._layers = layers
        self._weight: torch.Tensor | None = None
        plain = all(type(layer) is torch.nn.Linear for layer in layers)
        if plain and sum(layer.weight.numel() for layer in layers) < _JOINED_BELOW:
            self._weight = torch.cat([layer.weight for layer in layers]).T.contiguous()
            self._bias = None if layers[0].bias is None else torch.cat([layer.bias for layer in layers])

    def __call__(self, inputs: torch.Tensor) -> torch.Tensor:
        if self._weight is None:
            apart = [layer(inputs) for layer in self._layers]
            return apart[0] if len(apart) == 1 else torch.cat(apart, -1)
        outputs = inputs @ self._weight
        return outputs if self._bias is None else outputs.add_(self._bias)


def angles(model: Any, like: torch.Tensor, position_NT: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosines and sines for `turn`, [N, T, E], of the device and type of `like`."""
    cos, sin = model.rotary_emb(like, position_NT)
    half = sin.shape[-1] // 2
    return cos, torch.cat([-sin[..., :half], sin[..., half:]], -1)  # the sign of the swapped half, once for all layers


def turn(inputs: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, sign: float = 1.0) -> torch.Tensor:
    """The rotary embedding, x cos + swapped(x) sin: `swapped` exchanges the halves of a head. -1 turns back."""
    half = inputs.shape[-1] // 2
    swapped = torch.cat([inputs[..., half:], inputs[..., :half]], -1)
    return (inputs * cos).addcmul_(swapped, sin, value=sign)


def over_rms(inputs: torch.Tensor, epsilon: float) -> torch.Tensor:
    """One over the root of the mean square of the last dimension, [..., 1]: `rms_norm` takes twice as many passes."""
    length = torch.linalg.vector_norm(inputs, dim=-1, keepdim=True, dtype=torch.float32)
    return length.square_().div_(inputs.shape[-1]).add_(epsilon).rsqrt_()


def norm(inputs: torch.Tensor, layer: Any) -> torch.Tensor:
    """A layer of the kind of `LlamaRMSNorm`."""
    return (inputs * over_rms(inputs, layer.variance_epsilon)).to(inputs.dtype).mul_(layer.weight)


def _allowed(mask_PT: torch.Tensor) -> torch.Tensor:
    """What each token of a prompt attends to, [P, 1, T, T]; padding to itself, as to nothing would be no number."""
    itself = torch.eye(mask_PT.shape[1], dtype=torch.bool, device=mask_PT.device)
    return ((mask_PT.bool()[:, None] | itself).tril())[:, None]


def _roomier(own: torch.Tensor) -> torch.Tensor:
    larger = own.new_empty(*own.shape[:3], own.shape[3] + _ROOM, own.shape[4])
    larger[:, :, :, : own.shape[3]] = own
    return larger


def _select(own: torch.Tensor, rows_PG: torch.Tensor) -> torch.Tensor:
    """Rows of a [P, H, G, room, E] cache, as a table of the shape of `rows_PG`."""
    by_row = own.transpose(1, 2).flatten(0, 1)
    return by_row[rows_PG.flatten()].unflatten(0, rows_PG.shape).transpose(1, 2).contiguous()
