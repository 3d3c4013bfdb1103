"""The size of a micro-batch on a GPU, by its memory."""

from __future__ import annotations

import pytest

from kolmocli.learning.room import times_as_large, times_in
from kolmocli.policy.adapters import Adaptation
from kolmocli.policy.loading import load_policy


def test_a_processor_has_the_limits_as_they_are() -> None:
    assert times_as_large(load_policy("tiny", device="cpu").model) == 1.0


def test_a_gpu_has_as_much_more_as_half_of_its_memory_holds() -> None:
    """`medium`: 27 million parameters, of which weights, gradients and moments take 16 bytes each."""
    model = load_policy("medium", device="cpu", train=Adaptation()).model
    held = 16 * sum(p.numel() for p in model.parameters())
    some, twice = (times_in(2 * (held + free), model) for free in (2**31, 2**32))
    assert 1.0 < some < twice < 8.0
    assert twice == pytest.approx(2 * some)
    assert times_in(2 * held, model) == 1.0
    assert times_in(2**50, model) == 8.0
