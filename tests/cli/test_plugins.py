"""`--plugin`: a controller of one's own, from the check of its file to a run that is resumed and evaluated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import SMALL, refused
from tests.cli.test_simulate import PLUGIN
from tests.conftest import Run


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    (tmp_path / "still.py").write_text(PLUGIN)
    path = tmp_path / "mine.yaml"
    path.write_text(SMALL + "controller: {kind: still}\n")
    return path


@pytest.mark.parametrize("command", [("curriculum", "show"), ("train", "--dry-run")])
def test_a_file_alone_is_refused_and_with_its_plugin_it_is_taken(
    kolmo: Run, mine: Path, command: tuple[str, ...]
) -> None:
    line = refused(kolmo(*command, mine.name), 2)
    assert ": controller.kind: must be one of rasch, " in line
    assert kolmo(*command, mine.name, "--plugin", "still.py").returncode == 0


def test_validate_knows_it(kolmo: Run, mine: Path) -> None:
    assert kolmo("curriculum", "validate", mine.name).returncode == 2
    done = kolmo("curriculum", "validate", mine.name, "--plugin", "still.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, "mine.yaml: ok\n", "")


def test_a_run_goes_by_it_is_resumed_and_evaluated_with_it(kolmo: Run, mine: Path) -> None:
    plugin, run = ("--plugin", "still.py"), ("--run-dir", "run", "--json")
    assert kolmo("train", mine.name, *plugin, "--stop-at", 2, *run).returncode == 0
    done = kolmo("train", "--resume", *plugin, *run)
    assert done.returncode == 0, done.stderr
    steps = [json.loads(line) for line in (mine.parent / "run" / "metrics.jsonl").read_text().splitlines()]
    levels = [step["buckets"]["runs"]["level"] for step in steps if step["phase"] == "rl"]
    assert levels == [1.0] * 3
    assert "controller.kind" in refused(kolmo("eval", "run"), 2)
    assert kolmo("eval", "run", *plugin, "--tasks", 2, "--sandbox", "embedded").returncode == 0


def test_validate_says_once_what_is_wrong_with_both_splits(kolmo: Run, tmp_path: Path) -> None:
    (tmp_path / "sums.py").write_text(
        "print('hello')\nimport kolmocli as kolmo\n@kolmo.family('sums', levels=2)\ndef sums(level, rng):\n    return None\n"
    )
    (tmp_path / "sums.yaml").write_text("families: {sums: {}}\n")
    done = kolmo("curriculum", "validate", "sums.yaml", "--plugin", "sums.py")
    said = "hello\nsums.yaml: family sums: made NoneType and not a Task\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_validate_finds_a_family_whose_tasks_are_others_each_time(kolmo: Run, tmp_path: Path) -> None:
    (tmp_path / "sums.py").write_text(
        "import random, kolmocli as kolmo\n"
        "@kolmo.family('sums', levels=1, language='text', held_out=False)\n"
        "def sums(level, rng):\n"
        "    a = random.randrange(10**9)\n"
        "    return kolmo.Task(prompt=f'{a} + 1?', check=lambda answer: str(a + 1) in answer)\n"
    )
    (tmp_path / "sums.yaml").write_text("families: {sums: {task: sums}}\nreward: {kind: binary}\n")
    done = kolmo("curriculum", "validate", "sums.yaml", "--plugin", "sums.py")
    said = "task 0 is another one each time; draw it from `rng` alone"
    assert done.returncode == 2
    assert done.stderr.splitlines() == [f"sums.yaml: sums/1: {split}: {said}" for split in ("train", "eval")]
