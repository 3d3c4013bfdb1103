"""The optimisers: both learn, and both go on exactly where they were saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from kolmocli.learning.learner import Learner, Weighted
from kolmocli.learning.saving import load_state, save_checkpoint
from kolmocli.policy.loading import load_policy
from tests.policies import prompts, tiny

KINDS = pytest.mark.parametrize("kind", ["adamw", "adamw8bit"])


def make(policy: Any, kind: Any) -> Learner:
    return Learner(policy, learning_rate=1e-3, max_grad_norm=1.0, entropy_bonus=0.0, optimiser=kind)


def batch() -> list[Weighted]:
    written = tiny().rollout(prompts(), samples=2, max_new_tokens=12, generator=torch.Generator().manual_seed(0))
    return [Weighted(r, [1.0] * len(r.tokens)) for r in written]


@KINDS
def test_it_goes_on_exactly_where_it_was_saved(kind: str, tmp_path: Path) -> None:
    unbroken, policy = tiny(), tiny()
    learner = make(unbroken, kind)
    for _ in range(4):
        learner.step(batch(), denominator=12)
    first = make(policy, kind)
    for _ in range(2):
        first.step(batch(), denominator=12)
    folder = save_checkpoint(tmp_path, 2, policy, first.state_dict(), {})
    resumed = load_policy(str(folder), device="cpu")
    second = make(resumed, kind)
    second.load_state_dict(load_state(folder)[1])
    for _ in range(2):
        second.step(batch(), denominator=12)
    for a, b in zip(unbroken.model.parameters(), resumed.model.parameters(), strict=True):
        assert torch.equal(a, b)


def test_moments_in_eight_bits_take_a_quarter(tmp_path: Path) -> None:
    sizes = []
    for kind in ("adamw", "adamw8bit"):
        policy = tiny()
        learner = make(policy, kind)
        learner.step(batch(), denominator=12)
        folder = save_checkpoint(tmp_path / kind, 1, policy, learner.state_dict(), {})
        sizes.append((folder / "optimiser.pt").stat().st_size)
    assert sizes[1] < 0.3 * sizes[0]


def test_eight_bits_learn_about_as_fast() -> None:
    losses = []
    for kind in ("adamw", "adamw8bit"):
        learner = make(tiny(), kind)
        losses.append([learner.step(batch(), denominator=12).loss for _ in range(6)][-1])
    assert losses[1] == pytest.approx(losses[0], rel=0.05)
