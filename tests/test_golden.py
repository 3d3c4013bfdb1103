"""Whole runs through the command: one seed is one run, and a run that was split is the run that was not."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests import warm
from tests.conftest import KOLMO, command_environment

CURRICULUM = """\
name: golden
model: {name: tiny, device: cpu}
families:
  runs:
    sampler: {modifiers: [0, 0], reuse: 0, interleave: 0, base_length: [2, 8], initiators: {repeat_num: 1}}
    levels: [{bases: [1, 1]}, {bases: [2, 2]}]
  ramps:
    sampler: {modifiers: [0, 0], reuse: 0, interleave: 0, base_length: [3, 9], initiators: {range_func_up: 1}}
    levels: [{bases: [1, 1]}, {bases: [2, 2]}]
warmup: {max_steps: 3, check_every: 3, batch_size: 16}
training: {steps: 6, batch_size: 16, group_size: 4, max_new_tokens: 24}
evaluation: {tasks: 4, every: 4}
sandbox: {backend: embedded, workers: 2}
report: false
"""


def kolmo(folder: Path, *arguments: object, code: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    words, env = list(map(str, arguments)), command_environment(environment)
    if warm.serves(environment):
        done = warm.run(words, folder, env, 300)
    else:
        done = subprocess.run(
            [KOLMO, *words], cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False
        )
    assert done.returncode == code, done.stderr
    return done


def metrics(run: Path) -> list[dict[str, Any]]:
    """What the run wrote, times aside."""
    records = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in record.items() if key != "seconds"} for record in records]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("golden")
    (folder / "golden.yaml").write_text(CURRICULUM)
    return folder


@pytest.fixture(scope="module")
def whole(here: Path) -> Path:
    done = kolmo(
        here,
        "train",
        "golden.yaml",
        "--seed",
        7,
        "--run-dir",
        "whole",
        "--json",
        "--set",
        "report=true",
        PYTHONHASHSEED="1",
    )
    (here / "printed.json").write_text(done.stdout)
    return here / "whole"


@pytest.fixture(scope="module")
def split(here: Path) -> Path:
    kolmo(here, "train", "golden.yaml", "--seed", 7, "--run-dir", "split", "--stop-at", 3, "-q")
    assert [r["step"] for r in metrics(here / "split")] == [1, 2, 3, 1, 2, 3]
    shutil.copytree(here / "split", here / "stopped", symlinks=True)
    kolmo(here, "train", "--resume", "--run-dir", "split", "-q", PYTHONHASHSEED="3")
    return here / "split"


def test_a_run_that_was_split_is_the_run_that_was_not(whole: Path, split: Path) -> None:
    assert [(r["phase"], r["step"]) for r in metrics(whole)] == [
        *[("warmup", s) for s in (1, 2, 3)],
        *[("rl", s) for s in range(1, 7)],
    ]
    assert metrics(split) == metrics(whole)


def test_a_split_run_ends_with_the_same_weights_and_evaluation(whole: Path, split: Path) -> None:
    weights = [(run / "checkpoints" / "step_000006" / "model.safetensors").read_bytes() for run in (whole, split)]
    assert weights[0] == weights[1]
    summaries = [json.loads((run / "summary.json").read_text()) for run in (whole, split)]
    for key in ("steps", "warmup_steps", "rollouts", "pass_rate", "bits", "eval"):
        assert summaries[0][key] == summaries[1][key], key


def test_another_seed_is_another_run(here: Path, whole: Path) -> None:
    kolmo(here, "train", "golden.yaml", "--seed", 8, "--run-dir", "other", "--steps", 1, "-q")
    assert all(a != b for a, b in zip(metrics(whole), metrics(here / "other"), strict=False))


def test_it_is_evaluated_as_often_as_asked(whole: Path) -> None:
    events = [json.loads(line) for line in (whole / "events.jsonl").read_text().splitlines()]
    assert [(e["name"], e["step"]) for e in events if e["kind"] == "eval"] == [
        ("before", 0),
        ("step 4", 4),
        ("after", 6),
    ]


@pytest.mark.slow
def test_the_same_seed_twice_is_the_same_run(here: Path, whole: Path) -> None:
    kolmo(here, "train", "golden.yaml", "--seed", 7, "--run-dir", "again", "-q")
    assert metrics(here / "again") == metrics(whole)


def test_the_run_folder_holds_what_is_promised(whole: Path) -> None:
    assert {p.name for p in whole.iterdir()} >= {
        "config.yaml",
        "metrics.jsonl",
        "events.jsonl",
        "summary.json",
        "checkpoints",
        "plots",
        "report.html",
    }
    assert sorted(p.name for p in (whole / "checkpoints").iterdir()) == ["step_000000", "step_000006"]
    assert list((whole / "plots").glob("*.png"))
    assert (whole.parent / "latest").is_symlink()


def test_every_step_holds_what_is_promised(whole: Path) -> None:
    keys = {
        "step", "rollouts", "pass_rate", "reward", "loss", "grad_norm", "entropy", "bits_per_rollout", "bits_total",
        "dead_groups", "infra", "tokens", "flops", "seconds", "buckets",
    }  # fmt: skip
    for line in (whole / "metrics.jsonl").read_text().splitlines()[3:]:
        record = json.loads(line)
        assert record.keys() >= keys
        assert record["seconds"].keys() >= {"rollout", "execute", "learn"}
        for bucket in record["buckets"].values():
            assert bucket.keys() >= {"level", "pass_rate", "ci", "signal", "weight", "n"}


def test_the_summary_holds_what_is_promised(here: Path, whole: Path) -> None:
    summary = json.loads((whole / "summary.json").read_text())
    assert json.loads((here / "printed.json").read_text()) == summary
    assert summary["schema_version"] == 1
    assert (summary["steps"], summary["rollouts"]) == (6, 96)
    assert summary["seconds"].keys() >= {"warmup", "rollout", "execute", "learn", "eval", "total"}
    assert summary["pass_rate"].keys() >= {"target", "mean", "in_band"}
    assert summary["bits"].keys() >= {"per_rollout", "total", "per_gflop"}
    assert summary["eval"]["before"]["n"] == summary["eval"]["after"]["n"] == 4
    assert summary["sandbox"].keys() >= {"backend", "executed", "infra", "programs_per_second"}
    assert Path(summary["checkpoint"]).name == "step_000006"


def test_an_evaluation_holds_what_is_promised(here: Path, whole: Path) -> None:
    report = json.loads(kolmo(here, "eval", whole, "--sandbox", "embedded", "--device", "cpu", "--json").stdout)
    assert report.keys() >= {
        "schema_version", "n", "accuracy", "accuracy_ci", "executable", "precision", "precision_xz",
        "compression_rate", "average_reward", "format_rate", "copy_rate", "buckets", "baselines",
    }  # fmt: skip
    assert set(report["buckets"]) == {"runs/1", "runs/2", "ramps/1", "ramps/2"}
    assert all(bucket.keys() >= {"accuracy", "n"} for bucket in report["buckets"].values())
    assert report["baselines"].keys() >= {"gzip", "bz2", "xz"}
    after = json.loads((whole / "summary.json").read_text())["eval"]["after"]
    assert {k: report[k] for k in ("n", "accuracy", "compression_rate")} == {
        k: after[k] for k in ("n", "accuracy", "compression_rate")
    }


def test_a_used_folder_is_refused_and_left_alone(here: Path, whole: Path) -> None:
    before = metrics(whole)
    done = kolmo(here, "train", "golden.yaml", "--run-dir", "whole", "-q", code=2)
    assert "whole is in use; resume it with --resume" in done.stderr
    assert metrics(whole) == before


@pytest.mark.usefixtures("split")
def test_a_resumed_run_refuses_another_configuration_and_names_the_key(here: Path) -> None:
    done = kolmo(here, "train", "--resume", "--run-dir", "stopped", "--learning-rate", 0.5, "-q", code=2)
    assert "training.learning_rate: 0.0003 -> 0.5" in done.stderr
    assert "Traceback" not in done.stderr
