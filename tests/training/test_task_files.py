"""Runs on files of tasks: all kinds mixed, beside families, stopped and resumed; and what is said of their references."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from kolmocli.config import Config
from kolmocli.errors import UsageError
from kolmocli.evaluation.command import evaluate
from kolmocli.evaluation.selection import Wanted
from kolmocli.training.train import RunOptions, train
from tests.training.runs import CURRICULUM, metrics, run, small_config


def rows(count: int = 30) -> list[dict[str, Any]]:
    """A function, a script, a question and a sequence for each number."""
    found: list[dict[str, Any]] = []
    for n in range(count):
        found += [
            {"task_id": f"f/{n}", "text": f"Add {n}.", "code": f"def f(x):\n    return x + {n}", "test_list": [f"assert f(1) == {n + 1}"]},
            {"task_id": f"p/{n}", "prompt": f"Print {n}.", "inputs": [""], "outputs": [f"{n}\n"], "program": f"print({n})", "level": 1 + n % 2},
            {"task_id": f"q/{n}", "question": f"{n}?", "answer": str(n), "family": "names"},
            {"task_id": f"s/{n}", "sequence": [n] * 3, "bucket": f"triples/{1 + n % 3}"},
        ]  # fmt: skip
    return found


def write(path: Path, lines: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def config(file: str, **data: Any) -> Config:
    """The file beside families of sequences, in either language, and one of questions."""
    sequences = yaml.safe_load(CURRICULUM)["families"]
    free = {**next(iter(sequences.values())), "language": "python"}
    families = {**sequences, "free": free, "sums": {"task": "sum_digits", "levels": [{}]}}
    return small_config(
        families=families, warmup={"max_steps": 4, "check_every": 4}, training={"steps": 4}, evaluation={"every": 2},
        data={"train": file, "families": True, **data},
    )  # fmt: skip


def test_all_kinds_mixed_learn_and_resume_exactly(tmp_path: Path) -> None:
    chosen = config(write(tmp_path / "d.jsonl", rows()))
    one, split = tmp_path / "one", tmp_path / "split"
    summary = run(chosen, one)
    run(chosen, split, stop_at=2)
    again = run(chosen, split, resume=True)
    assert metrics(one) == metrics(split)
    assert summary["eval"] == again["eval"] and summary["epochs"] == again["epochs"] > 0
    steps = [record for record in metrics(one) if record["phase"] == "rl"]
    names = {"runs", "free", "sums", "code", "scripts", "names", "triples"}
    assert {name for record in steps for name in record["buckets"]} == names
    assert all(record["grad_norm"] > 0 for record in metrics(one) if record["phase"] == "warmup")
    families = {bucket.rpartition("/")[0] for bucket in summary["eval"]["after"]["buckets"]}
    assert families <= names and len(families) > 3


def test_a_run_without_a_file_has_no_epochs(tmp_path: Path) -> None:
    assert run(small_config(training={"steps": 1}, warmup={"max_steps": 0}), tmp_path / "run")["epochs"] is None


def test_a_file_that_changed_is_refused_when_the_run_goes_on(tmp_path: Path) -> None:
    file = write(tmp_path / "d.jsonl", rows(20))
    run(config(file), tmp_path / "run", stop_at=1)
    write(tmp_path / "d.jsonl", rows(21))
    with pytest.raises(UsageError, match=r"d\.jsonl has changed since the run began"):
        run(config(file), tmp_path / "run", resume=True)


def test_references_that_fail_are_named_before_a_run_and_before_an_evaluation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The task stays: what is wrong may be the tests, or the sandbox."""
    lines = rows(20)
    lines[0] = {**lines[0], "code": "def f(x):\n    return x + 7"}
    file = write(tmp_path / "d.jsonl", lines)
    train(config(file), RunOptions(run_dir=tmp_path / "run", stop_at=1))
    said = "".join(capsys.readouterr().err.split())  # a terminal breaks lines where they are full
    assert "d.jsonl:taskf/0:itsreferencepasses0%ofitstests" in said
    with pytest.raises(UsageError, match="task f/0: its reference passes 0% of its tests"):
        run(config(file, strict=True), tmp_path / "other")
    other, warnings = write(tmp_path / "e.jsonl", [lines[0]]), list[str]()

    def evaluated(strict: bool) -> dict[str, Any]:
        wanted = Wanted(data=other, strict=strict)
        return evaluate(
            "tiny", wanted, samples=1, seed=None, device="cpu", sandbox="embedded", warn=warnings.append
        )  # fmt: skip

    assert evaluated(strict=False)["n"] == 1
    assert any("task f/0: its reference passes 0% of its tests" in line for line in warnings)
    with pytest.raises(UsageError, match=r"e\.jsonl: task f/0: its reference passes 0% of its tests"):
        evaluated(strict=True)
