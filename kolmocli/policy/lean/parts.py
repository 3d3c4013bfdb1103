"""Parts of a layer under one set of names: Llama and its kin name them differently from Lfm2.

Every layer here is h + operator(norm(h)), then h + mlp(norm(h)) with a gated MLP. The operator is attention with rotary
embeddings, or Lfm2's short convolution: of B, C and x, three images of the input, C * conv(B * x), where each channel is
convolved with a kernel of its own over the last K tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional as F
from transformers import Lfm2Model, LlamaModel, MistralModel, Qwen2Model, Qwen3Model

from kolmocli.policy.head import Head, underlying

_FAMILIES = (LlamaModel, MistralModel, Qwen2Model, Qwen3Model, Lfm2Model)
_KINDS = {"full_attention", "conv"}
_FIXED_ROPES = {"default", "linear", "llama3"}
"""Kinds of rotary embedding whose angles do not depend on how long the text has become."""


@dataclass(frozen=True, slots=True)
class Attention:
    query: Any
    key: Any
    value: Any
    output: Any
    query_norm: Any
    """None where queries and keys are taken as they are."""
    key_norm: Any
    head_size: int
    scale: float


@dataclass(frozen=True, slots=True)
class Convolution:
    inputs: Any
    """To B, C and x."""
    kernel: Any
    """The `Conv1d`: its weight is [D, 1, K], the last of K for the present token. It has no bias."""
    output: Any

    @property
    def taps(self) -> tuple[torch.Tensor, ...]:
        """K rows of [D]: for the present token first."""
        return self.kernel.weight[:, 0].flip(1).unbind(1)


@dataclass(frozen=True, slots=True)
class Layer:
    operator: Attention | Convolution
    before: Any
    """The norm before the operator."""
    between: Any
    """The norm before the MLP."""
    gate: Any
    up: Any
    down: Any
    activation: Any


def find_lean(model: Any) -> Head | None:
    """The head of a model whose decoder is made of `Layer`s; None for any other."""
    model = underlying(model)
    decoder: Any = getattr(model, "model", None)
    if type(decoder) not in _FAMILIES or type(model.lm_head) is not torch.nn.Linear:
        return None
    config = decoder.config
    kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
    fixed = (config.rope_parameters or {}).get("rope_type", "default") in _FIXED_ROPES
    unlike = not kinds <= _KINDS or getattr(config, "sliding_window", None) or getattr(config, "conv_bias", False)
    return Head(decoder, model.lm_head, 1.0, None) if fixed and not unlike else None


def layers_of(decoder: Any) -> list[Layer]:
    return [_of_lfm2(layer) if isinstance(decoder, Lfm2Model) else _of_llama(layer) for layer in decoder.layers]


def last_norm(decoder: Any) -> Any:
    return decoder.embedding_norm if isinstance(decoder, Lfm2Model) else decoder.norm


def _of_llama(layer: Any) -> Layer:
    a, mlp = layer.self_attn, layer.mlp
    norms = getattr(a, "q_norm", None), getattr(a, "k_norm", None)
    attention = Attention(a.q_proj, a.k_proj, a.v_proj, a.o_proj, *norms, a.head_dim, a.scaling)
    norms = layer.input_layernorm, layer.post_attention_layernorm
    return Layer(attention, *norms, mlp.gate_proj, mlp.up_proj, mlp.down_proj, mlp.act_fn)


def _of_lfm2(layer: Any) -> Layer:
    operator: Attention | Convolution
    if layer.is_attention_layer:
        a = layer.self_attn
        norms = a.q_layernorm, a.k_layernorm
        operator = Attention(a.q_proj, a.k_proj, a.v_proj, a.out_proj, *norms, a.head_dim, a.scaling)
    else:
        operator = Convolution(layer.conv.in_proj, layer.conv.conv, layer.conv.out_proj)
    mlp = layer.feed_forward
    return Layer(operator, layer.operator_norm, layer.ffn_norm, mlp.w1, mlp.w3, mlp.w2, F.silu)
