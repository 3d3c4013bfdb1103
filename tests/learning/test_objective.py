"""What can be switched on beside the REINFORCE loss: divergence from a reference, truncated ratios, means over tokens,
recomputed layers, schedules of the learning rate, other baselines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from pydantic import ValidationError

import kolmocli as kolmo
from kolmocli.config import Config, Training
from kolmocli.config.baselines import BASELINES
from kolmocli.errors import UsageError
from kolmocli.learning.batches import Weighted
from kolmocli.learning.learner import Learner
from kolmocli.learning.reference import open_reference
from kolmocli.learning.returns import advantages, line_advantages
from kolmocli.policy.adapters import Adaptation
from kolmocli.policy.loading import load_policy
from kolmocli.policy.policy import Policy
from kolmocli.policy.recompute import recompute_layers
from kolmocli.policy.scoring import Scorer
from kolmocli.training.schedule import learning_rate
from tests.policies import TARGETS, prompts, save_hugging_face, tiny
from tests.training.runs import metrics, run, small_config


@pytest.fixture(scope="module")
def warmed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Sections of a run that goes on from a warm start."""
    folder = tmp_path_factory.mktemp("warmed") / "run"
    run(small_config(training={"steps": 0}, evaluation={"tasks": 1}), folder)
    return {"model": {"name": str(folder / "checkpoints" / "step_000000")}, "warmup": {"max_steps": 0}}


def batch(policy: Policy) -> list[Weighted]:
    written = policy.rollout(
        prompts(TARGETS[:3]), samples=2, max_new_tokens=10, generator=torch.Generator().manual_seed(0)
    )
    return [Weighted(r, [(-1.0) ** i * (1 + i)] * len(r.tokens)) for i, r in enumerate(written)]


def taught(policy: Policy) -> list[Weighted]:
    """The same as answers, which nobody sampled."""
    return [replace(w, rollout=replace(w.rollout, logprobs=())) for w in batch(policy)]


def gradients(policy: Policy, items: list[Weighted], **options: Any) -> tuple[float, list[torch.Tensor]]:
    learner = Learner(policy, learning_rate=0.0, max_grad_norm=1e9, entropy_bonus=0.0, **options)
    report = learner.step(items)
    return report.loss, [p.grad.clone() for p in learner.parameters if p.grad is not None]


def assert_alike(ours: list[torch.Tensor], theirs: list[torch.Tensor], scale: float = 1.0) -> None:
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, scale * b, rtol=1e-3, atol=1e-4)


# --- truncated importance sampling


def test_a_rollout_of_the_policy_itself_has_ratios_of_one() -> None:
    policy = tiny()
    assert_alike(gradients(policy, batch(policy), ratio_cap=1.0)[1], gradients(policy, batch(policy))[1])


@pytest.mark.parametrize(("shift", "ratio"), [(0.5, 0.6065307), (-0.5, 1.6487213), (-3.0, 2.0)])
def test_a_stale_rollout_is_weighed_by_its_ratio_up_to_the_cap(shift: float, ratio: float) -> None:
    """`shift`: by how many nats the sampler thought each token likelier than the policy does now."""
    policy = tiny()
    fresh = batch(policy)
    stale = [
        replace(w, rollout=replace(w.rollout, logprobs=tuple(x + shift for x in w.rollout.logprobs))) for w in fresh
    ]
    assert_alike(gradients(policy, stale, ratio_cap=2.0)[1], gradients(policy, fresh)[1], ratio)


def test_answers_were_never_sampled_and_have_no_ratio() -> None:
    policy = tiny()
    assert_alike(gradients(policy, taught(policy), ratio_cap=1.5)[1], gradients(policy, batch(policy))[1])


# --- the mean over a rollout's tokens


def test_per_token_is_the_mean_of_the_log_probabilities() -> None:
    policy = tiny()
    items = [item.cut(3 + i) for i, item in enumerate(batch(policy))]
    by_hand = -sum(
        w.weights[0] * float(Scorer(policy.model, policy.pad_id)([w.rollout]).logprobs_K.detach().mean()) for w in items
    )
    assert gradients(policy, items, means=True)[0] == pytest.approx(by_hand / len(items), rel=1e-5)


def test_a_run_learns_per_token_where_it_is_asked_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warmed: dict[str, dict[str, Any]]
) -> None:
    seen: dict[bool, list[Weighted]] = {}
    backward = Learner._backward
    for asked in (False, True):

        def spy(learner: Learner, given: list[Weighted], tally: Any, learnt: Any, asked: bool = asked) -> None:
            seen[asked] = given
            backward(learner, given, tally, learnt)

        monkeypatch.setattr(Learner, "_backward", spy)
        settings = {"steps": 1, "per_token": asked, "noise_every": 0}
        run(small_config(**warmed, training=settings, evaluation={"tasks": 1}), tmp_path / str(asked))
    assert {w.rollout.is_answer for w in seen[True]} == {False, True}
    for summed, mean in zip(seen[False], seen[True], strict=True):
        assert [w * len(mean.weights) for w in mean.weights] == pytest.approx(summed.weights)
        assert mean.rollout == summed.rollout


# --- divergence from a reference


def test_the_divergence_is_that_of_the_formula(tmp_path: Path) -> None:
    policy, began = tiny(0), tiny(1)
    items = batch(policy)
    reference = Scorer(began.model, began.pad_id)
    with torch.no_grad():
        r = [
            reference([w.rollout]).logprobs_K - Scorer(policy.model, policy.pad_id)([w.rollout]).logprobs_K
            for w in items
        ]
    exact = sum(float((x.exp() - x - 1).sum()) for x in r) / len(items)
    assert max(float(x.abs().max()) for x in r) < 10  # none is cut

    def of(rollouts: Any) -> torch.Tensor:
        with torch.no_grad():
            return reference(rollouts).logprobs_K

    with_it, without = (gradients(policy, items, kl=kl, reference=of)[0] for kl in (0.3, 0.0))
    assert with_it - without == pytest.approx(0.3 * exact, rel=1e-4)


def test_the_divergence_pulls_towards_the_reference() -> None:
    policy, began = tiny(0), tiny(1)
    items = [replace(w, weights=[1e-9] * len(w.weights)) for w in batch(policy)]
    scorer = Scorer(began.model, began.pad_id)

    def reference(rollouts: Any) -> torch.Tensor:
        with torch.no_grad():
            return scorer(rollouts).logprobs_K

    learner = Learner(policy, learning_rate=1e-4, max_grad_norm=1.0, entropy_bonus=0.0, kl=1.0, reference=reference)
    losses = [learner.step(items, denominator=1.0).loss for _ in range(4)]
    assert losses[3] < losses[0]


def test_answers_may_go_as_far_as_they_like() -> None:
    policy = tiny()
    items = taught(policy)

    def reference(rollouts: Any) -> torch.Tensor:
        return torch.full((sum(len(r.tokens) for r in rollouts),), -9.0)

    assert gradients(policy, items, kl=1.0, reference=reference)[0] == pytest.approx(gradients(policy, items)[0])


def settings(name: str, **training: Any) -> Config:
    return Config.model_validate({"model": {"name": name}, "families": {"a": {"levels": [{}]}}, "training": training})


def test_the_reference_is_the_named_model_or_the_base_of_an_adapter(tmp_path: Path) -> None:
    folder = str(save_hugging_face(tmp_path, chat=False))
    began = load_policy(folder, device="cpu")
    items = [w.rollout for w in batch(began)]
    exact = Scorer(began.model, began.pad_id)(items).logprobs_K.detach()
    for rank in (0, 2):
        policy = load_policy(folder, device="cpu", train=Adaptation(rank))
        with torch.no_grad():
            for parameter in policy.model.parameters():
                if parameter.requires_grad:
                    parameter.add_(0.05 * torch.randn_like(parameter))
        reference = open_reference(policy, folder, seed=0, temperature=1.0)
        torch.testing.assert_close(reference(items), exact, rtol=0, atol=1e-5)
        assert not torch.allclose(Scorer(policy.model, policy.pad_id)(items).logprobs_K, exact, atol=1e-2)


def test_all_is_scored_at_the_temperature_of_sampling(tmp_path: Path) -> None:
    folder = str(save_hugging_face(tmp_path, chat=False))
    policy = load_policy(folder, device="cpu")
    written = policy.rollout(
        prompts(TARGETS[:2]), samples=2, max_new_tokens=10, generator=torch.Generator().manual_seed(0), temperature=0.5
    )
    sampled = torch.tensor([x for r in written for x in r.logprobs])
    reference = open_reference(policy, folder, seed=0, temperature=0.5)
    torch.testing.assert_close(reference(written), sampled, rtol=0, atol=1e-4)
    items = [Weighted(r, [1.0] * len(r.tokens)) for r in written]
    assert gradients(policy, items, temperature=0.5)[0] == pytest.approx(-float(sampled.sum()) / 4, rel=1e-4)


def test_a_preset_has_nothing_to_stay_near() -> None:
    with pytest.raises(ValueError, match="kl keeps the policy near what it began with, but tiny begins with random"):
        settings("tiny", kl=0.1)
    assert settings("tiny", kl=0.1, lora={"rank": 4}).training.kl == 0.1


# --- layers that are computed again


def kept(policy: Policy) -> tuple[int, list[torch.Tensor]]:
    sizes: dict[int, int] = {}

    def note(tensor: torch.Tensor) -> torch.Tensor:
        sizes[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        scores = Scorer(policy.model, policy.pad_id)([w.rollout for w in batch(tiny())])
        loss = (scores.logprobs_K * torch.linspace(-1, 1, len(scores.logprobs_K))).sum()
    found = torch.autograd.grad(loss, list(policy.model.parameters()))
    weights = {p.untyped_storage().data_ptr() for p in policy.model.parameters()}
    return sum(size for place, size in sizes.items() if place not in weights), list(found)


@pytest.mark.parametrize(("preset", "share"), [("tiny-llama", 0.2), ("tiny", 0.25)])
def test_recomputed_layers_give_the_same_gradients_and_keep_less(preset: str, share: float) -> None:
    plain, policy = tiny(name=preset), tiny(name=preset)
    recompute_layers(policy.model)
    (more, theirs), (less, ours) = kept(plain), kept(policy)
    assert_alike(ours, theirs)
    assert less < share * more


def test_a_recomputed_model_is_saved_and_sampled_as_before(tmp_path: Path) -> None:
    policy = tiny()
    before = [w.rollout for w in batch(policy)]
    recompute_layers(policy.model)
    policy.save(tmp_path)
    assert [w.rollout for w in batch(load_policy(str(tmp_path), device="cpu"))] == before
    assert [w.rollout for w in batch(policy)] == before


def test_an_architecture_without_such_layers_is_refused() -> None:
    with pytest.raises(UsageError, match="gradient_checkpointing is on, but the layers of a Linear"):
        recompute_layers(torch.nn.Linear(2, 2))


# --- schedules


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("linear", [0.5, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]),
        ("constant", [0.5, *[1.0] * 9]),
        ("cosine", [0.5, 0.9755, 0.9045, 0.7939, 0.6545, 0.5, 0.3455, 0.2061, 0.0955, 0.0245]),
    ],
)
def test_the_learning_rate_rises_and_falls(schedule: Any, expected: list[float]) -> None:
    training = Training(steps=10, learning_rate=2.0, ramp_steps=2, schedule=schedule)
    assert [learning_rate(step, training) for step in range(1, 11)] == pytest.approx(
        [2 * x for x in expected], abs=1e-3
    )


def test_without_a_rise_the_first_step_is_the_highest() -> None:
    assert learning_rate(1, Training(steps=10, learning_rate=2.0, ramp_steps=0)) == 2.0


# --- baselines for comparison


def test_advantages_divided_by_deviation_or_mean() -> None:
    assert advantages([1.0, 0.0, 0.0, 1.0], "grpo") == pytest.approx([0.8660254, -0.8660254, -0.8660254, 0.8660254])
    assert advantages([1.0, 0.0, None, 0.0, 0.0], "maxrl") == pytest.approx([3.0, -1.0, 0.0, -1.0, -1.0])


@pytest.mark.parametrize("kind", ["grpo", "maxrl"])
@pytest.mark.parametrize("group", [[0.0, 0.0], [1.0, 1.0], [0.7], [None, None], [1.0, None]])
def test_a_group_without_differences_has_no_advantage(kind: Any, group: Any) -> None:
    assert advantages(group, kind) == [0.0] * len(group)


def test_maxrl_counts_from_what_the_reward_pays_a_failure(tmp_path: Path, warmed: dict[str, dict[str, Any]]) -> None:
    """+1 and -1 are 1 and 0 on another scale: `maxrl`, which divides by the mean above a failure, learns the same of them."""
    rewards: dict[str, dict[str, Any]] = {
        "zero": {"kind": "relative", "length_weight": 0.0},
        "minus": {"kind": "binary"},
    }
    for name, reward in rewards.items():
        run(small_config(**warmed, training={"baseline": "maxrl", "steps": 6}, reward=reward), tmp_path / name)
    zero, minus = (
        [record for record in metrics(tmp_path / name) if record["phase"] == "rl"] for name in ("zero", "minus")
    )
    assert any(record["dead_groups"] < record["groups"] for record in zero)
    for key in ("pass_rate", "verdicts", "tokens"):
        assert [record[key] for record in minus] == [record[key] for record in zero]
    for key in ("loss", "grad_norm"):
        assert [record[key] for record in minus] == pytest.approx([record[key] for record in zero], rel=1e-4)
    assert [record["reward"] for record in minus] != [record["reward"] for record in zero]


# --- a baseline of one's own


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], str]:
    """Registers a function for this test, and says its name."""

    def register(function: Any) -> str:
        monkeypatch.setitem(BASELINES._things, "mine", function)
        return "mine"

    return register


def test_a_registered_function_sees_what_was_judged(registered: Callable[[Any], str]) -> None:
    name = registered(lambda returns: [r - max(returns) for r in returns])
    assert advantages([1.0, None, 0.0, 3.0], name) == [-2.0, 0.0, -3.0, 0.0]
    assert line_advantages([[1.0, 2.0], None, [4.0]], name) == [[-3.0, -2.0], [], [0.0]]
    assert advantages([None, None], name) == [0.0, 0.0]


@pytest.mark.parametrize(
    "function",
    [lambda r: r[1:], lambda r: [float("nan")] * len(r), lambda r: None, lambda r: ["a"] * len(r), lambda r: 1 / 0],
    ids=["too few", "nan", "nothing", "words", "raises"],
)
def test_what_are_no_advantages_ends_the_run(registered: Callable[[Any], str], function: Any) -> None:
    with pytest.raises(UsageError, match=r"^training\.baseline mine: "):
        advantages([1.0, 0.0], registered(function))


def test_the_line_that_it_gets_is_of_the_function_that_raised(registered: Callable[[Any], str]) -> None:
    with pytest.raises(UsageError, match=r"test_objective\.py:\d+: ZeroDivisionError"):
        advantages([1.0, 0.0], registered(lambda returns: 1 / 0))


def test_a_run_learns_as_with_the_same_baseline_built_in(tmp_path: Path, registered: Callable[[Any], str]) -> None:
    name = registered(lambda returns: advantages(list(returns), "rloo"))
    for baseline in ("rloo", name):
        run(small_config(training={"baseline": baseline, "steps": 2}), tmp_path / baseline)
    mine, theirs = ([{**m, "seconds": 0} for m in metrics(tmp_path / b)] for b in (name, "rloo"))
    assert mine == theirs


def test_names_of_ours_and_names_of_nobody_are_refused() -> None:
    with pytest.raises(UsageError, match="rloo comes with kolmo"):
        kolmo.register_baseline("rloo")
    with pytest.raises(ValidationError, match="'rloo'"):
        Training(baseline="no-such")
