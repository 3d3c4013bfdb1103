"""The supervised warm start: what one step is, and the benchmark that compares presets by it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from kolmocli.curriculum.base import Bucket
from kolmocli.learning.trained import open_learner
from kolmocli.tasks.sources import training_source
from kolmocli.training.opening import open_policy
from kolmocli.training.warmstart import ramp, teach
from tests.training.runs import small_config

PRESETS = Path(__file__).parents[2] / "benchmarks" / "presets.py"


def test_references_are_taught_and_tasks_without_one_change_nothing() -> None:
    config = small_config()
    policy = open_policy(config)
    learner = open_learner(
        policy, config.training, model="tiny", seed=0, ratio_cap=None, read_states=None, precision="fp32"
    )
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
def test_presets_are_compared(budget: tuple[str, str]) -> None:
    asked = ["--presets", "tiny", "tiny-llama", "--rates", "3e-3", "--tasks", "16", "--json", *budget]
    done = subprocess.run([sys.executable, str(PRESETS), *asked], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["schema_version"], report["curriculum"]) == (1, "quickstart")
    rows = report["runs"]
    assert [(row["preset"], row["rate"], row["seed"]) for row in rows] == [("tiny", 3e-3, 0), ("tiny-llama", 3e-3, 0)]
    assert all(row["nats"] < row["before"] for row in rows)
    assert all(row["steps"] == 6 if budget[0] == "--steps" else row["steps"] > 0 for row in rows)
