"""Products in bf16 where tokens are written: what they are, and that the learning pass says nearly the same of them."""

from __future__ import annotations

import random
from statistics import fmean
from typing import Any

import pytest
import torch

from kolmocli.policy.adapters import Adaptation
from kolmocli.policy.generation import generate
from kolmocli.policy.lean.products import join
from kolmocli.policy.loading import load_policy
from kolmocli.policy.policy import Policy
from kolmocli.policy.scoring import Scorer
from kolmocli.processor import Precision
from kolmocli.tasks.sequences.prompt import sequence_prompt
from tests.policy.families import LEAN, VOCABULARY, make

RNG = random.Random(2)
PROMPTS = [[RNG.randrange(3, VOCABULARY) for _ in range(length)] for length in (9, 2, 14, 5)]


def layers(outputs: tuple[int, ...], bias: bool) -> list[torch.nn.Linear]:
    torch.manual_seed(len(outputs))
    return [torch.nn.Linear(24, count, bias=bias) for count in outputs]


def apart(of: list[torch.nn.Linear], inputs: torch.Tensor) -> torch.Tensor:
    return torch.cat([layer(inputs) for layer in of], -1)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("outputs", [(40,), (16, 8, 8)])
@pytest.mark.parametrize("shape", [(1, 24), (33, 24), (3, 7, 24)])
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@torch.no_grad()
def test_a_product_is_that_of_its_layers(
    precision: Precision, shape: tuple[int, ...], outputs: tuple[int, ...], bias: bool
) -> None:
    of, inputs = layers(outputs, bias), torch.randn(shape, generator=torch.Generator().manual_seed(1))
    made, due = join(of, precision)(inputs), apart(of, inputs)
    assert made.shape == due.shape
    assert made.dtype == torch.float32
    error = float((made - due).abs().max())
    assert error < (1e-5 if precision == "fp32" else 2e-2)
    assert precision == "fp32" or error > 1e-4  # it is rounded


@torch.no_grad()
def test_a_product_in_bf16_is_summed_up_in_fp32() -> None:
    """The sum is in fp32: ones and a sixteen-thousandth part of a one, which bf16 could not add to them."""
    layer = torch.nn.Linear(24, 1, bias=False)
    layer.weight[:] = 2.0**-14
    layer.weight[0, 0], layer.weight[0, 1] = 1.0, -1.0
    assert float(join([layer], "bf16")(torch.ones(1, 24))) == 22 * 2.0**-14


def test_weights_that_are_in_bf16_already_are_multiplied_as_they_are() -> None:
    layer = torch.nn.Linear(24, 8).bfloat16()
    assert join([layer], "bf16")(torch.ones(2, 24, dtype=torch.bfloat16)).dtype == torch.bfloat16


def disagreement(policy: Policy, written: Precision, learnt: Precision) -> float:
    """Nats a token between the sampler and the learning pass, in these precisions."""
    policy.precision = written
    prompts = [sequence_prompt([RNG.randrange(256) for _ in range(20)], "dsl") for _ in range(6)]
    rollouts = policy.rollout(prompts, samples=4, max_new_tokens=16, generator=torch.Generator().manual_seed(3))
    sampled_K = torch.tensor([x for rollout in rollouts for x in rollout.logprobs])
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=learnt == "bf16"):
        return float((Scorer(policy.model, policy.pad_id)(rollouts).logprobs_K - sampled_K).abs().mean())


@pytest.mark.parametrize("name", ["tiny", "tiny-llama"])
def test_the_learning_pass_rounds_what_the_sampler_rounds(name: str) -> None:
    """Together they are nearer to each other than either is to one in fp32."""
    policy = load_policy(name, seed=3)
    assert disagreement(policy, "fp32", "fp32") < 1e-5
    together = disagreement(policy, "bf16", "bf16")
    assert 1e-5 < together < 0.03
    assert together < 1.2 * min(disagreement(policy, "fp32", "bf16"), disagreement(policy, "bf16", "fp32"))


def greedy(policy: Policy) -> Any:
    prompts = [sequence_prompt(range(n), "dsl") for n in (3, 9, 12)]
    return [
        (r.tokens, r.logprobs) for r in policy.rollout(prompts, samples=1, max_new_tokens=20, generator=None)
    ]  # fmt: skip


def test_greedy_answers_are_in_full_precision() -> None:
    policy = load_policy("tiny", seed=3)
    due = greedy(policy)
    policy.precision = "bf16"
    assert greedy(policy) == due


@pytest.mark.parametrize("family", [*LEAN, "gpt2"])
def test_every_family_is_written_in_bf16(family: str) -> None:
    """Lean or not: log-probabilities are nearly those of fp32 as long as the same tokens were drawn."""
    model = make(family)

    def written(precision: Precision) -> Any:
        return generate(
            model, PROMPTS, samples=5, max_new_tokens=30, stop_ids=(2, 3, 4), pad_id=0,
            generator=torch.Generator().manual_seed(0), precision=precision,
        )  # fmt: skip

    apart = [
        (a.logprobs[i], b.logprobs[i])
        for a, b in zip(written("fp32"), written("bf16"), strict=True)
        for i in range(min(len(a.tokens), len(b.tokens)))
        if a.tokens[: i + 1] == b.tokens[: i + 1]
    ]
    assert len(apart) > 100
    assert 1e-5 < fmean(abs(x - y) for x, y in apart) < 0.05


def test_an_adapter_is_asked_as_it_is() -> None:
    policy = load_policy("tiny", device="cpu", train=Adaptation(4, 32, False))
    assert disagreement(policy, "bf16", "fp32") < disagreement(load_policy("tiny"), "bf16", "fp32")
