"""Adapters beside frozen weights, in full precision and in 8 bits: the same numbers, saved and loaded again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM

from kolmocli.errors import EnvironmentMissing, UsageError
from kolmocli.learning.learner import Learner, Weighted
from kolmocli.policy.adapters import Adaptation, attach, is_adapter, load_adapter
from kolmocli.policy.loading import load_policy
from kolmocli.policy.logprobs import pack, token_logprobs
from kolmocli.policy.policy import Policy
from kolmocli.policy.rollout import Rollout
from tests.policies import prompts, taught
from tests.policy.families import make

RANK = 4
PLAIN, EIGHT_BITS = Adaptation(RANK), Adaptation(RANK, load_in_8bit=True)
KINDS = pytest.mark.parametrize("how", [PLAIN, EIGHT_BITS], ids=["full precision", "8 bits"])


@pytest.fixture(scope="module")
def llama_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama that has learnt something: its log-probabilities are not all alike."""
    folder = tmp_path_factory.mktemp("llama")
    taught().save(folder)
    return folder


@pytest.fixture(scope="module", params=["llama", "gpt2"])
def folder(request: pytest.FixtureRequest, llama_folder: Path, plain_folder: Path) -> str:
    """GPT-2 has transposed matrices and biases, which 8-bit loading treats apart."""
    return str(llama_folder if request.param == "llama" else plain_folder)


def load(name: str, how: Adaptation | None = None, seed: int = 0) -> Policy:
    return load_policy(name, device="cpu", seed=seed, train=how)


def stir(policy: Policy) -> Policy:
    """Numbers for the half of the adapters that begins at zero, so that they change what the model says."""
    with torch.no_grad():
        for i, (name, parameter) in enumerate(policy.model.named_parameters()):
            if "lora_B" in name:
                parameter.copy_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(i)) * 0.05)
    return policy


def answers(policy: Policy) -> list[Rollout]:
    return policy.rollout(prompts(), samples=2, max_new_tokens=12, generator=torch.Generator().manual_seed(0))


@torch.no_grad()
def logprobs(policy: Policy, rollouts: list[Rollout]) -> torch.Tensor:
    """Of the sampled tokens, one after the other."""
    ids, attention, program = pack(rollouts, policy.pad_id)
    return token_logprobs(policy.model, ids, attention)[0][program]


@torch.no_grad()
def divergences(one: Policy, other: Policy, rollouts: list[Rollout]) -> torch.Tensor:
    """Kullback-Leibler divergence of the next-token distributions, for every sampled token."""
    ids, attention, program = pack(rollouts, one.pad_id)
    p, q = (
        torch.log_softmax(policy.model(input_ids=ids, attention_mask=attention).logits[:, :-1][program[:, 1:]], -1)
        for policy in (one, other)
    )
    return (p.exp() * (p - q)).sum(-1)


def batch_of(policy: Policy) -> list[Weighted]:
    return [Weighted(r, [1.0] * len(r.tokens)) for r in answers(policy)]


# --- the same numbers


def test_eight_bits_and_adapters_say_what_full_precision_says(folder: str) -> None:
    """Tolerance of the Kullback-Leibler divergence per token: 0.001 nats on average, 0.01 at worst. Of the sampled
    tokens' log-probabilities: 0.02 nats on average. The adapters move those much further than the rounding."""
    base, full, small = load(folder), stir(load(folder, PLAIN)), stir(load(folder, EIGHT_BITS))
    rollouts = answers(base)
    divergence = divergences(full, small, rollouts)
    assert divergence.mean() < 0.001
    assert divergence.max() < 0.01
    rounding = (logprobs(full, rollouts) - logprobs(small, rollouts)).abs().mean()
    assert 0 < rounding < 0.02
    assert (logprobs(base, rollouts) - logprobs(full, rollouts)).abs().mean() > 5 * rounding
    assert small.model.get_memory_footprint() < 0.8 * full.model.get_memory_footprint()


def test_the_gradient_in_eight_bits_points_where_that_of_full_precision_does(folder: str) -> None:
    """Cosine of the two, over all adapters: above 0.99."""
    rollouts = answers(load(folder))
    gradients = []
    for how in (PLAIN, EIGHT_BITS):
        policy = stir(load(folder, how))
        learner = Learner(policy, learning_rate=0.0, max_grad_norm=1e9, entropy_bonus=0.0)
        learner.step([Weighted(r, [1.0 + i] * len(r.tokens)) for i, r in enumerate(rollouts)], denominator=1.0)
        gradients.append(torch.cat([p.grad.flatten() for p in learner.parameters]))
    assert torch.nn.functional.cosine_similarity(*gradients, dim=0) > 0.99


@KINDS
def test_a_fresh_adapter_changes_nothing(folder: str, how: Adaptation) -> None:
    base = load(folder, Adaptation())
    fresh = load(folder, how)
    rollouts = answers(base)
    assert divergences(base, fresh, rollouts).max() < (0.01 if how.load_in_8bit else 1e-6)


@KINDS
def test_what_is_scored_is_what_was_sampled(folder: str, how: Adaptation) -> None:
    policy = stir(load(folder, how))
    rollouts = answers(policy)
    sampled = torch.tensor([x for r in rollouts for x in r.logprobs])
    torch.testing.assert_close(logprobs(policy, rollouts), sampled, atol=1e-4, rtol=0)


def test_a_model_that_takes_no_adapter_is_one_line() -> None:
    with pytest.raises(UsageError, match=r"mamba models take no adapter .*; train all weights"):
        attach(make("mamba"), PLAIN, 0)


# --- training


@KINDS
@pytest.mark.parametrize("optimiser", ["adamw", "adamw8bit"])
def test_only_the_adapters_move(folder: str, how: Adaptation, optimiser: Any) -> None:
    policy = load(folder, how)
    learner = Learner(policy, learning_rate=1e-3, max_grad_norm=1.0, entropy_bonus=0.0, optimiser=optimiser)
    before = {name: p.detach().clone() for name, p in policy.model.named_parameters()}
    batch = batch_of(policy)
    losses = [learner.step(batch, denominator=1.0).loss for _ in range(4)]
    moved = {name for name, p in policy.model.named_parameters() if not torch.equal(before[name], p)}
    assert moved == {name for name in before if "lora_" in name}
    assert losses[-1] < losses[0]


def test_the_seed_alone_draws_the_adapter(folder: str) -> None:
    def drawn(seed: int) -> list[torch.Tensor]:
        return [p for name, p in load(folder, PLAIN, seed).model.named_parameters() if "lora_A" in name]

    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    one, other = drawn(1), drawn(2)
    assert torch.equal(torch.rand(3), expected)
    assert all(torch.equal(a, b) for a, b in zip(one, drawn(1), strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_weights_that_are_trained_are_in_fp32_and_frozen_ones_as_they_were_saved_where_that_is_multiplied(
    llama_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kolmocli.policy.saved.multiplies_bf16", lambda: True)
    halved = AutoModelForCausalLM.from_pretrained(llama_folder, dtype=torch.bfloat16)
    halved.save_pretrained(tmp_path)
    load(str(llama_folder)).tokenizer.save_pretrained(tmp_path)

    def precisions(how: Adaptation | None, part: str) -> set[torch.dtype]:
        return {p.dtype for name, p in load(str(tmp_path), how).model.named_parameters() if part in name}

    assert precisions(None, "") == {torch.bfloat16}
    assert precisions(Adaptation(), "") == {torch.float32}
    assert precisions(PLAIN, "base_layer") == {torch.bfloat16}
    assert precisions(PLAIN, "lora_") == {torch.float32}
    assert precisions(EIGHT_BITS, "base_layer") == {torch.int8}


# --- saved and loaded again


@KINDS
def test_a_saved_adapter_is_loaded_beside_its_base(folder: str, how: Adaptation, tmp_path: Path) -> None:
    policy = stir(load(folder, how))
    policy.save(tmp_path)
    assert is_adapter(tmp_path)
    assert {f.name for f in tmp_path.glob("*.safetensors")} == {"adapter_model.safetensors"}
    rollouts = answers(policy)
    for again in (load(str(tmp_path)), load(str(tmp_path), how)):
        assert again.base == policy.base
        assert torch.equal(logprobs(again, rollouts), logprobs(policy, rollouts))
        assert answers(again) == rollouts
    assert not any(p.requires_grad for p in load(str(tmp_path)).model.parameters())
    trained = {name for name, p in load(str(tmp_path), how).model.named_parameters() if p.requires_grad}
    assert trained == {name for name, p in policy.model.named_parameters() if "lora_" in name}


@KINDS
def test_the_base_may_be_a_preset(how: Adaptation, tmp_path: Path) -> None:
    policy = stir(load("tiny", how, seed=5))
    policy.save(tmp_path)
    rollouts = answers(policy)
    assert torch.equal(logprobs(load(str(tmp_path), seed=6), rollouts), logprobs(policy, rollouts))


def test_peft_loads_what_was_saved(llama_folder: Path, tmp_path: Path) -> None:
    policy = stir(load(str(llama_folder), PLAIN))
    policy.save(tmp_path)
    model = load_adapter(AutoModelForCausalLM.from_pretrained(llama_folder), tmp_path, trainable=False).eval()
    rollouts = answers(policy)
    assert torch.equal(logprobs(Policy("x", model, policy.tokenizer), rollouts), logprobs(policy, rollouts))


def test_an_adapter_of_somebody_else_names_its_base(
    llama_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = stir(load(str(llama_folder), PLAIN))
    policy.save(tmp_path)
    (tmp_path / "base.json").unlink()
    edit(tmp_path / "adapter_config.json", base_model_name_or_path=llama_folder.name)
    monkeypatch.chdir(llama_folder.parent)
    rollouts, again = answers(policy), load(str(tmp_path))
    assert torch.equal(logprobs(again, rollouts), logprobs(policy, rollouts))
    assert again.base is not None
    assert again.base.name == str(llama_folder.resolve())


# --- refusals


@pytest.fixture
def saved(llama_folder: Path, tmp_path: Path) -> Path:
    """An adapter beside a base of its own, to be damaged."""
    base = tmp_path / "base"
    load(str(llama_folder)).save(base)
    load(str(base), PLAIN).save(tmp_path / "adapter")
    return tmp_path / "adapter"


def edit(file: Path, **changes: Any) -> None:
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


def other_weights(adapter: Path) -> None:
    load("tiny", seed=9).save(adapter.parent / "base")


def without_its_keys(adapter: Path) -> None:
    save_file({"other": torch.zeros(1)}, adapter / "adapter_model.safetensors")


DEEP = '{"a":' * 100_000 + "1" + "}" * 100_000
REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "the base is gone": (
        lambda a: (a.parent / "base").rename(a.parent / "moved"),
        r"an adapter of is not in .*base any more; put it back",
    ),
    "the base is another one": (other_weights, "holds other weights than those that it was trained on"),
    "not safetensors": (
        lambda a: (a / "adapter_model.safetensors").rename(a / "adapter_model.bin"),
        "adapters load as safetensors only",
    ),
    "another kind": (
        lambda a: edit(a / "adapter_config.json", peft_type="PROMPT_TUNING"),
        "an adapter of the kind PROMPT_TUNING; only LORA can be loaded",
    ),
    "no configuration": (lambda a: (a / "adapter_config.json").write_text("{"), "not an adapter that can be read"),
    "a base of keys that are not known": (lambda a: edit(a / "base.json", colour=1), "not an adapter that can be read"),
    "a base of another type": (
        lambda a: edit(a / "base.json", name=[5]),
        r"not an adapter that can be read: name is \[5\]",
    ),
    "a seed that is a word": (
        lambda a: edit(a / "base.json", seed="x"),
        "not an adapter that can be read: seed is 'x'",
    ),
    "nested without end": (lambda a: (a / "adapter_config.json").write_text(DEEP), "nested too deeply"),
    "a base nested without end": (lambda a: (a / "base.json").write_text(DEEP), "nested too deeply"),
    "a rank that is a word": (lambda a: edit(a / "adapter_config.json", r="x"), "the adapter cannot be loaded"),
    "a rank below nothing": (lambda a: edit(a / "adapter_config.json", r=-1), "the adapter cannot be loaded"),
    "layers that are not there": (
        lambda a: edit(a / "adapter_config.json", target_modules=["nosuch"]),
        "the adapter cannot be loaded",
    ),
    "without its keys": (without_its_keys, "the adapter cannot be loaded .Found missing adapter keys"),
}


@pytest.mark.parametrize(("damage", "said"), REFUSED.values(), ids=REFUSED)
def test_an_adapter_that_cannot_be_used(saved: Path, damage: Callable[[Path], object], said: str) -> None:
    damage(saved)
    with pytest.raises(UsageError, match=said):
        load(str(saved))


@pytest.mark.parametrize("rank", [0, RANK + 1])
def test_an_adapter_is_trained_on_as_what_it_is(saved: Path, rank: int) -> None:
    with pytest.raises(UsageError, match=f"an adapter of rank {RANK}, .* is {rank}; go on with --lora-rank {RANK}"):
        load(str(saved), Adaptation(rank))


def test_without_the_packages_the_extra_is_named(llama_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(
        EnvironmentMissing, match=r"an adapter needs peft and accelerate: pip install 'kolmocli\[train\]'"
    ):
        attach(None, PLAIN, 0)
    with pytest.raises(EnvironmentMissing):
        load(str(llama_folder), EIGHT_BITS)


def test_loading_and_scoring_in_eight_bits_says_nothing(
    folder: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """A line per layer would shred the live table."""
    answers(load(folder, EIGHT_BITS))
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="no /proc/self/maps")
def test_the_file_of_a_model_in_8_bits_is_let_go_of(llama_folder: Path) -> None:
    """A part of it that is still read would keep all of it in memory."""
    policy = load(str(llama_folder), EIGHT_BITS)
    assert policy.base is not None
    assert str(llama_folder / "model.safetensors") not in Path("/proc/self/maps").read_text()
