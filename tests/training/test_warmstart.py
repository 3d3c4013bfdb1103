"""The supervised warm start: what one step is, and the benchmark that compares presets by it."""

from __future__ import annotations

import json
import random
import runpy
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from kolmocli.config.training import Warmup
from kolmocli.curriculum.base import Bucket
from kolmocli.learning.trained import open_learner
from kolmocli.tasks.sources import training_source
from kolmocli.training.opening import open_policy
from kolmocli.training.run import Run
from kolmocli.training.warmstart import choose, ramp, teach
from tests.training.runs import metrics, run, small_config

PRESETS = Path(__file__).parents[2] / "benchmarks" / "presets.py"


def test_references_are_taught_and_tasks_without_one_change_nothing() -> None:
    config = small_config()
    policy = open_policy(config)
    learner = open_learner(policy, config.training, model="tiny", seed=0, ratio_cap=None, read_states=None)
    source = training_source(config, print)
    tasks = [source.task(Bucket("runs", 1), index) for index in range(8)]
    before = [weight.clone() for weight in policy.model.parameters()]
    assert teach(learner, [replace(task, reference=None) for task in tasks], 1e-2) is None
    assert all(weight.equal(old) for weight, old in zip(policy.model.parameters(), before, strict=True))
    reports = [teach(learner, [*tasks, replace(tasks[0], reference=None)], 1e-2) for _ in range(5)]
    assert [report.answers for report in reports if report is not None] == [8] * 5
    losses = [report.loss for report in reports if report is not None]
    assert losses[-1] < 0.5 * losses[0]


def test_the_rate_goes_up_over_twenty_steps_and_down_to_the_end() -> None:
    assert [ramp(step, 0.0) for step in (1, 10, 20, 400)] == [0.05, 0.5, 1.0, 1.0]
    assert [ramp(40, done) for done in (0.25, 1.0)] == [0.75, 0.0]


@pytest.mark.parametrize("budget", [("--steps", "6"), ("--seconds", "2")])
def test_presets_are_compared(
    budget: tuple[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["--presets", "tiny", "tiny-llama", "--rates", "3e-3", "--tasks", "16", "--json", *budget]
    monkeypatch.setattr(sys, "argv", [str(PRESETS), *asked])
    monkeypatch.syspath_prepend(str(PRESETS.parent))
    runpy.run_path(str(PRESETS), run_name="__main__")
    report = json.loads(capsys.readouterr().out)
    assert (report["schema_version"], report["curriculum"]) == (1, "quickstart")
    rows = report["runs"]
    assert [(row["preset"], row["rate"], row["seed"]) for row in rows] == [("tiny", 3e-3, 0), ("tiny-llama", 3e-3, 0)]
    assert all(row["nats"] < row["before"] for row in rows)
    assert all(row["steps"] == 6 if budget[0] == "--steps" else row["steps"] > 0 for row in rows)


BUCKETS = [Bucket(family, level) for family in ("ramps", "runs") for level in (1, 2, 5)]


def levels(step: int, **settings: float) -> Counter[int]:
    """Of 4,000 references of a step."""
    warmup = Warmup(batch_size=4000, max_steps=100, **settings)  # type: ignore[arg-type]
    return Counter(bucket.level for bucket in choose(BUCKETS, warmup, step, random.Random(step)))


def test_levels_open_one_after_another() -> None:
    assert set(levels(1, easing=0.6)) == set(levels(20, easing=0.6)) == {1}
    assert set(levels(21, easing=0.6)) == set(levels(40, easing=0.6)) == {1, 2}
    assert set(levels(41, easing=0.6)) == set(levels(100, easing=0.6)) == {1, 2, 5}


def test_the_newest_level_has_half_of_the_references() -> None:
    found = levels(90, easing=0.6)
    assert found[5] / 4000 == pytest.approx(2 / 3, abs=0.03)  # half of all, and a third of the others
    assert [found[level] / 4000 for level in (1, 2)] == pytest.approx([1 / 6, 1 / 6], abs=0.03)


def test_without_easing_all_levels_are_taught_alike_from_the_beginning() -> None:
    assert all(count / 4000 == pytest.approx(1 / 3, abs=0.03) for count in levels(1).values())


def test_a_run_that_dies_in_its_warm_start_goes_on_from_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = small_config(warmup={"easing": 0.5}, training={"steps": 2})
    run(config, tmp_path / "whole")
    save, saved = Run.save, list[int]()

    def dying(self: Run) -> Path:
        saved.append(self.state.warm_steps)
        if len(saved) == 5:
            raise KeyboardInterrupt
        return save(self)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Run, "save", dying)
        run(config, tmp_path / "died")
    assert saved == [3, 6, 9, 12, 15]
    run(config, tmp_path / "died", resume=True)
    assert metrics(tmp_path / "died") == metrics(tmp_path / "whole")
