"""What a GPU computes is what the CPU computes. The same tests run on the CPU, where they hold the code that chooses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from kolmocli.learning.learner import Learner, Weighted
from kolmocli.learning.saving import load_state, save_checkpoint
from kolmocli.policy import generation
from kolmocli.policy.adapters import Adaptation
from kolmocli.policy.decoding import rounded
from kolmocli.policy.generated import Generated
from kolmocli.policy.generation import generate
from kolmocli.policy.loading import load_policy
from kolmocli.policy.policy import Policy
from kolmocli.policy.scoring import Scorer
from kolmocli.processor import Precision
from tests.policies import prompts

pytestmark = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
MODELS = pytest.mark.parametrize("name", ["tiny", "tiny-llama"])


def written(policy: Policy, lean: bool = True, precision: Precision = "fp32") -> list[Generated]:
    """The random numbers are the device's own, so that two devices write different texts from one seed."""
    return generate(
        policy.model, [policy.prompt_ids(prompt) for prompt in prompts()], samples=8, max_new_tokens=40,
        stop_ids=policy.stop_ids, pad_id=policy.pad_id, lean=lean, precision=precision,
        generator=torch.Generator(policy.model.device).manual_seed(0),
    )  # fmt: skip


def assert_alike(ours: list[Generated], theirs: list[Generated]) -> None:
    assert [(g.tokens, g.finished) for g in ours] == [(g.tokens, g.finished) for g in theirs]
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(torch.tensor(a.logprobs), torch.tensor(b.logprobs), rtol=0, atol=1e-4)


def apart(policy: Policy, device: str) -> float:
    """Mean difference in nats between what sampling and scoring say of a token."""
    rollouts = policy.rollout(
        prompts(), samples=4, max_new_tokens=20, generator=torch.Generator(device).manual_seed(0)
    )  # fmt: skip
    with torch.no_grad(), rounded(policy.model, policy.precision):
        scored = Scorer(policy.model, policy.pad_id)(rollouts).logprobs_K.cpu()
    sampled = torch.tensor([x for r in rollouts for x in r.logprobs])
    return float((sampled - scored).abs().mean())


def learnt(policy: Policy, learner: Learner | None = None, **options: Any) -> Learner:
    """One step from answers that were written on the CPU, the same for every device, half of them to be liked."""
    writer = load_policy("tiny", device="cpu")
    rollouts = writer.rollout(prompts(), samples=4, max_new_tokens=20, generator=torch.Generator().manual_seed(1))
    learner = learner or Learner(policy, learning_rate=1e-3, max_grad_norm=1.0, entropy_bonus=0.01, **options)
    learner.step([Weighted(r, [(-1.0) ** i] * len(r.tokens)) for i, r in enumerate(rollouts)])
    return learner


def gradient(learner: Learner) -> torch.Tensor:
    return torch.cat([p.grad.flatten().float().cpu() for p in learner.parameters if p.grad is not None])


@MODELS
def test_the_lean_decoder_writes_what_transformers_write(name: str, device: str) -> None:
    policy = load_policy(name, device=device)
    assert_alike(written(policy), written(policy, lean=False))


@MODELS
def test_rows_that_have_ended_are_looked_for_at_any_step(
    name: str, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = load_policy(name, device=device)
    at_once, later = [], []
    for steps, found in ((1, at_once), (8, later)):
        monkeypatch.setitem(generation._STEPS_BETWEEN_LOOKS, device, steps)
        found += written(policy)
    assert_alike(at_once, later)


@MODELS
def test_what_is_sampled_in_bf16_is_scored_alike(name: str, device: str) -> None:
    policy = load_policy(name, device=device)
    policy.precision = "bf16"
    assert 0 < apart(policy, device) < 0.05


@MODELS
@pytest.mark.parametrize("recompute", [False, True], ids=["kept", "recomputed"])
def test_a_step_learns_what_it_learns_on_the_cpu(name: str, recompute: bool, device: str) -> None:
    here = gradient(learnt(load_policy(name, device=device, train=Adaptation()), recompute=recompute))
    there = gradient(learnt(load_policy(name, device="cpu", train=Adaptation())))
    assert torch.cosine_similarity(here, there, 0) > 0.9999


@pytest.mark.parametrize("in_8bit", [False, True])
def test_adapters_learn_and_their_base_does_not(in_8bit: bool, device: str) -> None:
    policy = load_policy("tiny", device=device, train=Adaptation(4, 32, in_8bit))
    if in_8bit and device == "cuda":  # states are rounded to 8 bits too: the last digit of one decides on a whole step
        assert 0 < apart(policy, device) < 0.05
    else:
        assert_alike(written(policy), written(policy, lean=False))
    before = {name: p.detach().clone() for name, p in policy.model.named_parameters()}
    learner = learnt(policy)
    assert gradient(learner).isfinite().all()
    changed = {name for name, p in policy.model.named_parameters() if not torch.equal(p, before[name])}
    assert changed
    assert all("lora_" in name for name in changed)


def test_a_checkpoint_is_gone_on_with_as_if_it_had_not_been_left(device: str, tmp_path: Path) -> None:
    policy = load_policy("tiny", device=device, train=Adaptation())
    learner = learnt(policy)
    folder = save_checkpoint(tmp_path, 1, policy, learner.state_dict(), {})
    learnt(policy, learner)
    again = load_policy(str(folder), device=device, train=Adaptation())
    resumed = Learner(again, learning_rate=1e-3, max_grad_norm=1.0, entropy_bonus=0.01)
    resumed.load_state_dict(load_state(folder)[1])
    learnt(again, resumed)
    for ours, theirs in zip(again.model.parameters(), policy.model.parameters(), strict=True):
        assert ours.device.type == device
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-5)
