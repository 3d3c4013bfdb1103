"""Small random models of several families, no two of the same shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from transformers import (
    CohereConfig,
    CohereForCausalLM,
    Gemma2Config,
    Gemma2ForCausalLM,
    Gemma3Config,
    Gemma3ForConditionalGeneration,
    GPT2Config,
    GPT2LMHeadModel,
    GPTNeoConfig,
    GPTNeoForCausalLM,
    GraniteConfig,
    GraniteForCausalLM,
    Lfm2Config,
    Lfm2ForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    MambaConfig,
    MambaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    MptConfig,
    MptForCausalLM,
    OPTConfig,
    OPTForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

VOCABULARY = 60
_SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 128, "pad_token_id": 0,
    "bos_token_id": 1, "eos_token_id": 2, "initializer_range": 0.2,
}  # fmt: skip
_LLAMA3 = {
    "rope_type": "llama3", "rope_theta": 10_000.0, "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}  # fmt: skip

FAMILIES: dict[str, Callable[[], Any]] = {
    "llama": lambda: LlamaForCausalLM(LlamaConfig(**_SIZES)),
    "llama3": lambda: LlamaForCausalLM(
        LlamaConfig(**_SIZES, rope_parameters=_LLAMA3, attention_bias=True, mlp_bias=True, tie_word_embeddings=True)
    ),
    "mistral": lambda: MistralForCausalLM(MistralConfig(**_SIZES, sliding_window=None)),
    "mistral, sliding": lambda: MistralForCausalLM(MistralConfig(**_SIZES, sliding_window=6)),
    "qwen2": lambda: Qwen2ForCausalLM(Qwen2Config(**_SIZES)),
    "qwen3": lambda: Qwen3ForCausalLM(Qwen3Config(**_SIZES, head_dim=12)),
    "lfm2": lambda: Lfm2ForCausalLM(
        Lfm2Config(
            **{**_SIZES, "num_hidden_layers": 4}, block_auto_adjust_ff_dim=False,
            layer_types=["conv", "full_attention", "conv", "full_attention"],
        )
    ),
    "lfm2, short at last": lambda: Lfm2ForCausalLM(
        Lfm2Config(
            **{**_SIZES, "num_hidden_layers": 3}, block_auto_adjust_ff_dim=False, conv_L_cache=4,
            layer_types=["conv", "full_attention", "conv"],
        )
    ),
    "gpt2": lambda: GPT2LMHeadModel(
        GPT2Config(vocab_size=VOCABULARY, n_embd=32, n_layer=2, n_head=4, n_positions=64, initializer_range=0.2)
    ),
    "opt": lambda: OPTForCausalLM(
        OPTConfig(
            vocab_size=VOCABULARY, hidden_size=32, ffn_dim=48, num_hidden_layers=2, num_attention_heads=4,
            word_embed_proj_dim=32, max_position_embeddings=64, init_std=0.2,
        )
    ),
    "gemma2": lambda: Gemma2ForCausalLM(
        Gemma2Config(**_SIZES, head_dim=8, sliding_window=6, final_logit_softcapping=2.0)
    ),
    "gemma3, seeing": lambda: Gemma3ForConditionalGeneration(
        Gemma3Config(
            text_config={**_SIZES, "head_dim": 8, "sliding_window": 6}, mm_tokens_per_image=4, image_token_index=57,
            boi_token_index=58, eoi_token_index=59,
            vision_config={
                "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
                "image_size": 28, "patch_size": 14,
            },
        )
    ),
    "cohere": lambda: CohereForCausalLM(CohereConfig(**_SIZES, logit_scale=0.3)),
    "gpt neo, local": lambda: GPTNeoForCausalLM(
        GPTNeoConfig(
            vocab_size=VOCABULARY, hidden_size=32, num_layers=2, num_heads=4, max_position_embeddings=64, window_size=6,
            attention_types=[[["global", "local"], 1]], initializer_range=0.2, bos_token_id=1, eos_token_id=2,
        )
    ),
    "mpt": lambda: MptForCausalLM(
        MptConfig(vocab_size=VOCABULARY, d_model=32, n_layers=2, n_heads=4, max_seq_len=64, initializer_range=0.2)
    ),
    "mamba": lambda: MambaForCausalLM(
        MambaConfig(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, state_size=4, initializer_range=0.2)
    ),
    "granite": lambda: GraniteForCausalLM(GraniteConfig(**_SIZES, logits_scaling=0.5)),
}  # fmt: skip
LEAN = ("llama", "llama3", "mistral", "qwen2", "qwen3", "lfm2", "lfm2, short at last")
CONVOLUTIONS = ("lfm2", "lfm2, short at last")
SHARING = (*LEAN, "gpt2", "opt", "cohere", "granite")


def make(family: str) -> Any:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return FAMILIES[family]().eval()
