"""Hopeless rollouts are stopped where a line begins, three in four of them, and the others are marked."""

from __future__ import annotations

import functools
import math
from typing import Any

import pytest
import torch

from kolmocli.learning.value import RIPE, SURVIVES, ValuedRollout, ValueGuide
from kolmocli.policy import generation
from kolmocli.policy.generation import numbers_per_row
from kolmocli.policy.policy import Policy
from tests.policies import TARGETS, prompts, taught

SAMPLES, LENGTH = 16, 24


@functools.cache
def sampled(below: float | None, fits: int = RIPE, seed: int | None = 0, first: int = 0) -> list[ValuedRollout]:
    """Of a head that expects 1 of every state; for all targets, or from number `first` on."""
    policy = Policy("taught", taught().model, taught().tokenizer)
    policy.guide = guide = ValueGuide(policy, below)
    guide.value.weight[-1] = 1.0
    guide.value.fits += fits
    generator = None if seed is None else torch.Generator().manual_seed(seed)
    if generator is not None:
        torch.rand(first * SAMPLES, numbers_per_row(LENGTH, guide), generator=generator)
    written = policy.rollout(prompts(TARGETS[first:]), samples=SAMPLES, max_new_tokens=LENGTH, generator=generator)
    return [rollout for rollout in written if isinstance(rollout, ValuedRollout)]


def test_three_in_four_are_stopped_at_a_line_that_looks_hopeless() -> None:
    written = sampled(1.5)
    stopped = [r for r in written if r.stopped is not None]
    at_lines = len(stopped) + sum(len(r.spared) for r in written)
    assert at_lines > 50
    assert abs(len(stopped) - at_lines * (1 - SURVIVES)) < 5 * math.sqrt(at_lines * SURVIVES * (1 - SURVIVES))
    for rollout in stopped:
        assert rollout.stopped == (rollout.text.count("\n"), pytest.approx(1.0))
        assert rollout.text.endswith("\n")
        assert not rollout.finished
    for rollout in written:
        assert set(rollout.spared) == set(rollout.starts[1:])
        assert len(rollout.values) == len(rollout.tokens) == len(rollout.logprobs)


@pytest.mark.parametrize("case", [{"below": 0.5}, {"below": 1.5, "fits": RIPE - 1}, {"below": 1.5, "seed": None}])
def test_nothing_is_stopped_that_promises_enough_nor_by_a_head_that_knows_little_nor_greedily(
    case: dict[str, Any],
) -> None:
    written = sampled(**case)
    assert not any(r.spared or r.stopped for r in written)
    assert any(len(r.starts) > 1 for r in written)


def test_what_is_written_up_to_there_is_what_would_have_been_written() -> None:
    for whole, cut in zip(sampled(0.5), sampled(1.5), strict=True):
        assert whole.tokens[: len(cut.tokens)] == cut.tokens
        assert cut.stopped is not None or cut.tokens == whole.tokens


def test_a_part_of_a_batch_is_what_it_is_in_the_whole() -> None:
    """As several generators share the tasks of a step: each leaves out the random numbers of those before its own."""
    whole, part = sampled(1.5)[2 * SAMPLES :], sampled(1.5, first=2)
    assert [(r.tokens, r.spared, r.text) for r in part] == [(r.tokens, r.spared, r.text) for r in whole]


def test_a_seed_decides_who_is_stopped() -> None:
    assert sampled.__wrapped__(1.5) == sampled(1.5)
    assert [r.stopped for r in sampled(1.5)] != [r.stopped for r in sampled(1.5, seed=1)]


def test_looking_more_rarely_for_those_that_were_stopped_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(generation._STEPS_BETWEEN_LOOKS, "cpu", 5)
    for later, at_once in zip(sampled.__wrapped__(1.5), sampled(1.5), strict=True):
        assert (later.tokens, later.spared, later.finished) == (at_once.tokens, at_once.spared, at_once.finished)
        assert (later.stopped is None) == (at_once.stopped is None)
        assert later.values == pytest.approx(at_once.values)
