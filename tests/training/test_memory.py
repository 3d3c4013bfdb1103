"""What a run is said to need, held to what tensors really take."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import torch

from kolmocli.config import Config, Training
from kolmocli.errors import UsageError
from kolmocli.learning.batches import Weighted
from kolmocli.learning.learner import Learner
from kolmocli.learning.packing import micro_batches
from kolmocli.learning.value import ValueHead
from kolmocli.policy.adapters import Adaptation
from kolmocli.policy.loading import load_policy
from kolmocli.policy.policy import Policy
from kolmocli.policy.rollout import Rollout
from kolmocli.policy.scoring import Scorer
from kolmocli.policy.sizes import Size, size_of_folder, size_of_preset
from kolmocli.processor import Precision
from kolmocli.training.memory import Need, Work, memory
from kolmocli.training.plan import plan


def kept_for_backward(policy: Policy, rollouts: int, tokens: int, lean: bool) -> int:
    """Bytes that one micro-batch of the learner keeps, weights aside."""
    weights = {x.untyped_storage().data_ptr() for x in (*policy.model.parameters(), *policy.model.buffers())}
    kept: dict[int, torch.Tensor] = {}

    def note(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            kept[storage.data_ptr()] = tensor
        return tensor

    rng = random.Random(0)
    prompt = tuple(rng.randrange(5, 300) for _ in range(tokens // 2))
    rollout = Rollout(prompt, prompt, (0.0,) * len(prompt), (0,) * len(prompt), "", True)
    learner = Learner(policy, learning_rate=0.0, max_grad_norm=1.0, entropy_bonus=0.0)
    learner.scorer = Scorer(policy.model, policy.pad_id, lean)
    assert learner.scorer.shares
    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        learner.step([Weighted(rollout, [1.0] * len(prompt))] * rollouts, denominator=1.0)
    return sum(tensor.untyped_storage().nbytes() for tensor in kept.values())


WORK = Work(8, 8, 64, 64)
"""What `kept_for_backward` is asked of."""


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("name", ["tiny-llama", "small-llama", "gpt2"])
def test_activations_of_transformers_forward_are_estimated_to_a_quarter(
    name: str, precision: Precision, chat_folder: Path
) -> None:
    size = size_of_folder(chat_folder) if name == "gpt2" else size_of_preset(name)
    policy = load_policy(str(chat_folder) if name == "gpt2" else name, device="cpu", train=Adaptation())
    policy.precision = precision
    stated = Need(size, WORK, precision=precision, on_cpu=False).activations
    assert stated == pytest.approx(kept_for_backward(policy, 8, 128, lean=False), rel=0.25)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("name", ["tiny", "small", "small-llama"])
def test_activations_of_the_lean_forward_are_estimated_to_a_fifth(name: str, precision: Precision) -> None:
    """Of a Llama, which has no norms of queries and keys, it is too much."""
    policy = load_policy(name, device="cpu", train=Adaptation())
    policy.precision = precision
    stated = Need(size_of_preset(name), WORK, precision=precision).activations
    assert stated == pytest.approx(kept_for_backward(policy, 8, 128, lean=True), rel=0.2)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("work", [Work(64, 8, 140, 40), Work(256, 4, 700, 20), Work(5, 2, 3, 4), Work(8, 8, 3000, 50)])
def test_the_largest_micro_batch_is_the_first_that_is_cut(work: Work, shared: bool) -> None:
    batch = [
        Weighted(Rollout((i // work.samples, *[0] * (work.prompt_tokens - 1)), (1,) * work.new_tokens, (), (), "", True),
                 [1.0] * work.new_tokens)
        for i in range(work.rollouts)
    ]  # fmt: skip
    largest = next(micro_batches(batch, shared=shared))
    assert work.micro_batch(shared) == (len({w.rollout.prompt for w in largest}), len(largest))


@pytest.mark.parametrize("optimiser", ["adamw", "adamw8bit"])
@pytest.mark.parametrize("rank", [0, 32])
def test_weights_gradients_and_moments_take_what_is_stated(optimiser: Any, rank: int) -> None:
    """Within 3 %: bitsandbytes keeps tensors of fewer than 4,096 numbers in 32 bits."""
    policy = load_policy("small", device="cpu", train=Adaptation(rank))
    learner = Learner(policy, learning_rate=0.0, max_grad_norm=1.0, entropy_bonus=0.0, optimiser=optimiser)
    answer = Rollout((5, 6), (7, 8), (0.0, 0.0), (0, 0), "", True)
    learner.step([Weighted(answer, [1.0, 1.0])], denominator=1.0)
    moments = [
        tensor
        for state in learner.optimiser.state.values()
        for key, tensor in state.items()
        if isinstance(tensor, torch.Tensor) and tensor.ndim and "qmap" not in key
    ]
    taken = {
        "weights": policy.model.parameters(),
        "gradients": [p.grad for p in learner.parameters],
        "optimiser": moments,
    }
    stated = memory(Need(size_of_preset("small"), Work(8, 8, 20, 20), rank, optimiser=optimiser))
    for what, tensors in taken.items():
        assert stated[what] * 2**20 == pytest.approx(sum(t.nbytes for t in tensors), rel=0.03), what


def test_copies_of_matrices_for_sampling_are_counted() -> None:
    """In fp32 those that are copied side by side, in bf16 all that are rounded."""
    size = size_of_preset("medium")
    assert 0 < size.joined < size.multiplied < size.parameters
    work = Work(8, 8, 20, 20)
    cache = Need(size, work, rank=4).sampling  # adapters are asked one by one, as they are
    assert Need(size, work).sampling - cache == 4 * size.joined
    assert Need(size, work, precision="bf16").sampling - cache == 2 * size.multiplied


def test_the_peak_is_that_of_learning_or_of_sampling() -> None:
    size = Size((), hidden=64, layers=2, feed_forward=128, vocabulary=100, cache_per_token=2**10)
    few, many = (memory(Need(size, work, on_cpu=False)) for work in (Work(1, 1, 1, 1), Work(256, 1, 900, 100)))
    assert few["peak"] == pytest.approx(few["activations"] + few["logits"], abs=0.02)
    assert many["peak"] == many["sampling_cache"] > 1000 > many["activations"] + many["logits"]


# --- a plan


def config(**model: Any) -> Config:
    return Config.model_validate({"model": model, "families": {"a": {"levels": [{}]}}})


def test_a_plan_says_what_is_trained() -> None:
    whole, adapted = plan(config(name="tiny")), plan(config(name="tiny", load_in_8bit=True))
    assert whole["model"]["trained"] == whole["model"]["parameters"] == 682_048
    assert 0 < adapted["model"]["trained"] == size_of_preset("tiny").adapter(16) < 682_048
    assert adapted["memory_mib"]["weights"] < whole["memory_mib"]["weights"]


def test_a_plan_counts_the_value_head_where_there_is_one() -> None:
    valued = config(name="tiny").model_copy(update={"training": Training(baseline="value")})
    without, with_it = plan(config(name="tiny"))["memory_mib"], plan(valued)["memory_mib"]
    sums = ValueHead(load_policy("tiny", device="cpu")).regression.state_dict()["gram"]
    assert with_it["value_head"] == pytest.approx(3 * sums.nbytes / 2**20, abs=0.01)
    assert with_it["peak"] - without["peak"] == pytest.approx(with_it["value_head"], abs=0.02)
    assert "value_head" not in without


def test_a_plan_counts_the_model_that_a_run_began_with_where_it_is_kept() -> None:
    whole = config(name="tiny").model_copy(update={"training": Training(kl=0.1)})
    without, with_it = (plan(of)["memory_mib"]["weights"] for of in (config(name="tiny"), whole))
    assert with_it == pytest.approx(2 * without, abs=0.02)


def test_a_plan_goes_by_what_is_computed_again_and_by_the_precision() -> None:
    def peak(precision: str, **training: Any) -> float:
        of = config(name="medium", precision=precision).model_copy(update={"training": Training(**training)})
        planned = plan(of)
        assert planned["model"]["precision"] == precision
        return float(planned["memory_mib"]["peak"])

    assert peak("fp32", gradient_checkpointing=True) < 0.8 * peak("fp32")
    assert peak("bf16", gradient_checkpointing=True) < 0.8 * peak("bf16")
    assert peak("bf16") != peak("fp32")


def test_a_plan_knows_folders_runs_and_adapters(chat_folder: Path, tmp_path: Path) -> None:
    policy = load_policy(str(chat_folder), device="cpu", train=Adaptation(2))
    policy.save(tmp_path)
    sizes = {plan(config(name=str(name)))["model"]["parameters"] for name in (chat_folder, tmp_path)}
    assert sizes == {load_policy(str(chat_folder), device="cpu").parameters}


def test_a_model_that_is_not_here_has_no_size_yet() -> None:
    planned = plan(config(name="nobody/has-this-model"))
    assert planned["model"]["parameters"] is planned["memory_mib"] is None


def test_a_folder_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="neither a preset"):
        plan(config(name="/no/such/folder"))
