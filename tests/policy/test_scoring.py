"""Scoring with the prompt read once, in chunks, is plain scoring: log-probabilities, entropies and gradients."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch

from kolmocli.policy import limits
from kolmocli.policy.logprobs import pack, token_logprobs
from kolmocli.policy.rollout import Rollout
from kolmocli.policy.scoring import Scorer
from tests.policy.families import CONVOLUTIONS, FAMILIES, LEAN, SHARING, VOCABULARY, make


def rollouts() -> list[Rollout]:
    """Four prompts of different lengths, with four, one, two and one continuations of 1 to 9 tokens."""
    rng = random.Random(0)

    def ids(count: int) -> tuple[int, ...]:
        return tuple(rng.randrange(3, VOCABULARY) for _ in range(count))

    prompts = [ids(7), ids(2), ids(12)]
    prompts.append(ids(1))
    sizes = [(0, 5), (1, 1), (0, 9), (2, 4), (0, 1), (2, 8), (0, 3), (3, 6)]  # groups need not be neighbours
    return [Rollout(prompts[owner], ids(length), (), (), "", True) for owner, length in sizes]


def plain(model: Any, batch: list[Rollout]) -> tuple[torch.Tensor, torch.Tensor]:
    ids, attention, program = pack(batch, 0)
    logprobs, entropy = token_logprobs(model, ids, attention)
    return logprobs[program], entropy[program]


def gradients(model: Any, scores: tuple[torch.Tensor, torch.Tensor]) -> list[torch.Tensor]:
    weights = torch.linspace(-1, 2, len(scores[0]))
    parameters = [p for p in model.parameters() if p.requires_grad]
    found = torch.autograd.grad((weights * scores[0]).sum() + 0.1 * scores[1].sum(), parameters, allow_unused=True)
    return [torch.zeros_like(p) if g is None else g for p, g in zip(parameters, found, strict=True)]


@pytest.mark.parametrize(("family", "lean"), [*((f, True) for f in FAMILIES), *((f, False) for f in LEAN)])
def test_scores_and_gradients_are_the_plain_ones(family: str, lean: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """To 2e-5 nats and, for gradients, 1e-4 of the largest: what fp32 leaves of sums in another order."""
    monkeypatch.setattr(limits, "LOGITS_AT_ONCE", 10 * VOCABULARY)
    model = make(family)
    scorer = Scorer(model, 0, lean)
    assert scorer.shares == (family in SHARING and (lean or family not in CONVOLUTIONS))
    assert scorer.is_lean == (lean and family in LEAN)
    found, exact = scorer(rollouts()), plain(model, rollouts())
    assert_alike(model, (found.logprobs_K, found.entropy_K), exact)


def beginning_alike() -> list[Rollout]:
    """Two families of prompts, one of them with a prompt that is its beginning and one token, and a prompt by itself."""
    rng = random.Random(1)

    def ids(count: int) -> tuple[int, ...]:
        return tuple(rng.randrange(3, VOCABULARY) for _ in range(count))

    first, second = ids(9), ids(7)
    prompts = [(*first, *ids(4)), (*second, *ids(3)), (*first, *ids(1)), ids(8), (*second, *ids(3)), (*first, *ids(6))]
    sizes = [(0, 5), (1, 1), (0, 9), (2, 4), (4, 1), (2, 8), (3, 3), (4, 6), (5, 2), (1, 2), (3, 4)]
    return [Rollout(prompts[owner], ids(length), (), (), "", True) for owner, length in sizes]


@pytest.mark.parametrize("family", LEAN)
def test_what_prompts_begin_with_is_read_once(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one call, or for several whose gradients meet in it: scores and gradients are the plain ones."""
    monkeypatch.setattr(limits, "BEGINNING", 6)
    monkeypatch.setattr(limits, "LOGITS_AT_ONCE", 10 * VOCABULARY)
    model, batch = make(family), beginning_alike()
    scorer, exact = Scorer(model, 0), plain(model, batch)
    found = scorer(batch)
    assert found.read == 9 + 7 + (3 + 2 + 0 + 7 + 2 + 5) + sum(len(r.tokens) for r in batch)
    assert_alike(model, (found.logprobs_K, found.entropy_K), exact)
    weights = torch.linspace(-1, 2, len(exact[0]))
    logprobs, start = [], 0
    with scorer.begun([r.prompt for r in batch]) as begun:
        assert begun is not None
        assert begun.read == 9 + 7
        for part in (batch[:4], batch[4:5], batch[5:]):
            scores = scorer(part)
            of_part = weights[start : start + len(scores.logprobs_K)]
            start += len(of_part)
            ((of_part * scores.logprobs_K).sum() + 0.1 * scores.entropy_K.sum()).backward()
            logprobs.append(scores.logprobs_K.detach())
    torch.testing.assert_close(torch.cat(logprobs), exact[0], rtol=0, atol=2e-5)
    assert_near([p.grad for p in model.parameters()], gradients(model, plain(model, batch)))


def assert_alike(model: Any, ours: tuple[torch.Tensor, torch.Tensor], exact: tuple[torch.Tensor, torch.Tensor]) -> None:
    """To 2e-5 nats and, for gradients, 1e-4 of the largest: what fp32 leaves of sums in another order."""
    for a, b in zip(ours, exact, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=2e-5)
    assert_near(gradients(model, ours), gradients(model, exact))


def assert_near(ours: Any, exact: list[torch.Tensor]) -> None:
    for a, b in zip(ours, exact, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-4 * max(1.0, float(b.abs().max())))


def test_too_many_beginnings_are_read_with_their_prompts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that save most come first; what is read once may take half of the room of a micro-batch."""
    monkeypatch.setattr(limits, "BEGINNING", 6)
    monkeypatch.setattr(limits, "TOKENS_KEPT", (24, 24))
    with Scorer(make("llama"), 0).begun([r.prompt for r in beginning_alike()]) as begun:
        assert begun is not None
        assert (begun.read, begun.room) == (9, 15)


def test_a_prompt_is_read_once_for_its_group() -> None:
    """Or all but its last token, which every continuation of the lean way begins with."""
    prompts, programs = 7 + 2 + 12 + 1, sum(len(r.tokens) for r in rollouts())
    assert Scorer(make("llama"), 0, lean=False)(rollouts()).read == prompts + programs - len(rollouts())
    assert Scorer(make("llama"), 0)(rollouts()).read == prompts - 4 + programs


def test_padding_and_order_do_not_matter() -> None:
    scorer, batch = Scorer(make("gpt2"), 0), rollouts()
    together, backwards = scorer(batch).logprobs_K, scorer(batch[::-1]).logprobs_K
    alone = [scorer([r]).logprobs_K for r in batch]
    torch.testing.assert_close(torch.cat(alone), together, rtol=0, atol=1e-5)
    torch.testing.assert_close(torch.cat(alone[::-1]), backwards, rtol=0, atol=1e-5)


def test_a_rollout_may_fill_the_positions_to_the_last() -> None:
    """GPT-2 has 64: padding beside a full one must not ask for a 65th."""
    full = [Rollout((5,) * 60, (6,) * 5, (), (), "", True), Rollout((7,) * 63, (6,), (), (), "", True)]
    full.append(Rollout((7,) * 63, (8, 9), (), (), "", True))
    model = make("gpt2")
    short = [Rollout(r.prompt, r.tokens[: 64 - len(r.prompt)], (), (), "", True) for r in full]
    scored = Scorer(model, 0)(full)
    assert len(scored.logprobs_K) == 8
    exact = plain(model, short)[0]
    torch.testing.assert_close(scored.logprobs_K[:4], exact[:4], rtol=0, atol=2e-5)


def test_a_model_that_cannot_share_says_so() -> None:
    assert Scorer(make("llama"), 0).notes == []
    assert "once per rollout" in Scorer(make("mistral, sliding"), 0).notes[0]


def test_a_model_without_a_head_of_its_own_is_scored_by_its_logits() -> None:
    class Odd(torch.nn.Module):
        device = torch.device("cpu")

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> Any:
            from types import SimpleNamespace

            return SimpleNamespace(logits=torch.nn.functional.one_hot(input_ids, VOCABULARY) * 3.0)

    scorer = Scorer(Odd(), 0)
    assert "all its logits at once: it is not a transformers model" in scorer.notes[0]
    torch.testing.assert_close(scorer(rollouts()).logprobs_K, plain(Odd(), rollouts())[0])
