"""Sizes that are read from files alone, held to the models that are really built."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from kolmocli.errors import UsageError
from kolmocli.policy.adapters import Adaptation
from kolmocli.policy.loading import load_policy
from kolmocli.policy.sizes import Size, size_of_folder, size_of_preset
from tests.policies import tiny
from tests.policy.families import make


@pytest.fixture(autouse=True)
def as_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a processor with products in bf16, weights keep the precision that they are stored in."""
    monkeypatch.setattr("kolmocli.policy.saved.multiplies_bf16", lambda: True)


@pytest.fixture(scope="module", params=["gpt2", "llama"])
def folder(request: pytest.FixtureRequest, plain_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """GPT-2 has tied embeddings, biases and transposed matrices; this Llama an untied head in bfloat16 and fewer
    keys than queries."""
    if request.param == "gpt2":
        return plain_folder
    place = tmp_path_factory.mktemp("untied")
    tiny().tokenizer.save_pretrained(place)
    config = LlamaConfig(
        vocab_size=326, hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, tie_word_embeddings=False, eos_token_id=1, bos_token_id=None,
    )  # fmt: skip
    LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(place)
    return place


def test_a_folder_is_as_large_as_its_model(folder: Path) -> None:
    size, policy = size_of_folder(folder), load_policy(str(folder), device="cpu")
    config = policy.model.config
    assert size.parameters == policy.parameters
    assert size.weight_bytes(in_8bit=False) == sum(p.numel() * p.element_size() for p in policy.model.parameters())
    assert (size.hidden, size.layers, size.vocabulary) == (
        config.hidden_size,
        config.num_hidden_layers,
        config.vocab_size,
    )


@pytest.mark.parametrize("family", ["gpt neo, local", "mpt"])
def test_every_architecture_has_its_own_words_for_its_sizes(family: str, tmp_path: Path) -> None:
    model = make(family)
    model.save_pretrained(tmp_path)
    size = size_of_folder(tmp_path)
    assert (size.parameters, size.hidden, size.layers) == (model.num_parameters(), 32, 2)


def test_a_preset_is_as_large_as_its_model() -> None:
    assert size_of_preset("tiny").parameters == tiny().parameters


@pytest.mark.parametrize("rank", [1, 8])
def test_an_adapter_is_as_large_as_stated(folder: Path, rank: int) -> None:
    for size, name in ((size_of_folder(folder), str(folder)), (size_of_preset("tiny"), "tiny")):
        model = load_policy(name, device="cpu", train=Adaptation(rank)).model
        assert size.adapter(rank) == sum(p.numel() for p in model.parameters() if p.requires_grad)


def test_eight_bits_take_what_is_stated(folder: Path) -> None:
    """Within 2 %: of GPT-2's transposed matrices inputs are taken for outputs."""
    from bitsandbytes.nn.modules import Int8Params  # imports a compiler

    model = load_policy(str(folder), device="cpu", train=Adaptation(1, load_in_8bit=True)).model
    scales = sum(p.SCB.nbytes for p in model.parameters() if isinstance(p, Int8Params))
    frozen = sum(p.numel() * p.element_size() for p in model.parameters() if not p.requires_grad)
    assert size_of_folder(folder).weight_bytes(in_8bit=True) == pytest.approx(frozen + scales, rel=0.02)


def test_the_cache_is_as_large_as_stated(folder: Path) -> None:
    model = load_policy(str(folder), device="cpu").model
    cache = model(torch.tensor([[1, 2, 3]]), use_cache=True).past_key_values
    numbers = sum(layer.keys.numel() + layer.values.numel() for layer in cache.layers)
    assert size_of_folder(folder).cache_per_token * 3 == numbers


DAMAGES: dict[str, Callable[[Path], object]] = {
    "no weights": lambda f: (f / "model.safetensors").unlink(),
    "a header cut short": lambda f: (f / "model.safetensors").write_bytes((f / "model.safetensors").read_bytes()[:60]),
    "an empty file": lambda f: (f / "model.safetensors").write_bytes(b""),
    "no width": lambda f: (f / "config.json").write_text(json.dumps({"vocab_size": 3})),
    "no configuration": lambda f: (f / "config.json").unlink(),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_folder_that_does_not_say(folder: Path, tmp_path: Path, damage: Callable[[Path], object]) -> None:
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    assert isinstance(size_of_folder(tmp_path), Size)
    damage(tmp_path)
    with pytest.raises(UsageError, match=str(tmp_path)):
        size_of_folder(tmp_path)
