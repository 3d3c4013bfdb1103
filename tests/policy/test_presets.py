from __future__ import annotations

import random

import pytest
import torch
from transformers import AutoModelForCausalLM

from kolmocli.language.sampler import sample
from kolmocli.language.sampler_settings import SamplerConfig
from kolmocli.learning.learner import Learner, Weighted
from kolmocli.policy.building import build_preset, number_features, preset_config
from kolmocli.policy.policy import Policy
from kolmocli.policy.presets import PRESETS, VOCABULARIES, listed
from kolmocli.policy.tokenizer import build_tokenizer
from kolmocli.tasks.sequences.prompt import sequence_prompt


@pytest.mark.parametrize("name", PRESETS)
def test_the_stated_size_is_the_real_number_of_parameters(name: str) -> None:
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(preset_config(name))
    assert PRESETS[name].count() == sum(p.numel() for p in model.parameters())
    assert len(build_tokenizer()) == model.config.vocab_size == VOCABULARIES["programs"]


@pytest.mark.parametrize(("name", "about"), [("tiny", 0.7e6), ("small", 2e6), ("medium", 27e6), ("large", 110e6)])
def test_a_preset_is_about_as_large_as_it_is_said_to_be(name: str, about: float) -> None:
    assert PRESETS[name].count() == pytest.approx(about, rel=0.05)


def test_all_presets_are_listed_with_their_sizes() -> None:
    assert listed() == "tiny 0.68 M, small 2 M, medium 27 M, large 109 M"


@pytest.mark.parametrize("name", ["small", *(pytest.param(n, marks=pytest.mark.slow) for n in ("medium", "large"))])
def test_larger_presets_begin_with_an_even_guess_and_learn(name: str) -> None:
    """The first loss is near that of guessing, ln 326 = 5.8 nats a token; ten steps bring it well below."""
    policy, rng = Policy(name, build_preset(name, 0), build_tokenizer()), random.Random(0)
    learner = Learner(policy, learning_rate=1e-3, max_grad_norm=1.0, entropy_bonus=0.0)
    pairs = [sample(rng, SamplerConfig(bases=(1, 1), modifiers=(0, 0), reuse=0)) for _ in range(4)]
    answers = [policy.answer(sequence_prompt(p.sequence, "dsl"), f"{p.program}\n") for p in pairs]
    batch = [Weighted(a, [1.0] * len(a.tokens)) for a in answers]
    losses = [learner.step(batch, denominator=sum(len(a.tokens) for a in answers)).loss for _ in range(10)]
    assert 5 < losses[0] < 8
    assert losses[-1] < 0.6 * losses[0]


def test_weights_come_from_the_seed_alone() -> None:
    one = build_preset("tiny", 1).state_dict()
    torch.rand(7)
    again, other = build_preset("tiny", 1).state_dict(), build_preset("tiny", 2).state_dict()
    assert all(torch.equal(one[k], again[k]) for k in one)
    assert not all(torch.equal(one[k], other[k]) for k in one)


def test_building_draws_nothing_from_the_global_generator() -> None:
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    build_preset("tiny", 1)
    assert torch.equal(torch.rand(3), expected)


def test_neighbouring_numbers_start_out_alike() -> None:
    features = number_features(64)
    near, far = (features[100] * features[101]).sum(), (features[100] * features[200]).sum()
    assert near > 1.5 * far.abs()
    assert features.square().mean(-1) == pytest.approx(torch.ones(256), abs=1e-5)
