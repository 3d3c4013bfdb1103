"""The chunked cache holds what transformers' own holds, whatever happens to its rows."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import Cache, DynamicCache, GPT2Config, LlamaConfig, LlamaForCausalLM, MistralConfig

from kolmocli.policy.cache import ChunkedLayer, new_cache, with_cache

SIZES = {"vocab_size": 50, "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}


@pytest.fixture(scope="module")
def model() -> Any:
    """With fewer key heads than query heads."""
    torch.manual_seed(0)
    return LlamaForCausalLM(LlamaConfig(**SIZES, num_key_value_heads=2)).eval()


@torch.inference_mode()
def logits(model: Any, cache: Cache) -> list[torch.Tensor]:
    """A prompt, rows repeated, 70 tokens one by one with rows selected twice on the way."""
    torch.manual_seed(1)
    seen = [model(input_ids=torch.randint(50, (3, 9)), **with_cache(model, cache)).logits]
    cache.batch_repeat_interleave(4)
    rows = 12
    for step in range(70):
        if step in (20, 45):
            keep = torch.arange(0, rows, 2)
            cache.batch_select_indices(keep)
            rows = len(keep)
        seen.append(model(input_ids=torch.randint(50, (rows, 1)), **with_cache(model, cache)).logits)
    return seen


def test_logits_are_those_of_the_dynamic_cache(model: Any) -> None:
    chunked, dynamic = new_cache(model.config), DynamicCache(config=model.config)
    for ours, theirs in zip(logits(model, chunked), logits(model, dynamic), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-5)
    assert isinstance(chunked.layers[0], ChunkedLayer)
    assert chunked.get_seq_length() == dynamic.get_seq_length() == 79


def test_keys_and_values_may_differ_in_size() -> None:
    layer = ChunkedLayer()
    for length in (5, 1, 40):
        keys, values = layer.update(torch.ones(2, 3, length, 8), torch.full((2, 3, length, 4), 2.0))
    assert (keys.shape, values.shape) == ((2, 3, 46, 8), (2, 3, 46, 4))
    assert keys.eq(1).all()
    assert values.eq(2).all()


def test_most_tokens_copy_nothing() -> None:
    layer, places = ChunkedLayer(), set()
    for _ in range(64):
        keys, _ = layer.update(torch.ones(1, 1, 1, 1), torch.ones(1, 1, 1, 1))
        places.add(keys.data_ptr())
    assert len(places) <= 3


@pytest.mark.parametrize("config", [MistralConfig(**SIZES, sliding_window=8), GPT2Config(n_layer=1)])
def test_models_with_a_sliding_window_keep_the_cache_of_transformers(config: Any) -> None:
    chunked = any(issubclass(type(layer), ChunkedLayer) for layer in _touched(new_cache(config)).layers)
    assert chunked == (getattr(config, "sliding_window", None) is None)


def _touched(cache: Cache) -> Cache:
    cache.update(torch.ones(1, 1, 1, 1), torch.ones(1, 1, 1, 1), 0)
    return cache


def test_a_model_is_given_its_cache_by_the_name_that_it_has() -> None:
    class Old(torch.nn.Module):
        def forward(self, input_ids: Any, past_key_values: Any = None, **kwargs: Any) -> None: ...

    class New(torch.nn.Module):
        def forward(self, input_ids: Any, cache: Any = None, **kwargs: Any) -> None: ...

    class Wrapper(torch.nn.Module):
        """As that of peft."""

        def get_base_model(self) -> Any:
            return New()

        def forward(self, *args: Any, **kwargs: Any) -> None: ...

    cache = Cache(layers=[])
    assert with_cache(Old(), cache) == {"past_key_values": cache, "use_cache": True}
    assert with_cache(New(), cache) == with_cache(Wrapper(), cache) == {"cache": cache, "use_cache": True}
