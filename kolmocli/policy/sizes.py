"""Sizes of a model, from its files alone: nothing heavy is imported and no weight is read.

A safetensors file begins with the length of a JSON header (8 bytes, little endian), which names the type and
the shape of every tensor (https://huggingface.co/docs/safetensors/index#format).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kolmocli.errors import UsageError
from kolmocli.files import read_regular
from kolmocli.plain import parsed
from kolmocli.policy.limits import JOINED_BELOW
from kolmocli.policy.presets import PRESETS, VOCABULARIES, Alphabet, Preset, is_built_here

_BYTES = {"F64": 8, "I64": 8, "F32": 4, "I32": 4, "F16": 2, "BF16": 2, "I16": 2}
_NOT_ADAPTED = ("embed", "wte", "wpe", "lm_head")
"""Parts of the names of matrices that are looked up in, or that are the output head: they keep their precision
and get no adapter."""


_LEAN = {"llama", "mistral", "qwen2", "qwen3", "lfm2"}
"""Architectures of `policy/lean/parts.py`, by the names in their config.json."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Numbers that a layer keeps for the backward pass per token and unit: of its hidden width, and of its MLP's."""

    attention: float
    convolution: float
    feed_forward: float

    def per_token(self, hidden: int, feed_forward: int, convolves: bool) -> float:
        of_hidden = self.convolution if convolves else self.attention
        return of_hidden * hidden + self.feed_forward * feed_forward


LEAN = {"fp32": Kept(10, 12, 4), "bf16": Kept(9.5, 10.5, 2)}
"""The lean forward: the inputs of two norms, their outputs where matrices are multiplied with them, and per head queries,
keys (both before their norms too), values and their mix; of a convolution B, C, x, three rows per token and the mix. Inputs and
outputs of matrices are in bf16 where products are."""

PLAIN = {"fp32": Kept(12, 12, 4), "bf16": Kept(10, 10, 2)}
"""transformers' forward: inputs of norms and matrices, queries, keys, values, and the gated MLP's products. Counted with
`saved_tensors_hooks` in Llama's (10.8 and 4.0) and GPT-2's (30 per hidden unit, all in all)."""


@dataclass(frozen=True, slots=True)
class Tensor:
    name: str
    shape: tuple[int, ...]
    bytes_each: int

    @property
    def numbers(self) -> int:
        return math.prod(self.shape)

    @property
    def is_linear(self) -> bool:
        """Whether it is the matrix of a linear layer that 8-bit loading quantises and an adapter is added to."""
        return len(self.shape) == 2 and not any(part in self.name for part in _NOT_ADAPTED)


@dataclass(frozen=True, slots=True)
class Size:
    """`cache_per_token` counts the numbers that one token leaves in the KV cache, `convolutions` the layers without one;
    `is_lean` says whether our own forward passes are for it."""

    tensors: tuple[Tensor, ...]
    hidden: int
    layers: int
    feed_forward: int
    vocabulary: int
    cache_per_token: int
    convolutions: int = 0
    is_lean: bool = False

    @property
    def is_preset(self) -> bool:
        return is_built_here(self.vocabulary)

    @property
    def multiplied(self) -> int:
        """Numbers in the matrices of layers."""
        return sum(t.numbers for t in self.tensors if t.is_linear)

    @property
    def joined(self) -> int:
        """Those numbers in matrices that sampling copies side by side: for each input all that it is multiplied with."""
        return sum(t.numbers for t in self.tensors if t.is_linear and t.numbers * _beside(t.name) < JOINED_BELOW)

    @property
    def parameters(self) -> int:
        return sum(t.numbers for t in self.tensors)

    def adapter(self, rank: int) -> int:
        """Numbers in adapters of this rank: two matrices, of rank x inputs and outputs x rank, per linear layer."""
        return rank * sum(sum(t.shape) for t in self.tensors if t.is_linear)

    def weight_bytes(self, *, in_8bit: bool, widened: bool = False) -> int:
        """As stored, or with linear layers in 8 bits and a fp32 scale for each of their outputs. `widened`: what is stored in
        16 bits is kept in fp32, as it is for a processor without products in bf16."""
        least = 4 if widened else 1
        return sum(
            t.numbers + 4 * t.shape[0] if in_8bit and t.is_linear else t.numbers * max(t.bytes_each, least)
            for t in self.tensors
        )


def size_of_preset(name: str, alphabet: Alphabet = "programs") -> Size:
    preset, words = PRESETS[name], VOCABULARIES[alphabet]
    return Size(
        tuple(_tensors_of(preset, words)), preset.hidden, preset.layers, preset.feed_forward, words,
        2 * preset.layer_types.count("full_attention") * preset.hidden,
        convolutions=preset.layer_types.count("conv"), is_lean=True,
    )  # fmt: skip


def size_of_folder(folder: Path) -> Size:
    """The size of a model in Hugging Face format. Raises UsageError when its files do not say."""
    try:
        config: Mapping[str, Any] = parsed(read_regular(folder / "config.json"))
        hidden = int(_first(config, "hidden_size", "n_embd", "d_model"))
        layers = int(_first(config, "num_hidden_layers", "n_layer", "num_layers", "n_layers"))
        heads = int(_first(config, "num_attention_heads", "n_head", "num_heads", "n_heads"))
        key_heads = int(config.get("num_key_value_heads") or heads)
        head = int(config.get("head_dim") or hidden // heads)
        feed_forward = int(config.get("intermediate_size") or config.get("n_inner") or 4 * hidden)
        files = sorted(folder.glob("*.safetensors"))
        if not files:
            raise UsageError(f"{folder}: no *.safetensors in it; weights load as safetensors only")
        tensors = tuple(tensor for file in files for tensor in _header(file))
        convolutions = list(config.get("layer_types") or ()).count("conv")
        return Size(
            tensors, hidden, layers, feed_forward, int(config["vocab_size"]),
            2 * (layers - convolutions) * key_heads * head, convolutions, config.get("model_type") in _LEAN,
        )  # fmt: skip
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, struct.error) as error:
        raise UsageError(f"{folder}: not a model whose size can be read: {error}") from None


def _tensors_of(preset: Preset, words: int) -> list[Tensor]:
    shapes = [("embed_tokens", (words, preset.hidden)), *preset.shapes()]
    return [Tensor(name, shape, 4) for name, shape in shapes]


def _beside(name: str) -> int:
    """Number of matrices of about this size that share an input with this one."""
    kind = name.removesuffix(".weight").rpartition(".")[2].removesuffix("_proj")
    return 3 if kind in ("q", "k", "v") else 2 if kind in ("gate", "up", "w1", "w3") else 1


def _header(file: Path) -> list[Tensor]:
    with file.open("rb") as stream:
        (length,) = struct.unpack("<Q", stream.read(8))
        if length > file.stat().st_size:
            raise ValueError(f"{file.name} is cut or damaged")
        header = parsed(stream.read(length))
    return [
        Tensor(name, tuple(entry["shape"]), _BYTES.get(entry["dtype"], 1))
        for name, entry in header.items()
        if name != "__metadata__"
    ]


def _first(config: Mapping[str, Any], *names: str) -> Any:
    """The value of whichever of the names this kind of model uses. Raises KeyError with the first."""
    return next((config[name] for name in names if name in config), None) or config[names[0]]
