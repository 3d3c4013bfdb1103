"""What a step writes down of information, and what a whole run adds up to."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kolmocli.curriculum.base import Belief, Bucket, FamilyMetrics
from kolmocli.engine.base import Group
from kolmocli.learning.batches import Batch, Weighted
from kolmocli.learning.noise import GroupGradients
from kolmocli.learning.report import StepReport
from kolmocli.monitor.records import ReinforceRecord
from kolmocli.policy.rollout import Rollout
from kolmocli.sandbox.base import Status
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sequences.task import sequence_task
from kolmocli.training import train as module
from kolmocli.training.records import answer_fields, failing, gradient_record, step_record
from tests.training.runs import events, metrics, run, small_config

ROLLOUT = Rollout((1,), (2, 3, 4), (0.0,) * 3, (0, 0, 1), "", True)
PASSED = Outcome("p", 1, True, Status.OK, 1.0, True, bits=10)
MISSED = Outcome("m", 1, False, Status.OK, 0.0, value=(1, 9))
BROKEN = Outcome("b", 1, False, Status.RUNTIME, 0.0)
LOST = Outcome("l", 1, False, Status.INFRA, None)
FAMILIES = {
    "a": FamilyMetrics(2.0, 6, 0.7, "tracking", Belief(0.51234, 0.4, 0.6)),
    "b": FamilyMetrics(1.0, 6, 0.3, "tracking"),
}


def group(family: str, *outcomes: Outcome) -> Group:
    return Group(sequence_task(Bucket(family, 2), 0, (1, 2)), [ROLLOUT] * len(outcomes), outcomes)


HALF = group("a", PASSED, PASSED, MISSED, BROKEN)
DEAD = group("b", MISSED, MISSED, MISSED, LOST)


def recorded(**cost: Any) -> ReinforceRecord:
    return step_record([HALF, DEAD], FAMILIES, Batch([[Weighted(ROLLOUT, [1.0] * 3)], []]), **cost)


def test_bits_are_told_per_rollout_token_and_operation() -> None:
    record = recorded(tokens=48, flops=4e9)
    bits = 4 * (1.0 + 1 / (8 * math.log(2)))  # Miller and Madow lift 2 of 4 above one bit; only means are clipped
    assert record.bits_per_rollout == pytest.approx(bits / 7)
    assert record.bits_per_token == pytest.approx(bits / 48)
    assert record.bits_per_gflop == pytest.approx(bits / 4)
    assert (record.groups, record.dead_groups) == (2, 1)
    assert record.buckets is not None
    a, b = record.buckets["a"], record.buckets["b"]
    assert (a.bits, b.bits) == (1.0, 0.0)
    assert a.bits_per_token == pytest.approx(4 / 12)
    assert a.bits_per_gflop == pytest.approx(4 / (4 * 12 / 48))
    assert (a.signal_share, b.signal_share) == (1.0, None)
    assert a.to_json()["belief"] == {"pass_rate": 0.5123, "low": 0.4, "high": 0.6} and "belief" not in b.to_json()


def test_without_a_cost_nothing_is_told_per_cost() -> None:
    record = recorded()
    assert record.bits_per_token is None and record.bits_per_gflop is None


def test_verdicts_are_counted_lost_ones_too() -> None:
    record = recorded()
    assert record.verdicts == {"INFRA": 1, "RUNTIME": 1, "missed": 4, "passed": 2}


def test_answers_add_up_in_bits() -> None:
    report = StepReport(1.0, 1.0, 1.0, tokens=10, work=20, answers=4, answer_nats=8 * math.log(2))
    record = answer_fields(report, 100.0, flops=2e9)
    assert record == pytest.approx(
        {"answers": 4, "bits_per_answer": 2.0, "answer_bits_total": 108.0, "bits_per_token": 0.8, "bits_per_gflop": 4.0}
    )
    assert answer_fields(StepReport(0.0, 0.0, 0.0, 0, 0), 5.0) == {
        "answers": 0, "bits_per_answer": None, "answer_bits_total": 5.0,
    }  # fmt: skip


def test_a_gradient_is_told_with_the_passes_of_its_group() -> None:
    groups = [HALF, group("b", LOST, LOST), DEAD]
    record = gradient_record(GroupGradients({0: 4.0}, 4.0), groups)
    assert record.groups == 2, "the group that the sandbox lost is none"
    assert record.norms == [("a", 2, 4, 4.0), ("b", 0, 3, 0.0)]
    assert record.signal == pytest.approx(0.0) and record.scale is None
    alike = gradient_record(GroupGradients({0: 1.0, 1: 1.0}, 4.0), [HALF, HALF])
    assert (alike.signal, alike.variance, alike.scale) == pytest.approx((4.0, 0.0, 0.0))


def test_failing_programs_come_from_different_groups() -> None:
    groups = [HALF, group("c", PASSED), DEAD]
    assert [failing(groups, step) for step in range(1, 5)] == [None] * 4
    shown = [failing(groups, step) for step in (15, 5, 10)]
    assert [f and (f.family, f.verdict, f.made) for f in shown] == [
        ("a", "missed", "1 9"), ("b", "missed", "1 9"), ("b", "missed", "1 9"),
    ]  # fmt: skip
    assert failing([group("c", PASSED, LOST)], 5) is None


def test_a_run_adds_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "write_report", lambda folder, between: [])
    config = small_config(training={"steps": 5, "noise_every": 2}, warmup={"max_steps": 3})
    bits = run(config, tmp_path / "run")["bits"]
    lines = metrics(tmp_path / "run")
    warm, played = lines[:3], lines[3:]
    told = sum(r["answers"] * r["bits_per_answer"] for r in warm)
    assert warm[-1]["answer_bits_total"] == pytest.approx(told) == pytest.approx(bits["supervised_total"])
    assert told > 3 * 16 * 8, "a random policy knows next to nothing of an answer"
    assert warm[0]["bits_per_answer"] == pytest.approx(warm[0]["loss"] * warm[0]["tokens"] / 16 / math.log(2), rel=1e-3)
    flops = [sum(r["flops"] for r in part) / 1e9 for part in (warm, played)]
    assert bits["supervised_per_gflop"] == pytest.approx(told / flops[0])
    assert bits["per_rl_gflop"] == pytest.approx(bits["total"] / flops[1])
    assert bits["per_gflop"] == pytest.approx(bits["total"] / sum(flops))
    assert bits["hindsight_total"] == pytest.approx(sum(r["answers"] * (r["bits_per_answer"] or 0) for r in played))
    assert {r["step"] for r in played if "gradient" in r} <= {1, 3, 5}
    assert all({"low", "high", "pass_rate"} == set(r["buckets"]["runs"]["belief"]) for r in played)
    doubted = {event["step"] for event in events(tmp_path / "run", "grader")}  # each comes with an example
    assert {event["step"] for event in events(tmp_path / "run", "failing")} == {5} | doubted


@pytest.mark.parametrize(
    "error", [RuntimeError("no font"), KeyboardInterrupt(), OSError(28, "No space left on device")]
)
def test_a_report_that_cannot_be_drawn_is_a_warning(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def draw(folder: Path, between: Any) -> None:
        raise error

    monkeypatch.setattr(module, "write_report", draw)
    module._draw(SimpleNamespace(folder=Path("runs/x"), stop=SimpleNamespace(signal=None)))  # type: ignore[arg-type]
    (note,) = capsys.readouterr().err.splitlines()
    assert "kolmo report runs/x" in note and (str(error) or "KeyboardInterrupt") in note


def test_a_signal_ends_the_drawing_between_two_pictures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stop, drawn = SimpleNamespace(signal=None, name="SIGINT"), []

    def draw(folder: Path, between: Any) -> None:
        for picture in range(5):
            between()
            drawn.append(picture)
            stop.signal = 2 if picture == 1 else None

    monkeypatch.setattr(module, "write_report", draw)
    module._draw(SimpleNamespace(folder=Path("runs/x"), stop=stop))  # type: ignore[arg-type]
    assert drawn == [0, 1]
    assert "stopped by SIGINT" in capsys.readouterr().err
