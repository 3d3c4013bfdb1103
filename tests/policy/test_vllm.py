"""vLLM as the sampler: what it says of its samples is what the trained model says, before and after an update."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from kolmocli.errors import EnvironmentMissing, KolmoError
from kolmocli.policy.generation import generate
from kolmocli.policy.loading import load_policy
from kolmocli.policy.policy import Policy
from kolmocli.policy.rollout import Rollout
from kolmocli.policy.scoring import Scorer
from kolmocli.policy.vllm import VllmSampler, open_vllm
from tests.conftest import Run
from tests.policies import TARGETS, prompts
from tests.training.runs import CURRICULUM


@pytest.fixture(scope="module")
def policy() -> Iterator[Policy]:
    """`small`, whose heads are large enough for the kernels of a CPU, as it is after a little training."""
    policy = load_policy("small", device="cpu", seed=1)
    sampler = open_vllm(policy, 0.2)
    yield replace(policy, sampler=sampler)
    sampler.close()


def written(policy: Policy, seed: int | None = 0, **options: float) -> list[Rollout]:
    generator = None if seed is None else torch.Generator().manual_seed(seed)
    return policy.rollout(prompts(TARGETS[:3]), samples=4, max_new_tokens=12, generator=generator, **options)  # type: ignore[arg-type]


def assert_scored_alike(policy: Policy, rollouts: list[Rollout], temperature: float = 1.0) -> None:
    with torch.no_grad():
        exact = Scorer(policy.model, policy.pad_id)(rollouts, temperature).logprobs_K
    told = torch.tensor([x for rollout in rollouts for x in rollout.logprobs])
    torch.testing.assert_close(told, exact, rtol=0, atol=1e-3)


@pytest.mark.vllm
@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_its_log_probabilities_are_those_of_the_model(policy: Policy, temperature: float) -> None:
    rollouts = written(policy, temperature=temperature)
    assert len({r.tokens for r in rollouts}) == 12
    assert_scored_alike(policy, rollouts, temperature)


@pytest.mark.vllm
def test_a_seed_repeats_and_another_differs(policy: Policy) -> None:
    assert written(policy, 5) == written(policy, 5) != written(policy, 6)


@pytest.mark.vllm
def test_greedily_it_writes_what_generate_does(policy: Policy) -> None:
    ours = replace(policy, sampler=generate)
    assert [r.tokens for r in written(policy, None)] == [r.tokens for r in written(ours, None)]


@pytest.mark.vllm
def test_weights_that_have_learnt_are_taken_and_nothing_old_is_remembered(policy: Policy) -> None:
    before = written(policy)
    with torch.no_grad():
        for weight in policy.model.parameters():
            weight.add_(0.02 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(3)))
    after = written(policy)
    assert [r.tokens for r in after] != [r.tokens for r in before]
    assert_scored_alike(policy, after)


@pytest.mark.vllm
def test_an_end_token_ends_and_is_kept(policy: Policy) -> None:
    ending = replace(policy)
    ending.stop_ids = tuple(range(0, 326, 3))  # type: ignore[misc]
    told: dict[int, Rollout] = {}
    rollouts = ending.rollout(
        prompts(TARGETS[:3]),
        samples=4,
        max_new_tokens=12,
        generator=torch.Generator().manual_seed(1),
        finished=told.__setitem__,
    )
    assert [told[i] for i in range(12)] == rollouts
    assert any(r.finished for r in rollouts)
    for rollout in rollouts:
        ends = [token in ending.stop_ids for token in rollout.tokens]
        assert not any(ends[:-1])
        assert ends[-1] == rollout.finished
        assert rollout.finished or len(rollout.tokens) == 12


@pytest.mark.vllm
def test_a_model_that_it_cannot_run_is_one_line() -> None:
    with pytest.raises(KolmoError, match=r"^model.sampler: vllm cannot run this model: [^\n]+$"):
        open_vllm(load_policy("tiny", device="cpu"), 0.2)  # heads of 16 are too small for its kernels


@pytest.mark.vllm
@pytest.mark.slow
def test_a_run_with_it_learns(kolmo: Run, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(CURRICULUM.replace("name: tiny", "name: small"))
    done = kolmo("train", "c.yaml", "--set", "model.sampler=vllm", "--steps", 3, "--run-dir", "run", "-q")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run" / "checkpoints" / "step_000003" / "model.safetensors").is_file()


def test_without_vllm_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(EnvironmentMissing, match=r"kolmocli\[vllm\]"):
        open_vllm(load_policy("tiny", device="cpu"), 0.2)


def test_it_is_a_sampler_with_the_arguments_of_generate() -> None:
    import inspect

    theirs = inspect.signature(VllmSampler.__call__).parameters
    assert set(inspect.signature(generate).parameters) - {"lean"} == set(theirs) - {"self"}
