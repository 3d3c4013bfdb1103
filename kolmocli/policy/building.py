"""Freshly initialised presets."""

from __future__ import annotations

import math
from typing import Any, cast

import torch
from transformers import Lfm2Config, Lfm2ForCausalLM, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from kolmocli.policy.characters import build_character_tokenizer
from kolmocli.policy.presets import KERNEL, MAX_POSITIONS, PRESETS, Alphabet
from kolmocli.policy.tokenizer import build_tokenizer

_SHORTEST_PERIOD, _LONGEST_PERIOD = 2.1, 512.0


def tokenizer_of(alphabet: Alphabet, reads_segments: bool = False) -> PreTrainedTokenizerFast:
    """The presets' own tokenizer for this alphabet; questions have no segments."""
    return build_tokenizer(reads_segments) if alphabet == "programs" else build_character_tokenizer()


def preset_config(name: str, alphabet: Alphabet = "programs") -> LlamaConfig | Lfm2Config:
    """The preset as transformers' configuration, for the presets' own tokenizer."""
    preset, tokenizer = PRESETS[name], tokenizer_of(alphabet)
    settings: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "hidden_size": preset.hidden,
        "intermediate_size": preset.feed_forward,
        "num_hidden_layers": preset.layers,
        "num_attention_heads": preset.heads,
        "num_key_value_heads": preset.heads,
        "max_position_embeddings": MAX_POSITIONS,
        "tie_word_embeddings": True,
        "bos_token_id": None,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
        "initializer_range": 1.0 / math.sqrt(preset.hidden),
    }
    if not preset.convolutions:
        return LlamaConfig(**settings)
    rope = {"rope_type": "default", "rope_theta": 10_000.0}
    return Lfm2Config(
        **settings, layer_types=preset.layer_types, conv_L_cache=KERNEL, block_auto_adjust_ff_dim=False,
        rope_parameters=rope,
    )  # fmt: skip


def build_preset(name: str, seed: int, alphabet: Alphabet = "programs") -> LlamaForCausalLM | Lfm2ForCausalLM:
    """The preset with weights drawn from the seed alone, in evaluation mode.

    Weights have a standard deviation of 1/sqrt(hidden): the 0.02 that is usual for large models is far too
    small here and made the warm start five times as long. The embeddings of the integers are sinusoids of
    their value, so that neighbours are alike from the start and ramps need not be learned number by number
    (docs/log.md has both measurements).
    """
    config, tokenizer = preset_config(name, alphabet), tokenizer_of(alphabet)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        model: Any = Lfm2ForCausalLM(config) if isinstance(config, Lfm2Config) else LlamaForCausalLM(config)
        model.eval()
        embeddings = model.get_input_embeddings().weight
        integers = [i for i in range(256) if str(i) in tokenizer.get_vocab()]
        ids = tokenizer.convert_tokens_to_ids([str(i) for i in integers])
        embeddings[ids] = number_features(config.hidden_size)[integers] * config.initializer_range
    return cast(LlamaForCausalLM | Lfm2ForCausalLM, model)


def number_features(hidden: int) -> torch.Tensor:
    """Sines and cosines of 0..255 at hidden/2 periods, spaced evenly on a logarithmic axis; [256, hidden]."""
    periods = torch.logspace(math.log10(_SHORTEST_PERIOD), math.log10(_LONGEST_PERIOD), hidden // 2)
    angles = 2 * math.pi * torch.arange(256.0)[:, None] / periods
    return torch.cat([angles.sin(), angles.cos()], -1) * math.sqrt(2)
