"""The lean decoding step writes what transformers' forward writes, token for token, for every family it is for."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import pytest
import torch

from kolmocli.policy import generation, limits
from kolmocli.policy.adapters import Adaptation
from kolmocli.policy.generated import Generated
from kolmocli.policy.generation import generate
from kolmocli.policy.lean.beginnings import shelf_of
from kolmocli.policy.lean.decoding import LeanDecoder
from kolmocli.policy.lean.parts import find_lean
from kolmocli.policy.loading import load_policy
from tests.policy.families import FAMILIES, LEAN, VOCABULARY, make

RNG = random.Random(1)
PROMPTS = [[RNG.randrange(3, VOCABULARY) for _ in range(length)] for length in (9, 2, 14, 5)]


def written(
    model: Any, prompts: Any = PROMPTS, *, stops: tuple[int, ...] = (2, 3, 4), **options: Any
) -> list[Generated]:
    return generate(
        model, prompts, samples=5, max_new_tokens=30, stop_ids=stops, pad_id=0,
        generator=torch.Generator().manual_seed(0), **options,
    )  # fmt: skip


def assert_alike(ours: list[Generated], theirs: list[Generated]) -> None:
    """Log-probabilities to 2e-5 nats; tokens all the same, as no random number lies that close to a border here."""
    assert [(g.tokens, g.finished) for g in ours] == [(g.tokens, g.finished) for g in theirs]
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(torch.tensor(a.logprobs), torch.tensor(b.logprobs), rtol=0, atol=2e-5)


@pytest.mark.parametrize("still", [False, True])
@pytest.mark.parametrize("family", LEAN)
def test_it_writes_what_transformers_write(family: str, still: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """`still` is how a GPU does it."""
    monkeypatch.setattr(generation, "LeanDecoder", partial(LeanDecoder, still=still))
    monkeypatch.setattr(limits, "ROOM", 8)  # so that the cache has to grow
    model = make(family)
    assert find_lean(model) is not None
    ours = written(model)
    assert_alike(ours, written(model, lean=False))
    assert len({len(g.tokens) for g in ours}) > 5  # rows have left at different times
    same = [p[:5] for p in PROMPTS if len(p) >= 5]  # prompts without padding
    assert_alike(written(model, same), written(model, same, lean=False))


def alike(length: int, rests: list[int]) -> list[list[int]]:
    rng = random.Random(length)  # of its own: tests run in any order
    beginning = [rng.randrange(3, VOCABULARY) for _ in range(length)]
    return [beginning + [rng.randrange(3, VOCABULARY) for _ in range(rest)] for rest in rests]


@pytest.mark.parametrize("family", LEAN)
def test_what_prompts_begin_with_is_read_once(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two families of prompts and one prompt by itself, with rests of several lengths."""
    model = make(family)
    first, second = alike(12, [5, 1, 9]), alike(7, [4, 4])
    prompts = [first[0], second[0], PROMPTS[0], first[1], second[1], first[2]]
    monkeypatch.setattr(limits, "BEGINNING", 6)
    monkeypatch.setattr(limits, "ROOM", 8)
    for asked in (prompts, second):  # the second time its beginning is known
        assert_alike(written(model, asked, version=0), written(model, asked, lean=False))
        assert {len(ids) for ids, _ in shelf_of(model, 0).read} == {12, 7}


def test_a_beginning_is_read_anew_when_the_weights_have_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BEGINNING", 6)
    model, prompts = make("llama"), alike(12, [3, 4])
    before = written(model, prompts, version=0)
    assert_alike(written(model, prompts, version=0), before)
    for version in (0, 1):
        with torch.no_grad():
            for parameter in model.parameters():
                # As fused optimisers do, the second time without torch's taking note of it.
                (parameter if not version else parameter.data).mul_(1.2)
        found = written(model, prompts, version=version)
        assert found != before
        assert_alike(found, written(model, prompts, lean=False))


def test_a_preset_reads_every_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BEGINNING", 6)
    policy, prompts = load_policy("tiny"), [[7] * 20 + [i] for i in range(9, 12)]
    written(policy.model, prompts, version=0)
    assert not shelf_of(policy.model, 0).read


@pytest.mark.parametrize("family", sorted(set(FAMILIES) - set(LEAN)))
def test_it_is_not_taken_for_other_families(family: str) -> None:
    assert find_lean(make(family)) is None


@pytest.mark.parametrize("in_8bit", [False, True])
def test_it_reads_adapters_and_eight_bits_beside_the_weights(in_8bit: bool) -> None:
    policy = load_policy("tiny", device="cpu", train=Adaptation(4, 32, in_8bit))
    with torch.no_grad():
        for name, parameter in policy.model.named_parameters():
            if "lora_B" in name:
                parameter.normal_(std=0.1)
    assert find_lean(policy.model) is not None
    assert_alike(written(policy.model), written(policy.model, lean=False))


def test_large_matrices_are_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "JOINED_BELOW", 0)
    model = make("llama3")
    assert_alike(written(model), written(model, lean=False))


def test_what_is_drawn_does_not_depend_on_what_is_computed_together() -> None:
    model = make("llama")
    whole, never_stopped = written(model), written(model, stops=())
    for short, long in zip(whole, never_stopped, strict=True):
        assert short.tokens == long.tokens[: len(short.tokens)]
