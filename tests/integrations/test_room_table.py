"""The script that runs every packaged curriculum once: it goes on where it was, and invents no figure."""

from __future__ import annotations

import json
import runpy
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kolmocli.monitor.metrics_page import renewed
from kolmocli.paths import packaged_curricula
from tests import warm
from tests.conftest import command_environment

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "benchmarks" / "room.py"


@pytest.fixture(scope="module")
def script() -> Any:
    patch = pytest.MonkeyPatch()
    patch.syspath_prepend(str(SCRIPT.parent))
    yield runpy.run_path(str(SCRIPT))
    patch.undo()


def ask(*options: str) -> subprocess.CompletedProcess[str]:
    return warm.run(list(options), ROOT, command_environment(), script=SCRIPT)


def test_it_has_every_packaged_curriculum(script: Any) -> None:
    assert sorted(script["ONCE"]) == sorted(packaged_curricula())


def test_the_page_has_the_tables_of_what_is_kept(script: Any) -> None:
    """`python benchmarks/room.py --page docs/information.md` makes them so."""
    kept = script["kept_of"](script["KEPT"])
    tables = script["tables"](kept.runs.get("seed11", {}), kept.runs.get(script["STARTS"], {}))
    text = (ROOT / "docs" / "information.md").read_text("utf-8")
    assert renewed(text, tables) == text


def test_what_was_not_run_says_so_and_nothing_is_run_unasked(tmp_path: Path) -> None:
    done = ask("--out", str(tmp_path / "runs"), "--seed", "12")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("not run") >= len(packaged_curricula())
    assert not (tmp_path / "runs").exists()


def test_a_finished_run_has_its_row_and_is_not_run_again(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "seed12" / "quickstart"
    small = {
        "warmup.max_steps": 1, "training.steps": 20, "training.batch_size": 8, "training.group_size": 4, "evaluation.tasks": 4,
        "training.max_new_tokens": 8, "report": "false", "model.device": "cpu", "sandbox.backend": "embedded",
    }  # fmt: skip
    changes = [option for key, value in small.items() for option in ("--set", f"{key}={value}")]
    command = ["train", "quickstart", "-q", "--run-dir", str(folder), *changes]
    assert warm.run(command, ROOT, command_environment()).returncode == 0
    again = ask(
        "--out", str(tmp_path / "runs"), "--seed", "12", "--curricula", "quickstart", "--minutes", "1", "--json"
    )
    assert again.returncode == 0, again.stderr
    assert "running" not in again.stderr
    row = json.loads(again.stdout)["curricula"]["quickstart"]
    summary = json.loads((folder / "summary.json").read_text())
    assert (row["gain"], row["in_band"]) == (summary["eval"]["after"]["gain"], summary["pass_rate"]["in_band"])
    assert row["room"][-1] == summary["room"]
    printed = ask("--out", str(tmp_path / "runs"), "--seed", "12", "--curricula", "quickstart").stdout
    assert f"{100 * row['before']:.0f} % → {100 * row['final']:.0f} %" in printed
