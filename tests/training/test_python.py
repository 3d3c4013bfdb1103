"""Runs on functions from examples: every rollout is Python that runs in a sandbox, from nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kolmocli.config import Config
from kolmocli.config.file import load_config
from kolmocli.evaluation.command import evaluate
from kolmocli.evaluation.selection import Wanted
from kolmocli.paths import find_curriculum
from tests.training.runs import metrics, run

SMALL = {
    "model.device": "cpu",
    "warmup.max_steps": 2,
    "warmup.check_every": 3,
    "warmup.batch_size": 4,
    "training.steps": 2,
    "training.batch_size": 8,
    "training.group_size": 4,
    "training.max_new_tokens": 12,
    "evaluation.tasks": 4,
    "sandbox.backend": "embedded",
    "sandbox.workers": 1,
    "report": False,
}
SUBJECTS = {"numbers", "maps", "filters", "folds", "strings", "pairs"}


def lesson(curriculum: str = "python", **changes: Any) -> Config:
    return load_config(find_curriculum(curriculum), {**SMALL, **changes})


def test_a_run_is_judged_in_a_sandbox_and_resumed_exactly(tmp_path: Path) -> None:
    summary = run(lesson(), tmp_path / "whole")
    run(lesson(), tmp_path / "parts", stop_at=1)
    resumed = run(lesson(), tmp_path / "parts", resume=True)
    assert metrics(tmp_path / "whole") == metrics(tmp_path / "parts")
    assert resumed["eval"] == summary["eval"]
    steps = [record for record in metrics(tmp_path / "whole") if record["phase"] == "rl"]
    assert all(set(record["buckets"]) == SUBJECTS for record in steps)
    assert sum(sum(record["verdicts"].values()) for record in steps) == summary["rollouts"]
    assert summary["sandbox"]["executed"] > 0
    again = evaluate(
        str(tmp_path / "whole"), Wanted(), samples=1, seed=None, device="cpu", sandbox="embedded", warn=print
    )
    assert again["accuracy"] == summary["eval"]["after"]["accuracy"]


def test_groups_that_all_fail_teach_where_parts_are_paid(tmp_path: Path) -> None:
    """After thirty batches of references a policy writes expressions that pass some of the tests, and none that passes all."""
    taught = {"warmup.max_steps": 30, "warmup.check_every": 100, "warmup.batch_size": 16, "training.steps": 0}
    run(lesson("expressions", **taught), tmp_path / "taught")
    changes: dict[str, Any] = {"warmup.max_steps": 0, "training.steps": 1}
    changes |= {"training.batch_size": 64, "training.max_new_tokens": 20}
    changes |= {"model.name": str(tmp_path / "taught" / "checkpoints" / "step_000000")}
    steps = []
    for partial in (0.0, 0.5):
        folder = tmp_path / str(partial)
        run(lesson("expressions", **changes, **{"reward.partial": partial}), folder)
        steps += [record for record in metrics(folder) if record["phase"] == "rl"]
    without, with_parts = steps
    assert without["tokens"] == with_parts["tokens"], "other rollouts"
    assert [step["pass_rate"] for step in steps] == [0.0, 0.0]
    assert (without["reward"], without["grad_norm"]) == (0.0, 0.0)
    assert 0.0 < with_parts["reward"] < 0.5
    assert with_parts["grad_norm"] > 0.0
    assert with_parts["dead_groups"] < without["dead_groups"]


@pytest.mark.slow
def test_reinforce_alone_finds_functions_that_nobody_taught(tmp_path: Path) -> None:
    """In some five minutes on one core. The whole lesson gains more (docs/python.md)."""
    changes = {"model.device": "cpu", "sandbox.backend": "embedded", "training.steps": 60, "report": False}
    after = run(load_config(find_curriculum("expressions"), changes), tmp_path / "run")["eval"]["after"]
    assert after["gain"] > 0.08
    assert after["gain_ci"][0] > 0
