"""A run whose grader is broken on one level says so: before step 1, in events, in its records, and with an example."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import kolmocli as kolmo
from kolmocli.cli.app import app
from kolmocli.errors import UsageError
from tests.training.runs import events, metrics


@kolmo.family("half_broken", levels=2, language="text", held_out=False)
def half_broken(level: int, rng: random.Random) -> kolmo.Task:
    """Any answer is right, and the grader of level 1 takes none."""
    asked = rng.randrange(1000)
    return kolmo.Task(
        prompt=f"Say something of {asked}.", check=lambda value: level == 2, reference="so", language="text"
    )


CURRICULUM: dict[str, Any] = {
    "families": {"half_broken": {}},
    "model": {"name": "tiny", "device": "cpu"},
    "reward": {"kind": "binary"},
    "controller": {"kind": "uniform"},
    "warmup": {"max_steps": 0},
    "training": {"batch_size": 32, "group_size": 8, "max_new_tokens": 4, "steps": 8},
    "evaluation": {"tasks": 2},
    "report": False,
    "checkpoint_every": 3,
}


def train(folder: Path, **options: Any) -> Path:
    kolmo.train(CURRICULUM, families=[half_broken], run_dir=folder, **options)
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(tmp_path_factory.mktemp("graders") / "run")


def test_its_references_are_judged_before_step_1(run: Path) -> None:
    first = events(run, "grader")[0]
    assert (first["step"], first["family"], first["level"], first["why"]) == (0, "half_broken", 1, "reference")
    assert first["text"] == (
        "half_broken/1: its own reference answers fail its judge (4 of 4), such as 'so': "
        "the grader or the answer key is wrong"
    )


def test_the_broken_level_is_named_with_the_command_that_shows_an_example(run: Path) -> None:
    found = events(run, "grader")[1:]
    assert [(event["why"], event["level"]) for event in found] == [("broken", 1)]
    assert found[0]["text"].startswith("half_broken/1: 0 of ")
    assert found[0]["text"].endswith(
        f" pass but level 2 passes 100%, broken grader? kolmo watch {run} --failing half_broken/1"
    )
    assert metrics(run)[-1]["buckets"]["half_broken"]["grader"] == {"1": "broken"}
    shown = CliRunner().invoke(app, ["watch", str(run), "--failing", "half_broken/1"])
    assert shown.exit_code == 0
    assert "half_broken/1: missed" in shown.output
    assert "asked: Say something of " in shown.output


def test_a_run_that_was_stopped_goes_on_with_what_it_knew(run: Path, tmp_path: Path) -> None:
    train(tmp_path / "run", stop_at=4)
    train(tmp_path / "run", resume=True)
    assert metrics(tmp_path / "run") == metrics(run)
    assert [e["step"] for e in events(tmp_path / "run", "grader") if e["why"] == "broken"] == [
        e["step"] for e in events(run, "grader") if e["why"] == "broken"
    ]


def test_no_failed_answer_is_one_line(run: Path) -> None:
    refused = CliRunner().invoke(app, ["watch", str(run), "--failing", "half_broken/2"])
    assert isinstance(refused.exception, UsageError)
    assert str(refused.exception) == (
        f"--failing half_broken/2: {run} has no failed answer of it yet; did you mean half_broken/1?"
    )


def test_a_guarded_run_asks_the_broken_level_less(run: Path, tmp_path: Path) -> None:
    guarded = train(tmp_path / "run", settings={"controller.guard": 0.2, "training.steps": 16})
    assert any("half_broken/1: steered past" in e["text"] for e in events(guarded, "controller"))
    last = [record["pass_rate"] for record in metrics(guarded)[-4:]]
    assert sum(last) / len(last) > 0.8
