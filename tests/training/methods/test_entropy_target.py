"""The entropy of a policy, or S, held at a target: the loop on a plant that is known, and in runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given, strategies as st

from kolmocli.config import Training
from kolmocli.curriculum.base import Bucket, Result
from kolmocli.errors import UsageError
from kolmocli.learning.batches import Weighted, by_temperature
from kolmocli.learning.learner import Learner
from kolmocli.learning.reference import open_reference
from kolmocli.learning.report import StepReport
from kolmocli.policy.rollout import Rollout
from kolmocli.training.methods.entropy_target import HeldEntropy, Loop
from tests.policies import TARGETS, prompts, save_hugging_face, tiny
from tests.training.runs import metrics, run, small_config

# --- the loop


def test_a_step_moves_by_the_error_that_is_looked_ahead_to() -> None:
    loop = Loop(0.1, (0.0, 0.3), 0.05, target=1.0)
    seen = []
    for measured in (0.8, 0.8, 0.6, 1.8):
        loop.observe(measured)
        seen.append((loop.measured, loop.value))
    # Errors 0.2, 0.2, 0.3, -0.25; looked ahead 0.2, 0.2, 0.3 + 4 * 0.1, and -0.25 - 4 * 0.55, which is cut to -1.
    assert [m for m, _ in seen] == pytest.approx([0.8, 0.8, 0.7, 1.25])
    assert [v for _, v in seen] == pytest.approx([0.103, 0.106, 0.1165, 0.1015])


def test_a_share_is_of_what_was_measured_first() -> None:
    loop = Loop(0.0, (0.0, 0.3), 0.05, target=None, share=0.25)
    loop.observe(0.0)
    assert (loop.target, loop.value) == (None, 0.0)
    loop.observe(2.0)
    loop.observe(1.0)
    assert loop.target == 0.5


def plant(loop: Loop, entropy: float, steps: int, reach: float = 20.0, lag: float = 5.0) -> list[float]:
    """An entropy that goes, a fifth of the way a step, to what its bonus holds: to nothing where there is none."""
    seen = []
    for _ in range(steps):
        entropy += (reach * loop.value - entropy) / lag
        loop.observe(entropy)
        seen.append(entropy)
    return seen


def test_a_plant_that_loses_its_entropy_is_held_at_the_target() -> None:
    loop = Loop(0.0, (0.0, 0.3), 0.05, target=1.0)
    seen = plant(loop, 2.1, 60)
    assert min(seen) > 0.7
    assert seen[40:] == pytest.approx([1.0] * 20, abs=0.01)
    assert loop.value == pytest.approx(1.0 / 20.0, rel=0.01)


def test_nothing_is_wound_up_at_a_bound() -> None:
    """A hundred steps too weak to hold the target, or a thousand: what comes afterwards is the same."""
    after = []
    for steps in (100, 1000):
        loop = Loop(0.0, (0.0, 0.3), 0.05, target=1.0)
        plant(loop, 2.1, steps, reach=1.0)
        assert loop.value == 0.3
        after.append(plant(loop, 0.3, 40))
    assert after[0] == pytest.approx(after[1])
    assert after[0][30:] == pytest.approx([1.0] * 10, abs=0.05)


@given(st.lists(st.floats(0.0, 20.0), max_size=30), st.floats(0.01, 5.0), st.floats(0.01, 1.0))
def test_it_stays_within_its_bounds_and_moves_no_further_than_its_gain(
    measured: list[float], target: float, gain: float
) -> None:
    loop = Loop(0.9, (0.7, 1.5), gain, target=target)
    for each in measured:
        before = loop.value
        loop.observe(each)
        assert 0.7 <= loop.value <= 1.5
        assert abs(loop.value - before) <= gain * 0.8 + 1e-9


def test_a_loop_goes_on_from_its_state_in_json() -> None:
    whole, half = (Loop(0.0, (0.0, 0.3), 0.05, target=None, share=0.5) for _ in range(2))
    noise = [2.0 - 0.13 * i + 0.7 * (i % 3) for i in range(20)]
    for each in noise[:9]:
        half.observe(each)
    other = Loop(0.2, (0.0, 0.3), 0.05, target=None, share=0.5)
    other.load_state_dict(json.loads(json.dumps(half.state_dict())))
    for each in noise:
        whole.observe(each)
    for each in noise[9:]:
        other.observe(each)
    assert other.state_dict() == whole.state_dict()


# --- what is measured


def method(**asked: Any) -> tuple[HeldEntropy, Any, Any]:
    training = Training(entropy_target=asked)
    learner, engine = SimpleNamespace(entropy_bonus=0.0), SimpleNamespace(temperature=1.0)
    assert training.entropy_target is not None
    return HeldEntropy(training.entropy_target, training, learner, engine), learner, engine  # type: ignore[arg-type]


def report(entropy: float, tokens: int = 100) -> StepReport:
    return StepReport(0.0, 0.0, entropy, tokens, tokens)


def groups(*passes: int) -> list[Any]:
    results = [Result(Bucket("a", 1), k, 8) for k in passes]
    return [SimpleNamespace(result=lambda r=r: r, rollouts=()) for r in results]


@pytest.mark.parametrize("nothing", [report(0.0, tokens=0), report(float("nan"))])
def test_a_step_that_learns_nothing_moves_nothing(nothing: StepReport) -> None:
    held, learner, _ = method(nats=1.0)
    held.learned(report(0.5), groups(4))
    before, moved = held.state_dict(), learner.entropy_bonus
    assert moved > 0
    held.learned(nothing, groups(0, 8))
    assert (held.state_dict(), learner.entropy_bonus) == (before, moved)


@pytest.mark.parametrize(("passes", "moves"), [((0, 8, 0, 8), 1), ((4, 4, 3, 5), -1), ((0, 0), 0), ((8, 8), 0)])
def test_the_signal_share_is_held_in_place_of_the_entropy(passes: Sequence[int], moves: int) -> None:
    """Tasks that always pass beside tasks that never do: S is 0 at a pass rate of one half, whatever the entropy."""
    held, _, engine = method(signal_share=0.6, by="temperature")
    held.learned(report(3.0), groups(*passes))
    assert (engine.temperature > 1.0) - (engine.temperature < 1.0) == moves


# --- runs


@pytest.fixture(scope="module")
def warmed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Sections of runs that go on from a warm start. Products in bf16 have another course, and other ratios than 1."""
    folder = tmp_path_factory.mktemp("warmed") / "run"
    run(small_config(training={"steps": 0}, evaluation={"tasks": 1}, model={"precision": "fp32"}), folder)
    return {
        "model": {"name": str(folder / "checkpoints" / "step_000000"), "precision": "fp32"},
        "warmup": {"max_steps": 0},
        "evaluation": {"tasks": 1, "every": 0},
    }


def test_the_bonus_rises_where_the_policy_is_too_sure_and_falls_where_it_is_not(
    tmp_path: Path, warmed: dict[str, dict[str, Any]]
) -> None:
    for name, nats, way in (("high", 3.0, 1), ("low", 0.01, -1)):
        training = {"steps": 4, "entropy_bonus": 0.1, "entropy_target": {"nats": nats}}
        run(small_config(**warmed, training=training), tmp_path / name)
        lines = [record["entropy_target"] for record in metrics(tmp_path / name)]
        assert {(line["of"], line["target"], "temperature" in line) for line in lines} == {("entropy", nats, False)}
        assert lines[0]["bonus"] == 0.1
        assert lines[0]["measured"] == metrics(tmp_path / name)[0]["entropy"]
        moves = [b["bonus"] - a["bonus"] for a, b in pairwise(lines)]
        assert all(way * move > 0 for move in moves)


def test_the_bonus_that_moves_is_what_is_learned_with(tmp_path: Path, warmed: dict[str, dict[str, Any]]) -> None:
    """The first step of a loop has the bonus of the file: its metrics are those of a run without the loop. The next has more."""
    for name, held in (("with", {"entropy_target": {"nats": 3.0, "gain": 1.0}}), ("without", {})):
        run(small_config(**warmed, training={"steps": 3, **held}), tmp_path / name)
    lines = {name: metrics(tmp_path / name) for name in ("with", "without")}
    assert all("entropy_target" not in record for record in lines["without"])
    first = {key: value for key, value in lines["with"][0].items() if key != "entropy_target"}
    assert first == lines["without"][0]
    assert lines["with"][1]["loss"] != lines["without"][1]["loss"]


HELD = {
    "bonus": {"share": 0.5},
    "temperature": {"nats": 3.0, "by": "temperature"},
    "signal": {"signal_share": 0.9, "by": "temperature", "gain": 0.3},
}


@pytest.mark.parametrize("asked", HELD.values(), ids=list(HELD))
def test_a_run_that_was_stopped_goes_on_exactly(
    tmp_path: Path, warmed: dict[str, dict[str, Any]], asked: dict[str, Any]
) -> None:
    config = small_config(**warmed, training={"steps": 5, "entropy_target": asked})
    run(config, tmp_path / "whole")
    run(config, tmp_path / "split", stop_at=2)
    run(config, tmp_path / "split", resume=True)
    whole = metrics(tmp_path / "whole")
    assert metrics(tmp_path / "split") == whole
    moved = {str(record["entropy_target"]) for record in whole}
    assert len(moved) == len(whole), "nothing moved that could differ"


def test_rollouts_are_scored_at_the_temperature_that_they_were_sampled_at(
    tmp_path: Path, warmed: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the policy itself every ratio is 1, in each step of a temperature that moves."""
    furthest, original = [], Learner._ratios

    def ratios(learner: Learner, part: Sequence[Weighted], logprobs_K: torch.Tensor) -> torch.Tensor:
        found = original(learner, part, logprobs_K)
        sampled_K = torch.tensor([not w.rollout.is_answer for w in part for _ in w.weights])
        furthest.append(float((found - 1.0)[sampled_K].abs().max()) if sampled_K.any() else 0.0)
        return found

    monkeypatch.setattr(Learner, "_ratios", ratios)
    held = {"nats": 4.0, "by": "temperature", "gain": 0.3}
    run(small_config(**warmed, training={"steps": 4, "ratio_cap": 9, "entropy_target": held}), tmp_path / "run")
    at = [record["entropy_target"]["temperature"] for record in metrics(tmp_path / "run")]
    assert at[0] == 1.0
    assert at[0] < at[1] < at[2] <= 1.5
    assert len(furthest) >= 4
    assert max(furthest) < 1e-4


def test_rollouts_of_several_temperatures_and_answers_are_learned_each_at_its_own() -> None:
    policy = tiny()
    written = [
        policy.rollout(
            prompts(TARGETS[:2]), samples=2, max_new_tokens=8, generator=torch.Generator().manual_seed(0), temperature=t
        )
        for t in (0.8, 1.3)
    ]
    assert [[r.temperature for r in part] for part in written] == [[0.8] * 4, [1.3] * 4]
    answers = [replace(r, logprobs=(), temperature=None) for r in written[0]]
    batch = [Weighted(r, [1.0] * len(r.tokens)) for r in (*written[1], *answers, *written[0])]
    assert [len(part) for part in by_temperature(batch, 0.8)] == [4, 8]

    def loss(items: Sequence[Weighted]) -> float:
        learner = Learner(tiny(), learning_rate=0.0, max_grad_norm=1.0, entropy_bonus=0.0, temperature=0.8)
        return learner.step(items, denominator=1.0).loss

    def sampled(rollouts: Sequence[Rollout]) -> float:
        return -sum(sum(r.logprobs) for r in rollouts)

    assert loss(batch) == pytest.approx(2 * sampled(written[0]) + sampled(written[1]), rel=1e-4)


def test_the_reference_is_asked_at_the_temperature_of_the_rollouts(tmp_path: Path) -> None:
    from kolmocli.policy.loading import load_policy

    folder = str(save_hugging_face(tmp_path / "gpt2", chat=False))
    policy = load_policy(folder, device="cpu")
    written = policy.rollout(
        prompts(TARGETS[:2]), samples=2, max_new_tokens=5, generator=torch.Generator().manual_seed(0), temperature=1.4
    )
    reference = open_reference(policy, folder, seed=0, temperature=1.0)
    sampled = torch.tensor([x for r in written for x in r.logprobs])
    torch.testing.assert_close(reference(written), sampled, rtol=0, atol=1e-4)


# --- what is refused


@pytest.mark.parametrize(
    ("training", "said"),
    [
        ({"entropy_target": 0.8}, r"0\.8 of what\? write \{nats: 0\.8\} or \{share: 0\.5\}"),
        ({"entropy_target": {}}, "has no target; set one of nats, share, signal_share"),
        ({"entropy_target": {"nats": 1, "share": 0.5}}, "has nats and share; set one of"),
        ({"entropy_target": {"nats": -1}}, "greater than 0"),
        ({"entropy_target": {"share": 1.5}}, "less than or equal to 1"),
        ({"entropy_target": {"signal_share": 0}}, "greater than 0"),
        ({"entropy_target": {"nats": 1, "bounds": [0.3, 0.1]}}, r"bounds: 0\.3 is not below 0\.1; write the lower"),
        ({"entropy_target": {"nats": 1, "bounds": [-0.1, 0.1]}}, r"bounds: a bonus is 0 or more, got -0\.1"),
        (
            {"entropy_target": {"nats": 1, "by": "temperature", "bounds": [0, 1]}},
            r"bounds: a temperature is 0\.01 to 100, got 0 to 1",
        ),
        (
            {"entropy_target": {"nats": 1}, "entropy_bonus": 0.5},
            r"entropy_bonus: 0\.5 is where entropy_target begins, and its bounds are 0 to 0\.3; change either",
        ),
        (
            {"entropy_target": {"nats": 1, "by": "temperature"}, "temperature": 0.5},
            r"temperature: 0\.5 is where entropy_target begins, and its bounds are 0\.7 to 1\.5; change either",
        ),
    ],
)
def test_what_cannot_be_held_is_refused(training: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Training.model_validate(training)


def test_an_entropy_that_no_choice_has_is_refused_before_there_is_a_run(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"entropy_target\.nats: 9 is out of reach: a choice among the \d+ tokens of tiny"
    ):
        run(small_config(training={"entropy_target": {"nats": 9}}), tmp_path / "run")
    assert not (tmp_path / "run").exists()
