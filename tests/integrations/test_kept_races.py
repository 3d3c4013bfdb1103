"""The figures that are kept of the races: docs/evidence.md has them, and the script of the race prints them."""

from __future__ import annotations

import json
import runpy
import shutil
from pathlib import Path

import pytest

from kolmocli.monitor.metrics_page import renewed
from tests import warm
from tests.conftest import command_environment

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "benchmarks" / "race"
PAGE = ROOT / "docs" / "evidence.md"


def test_the_page_has_the_tables_of_the_kept_races(monkeypatch: pytest.MonkeyPatch) -> None:
    """`python benchmarks/evidence_page.py docs/evidence.md` makes them so."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    tables = runpy.run_path(str(ROOT / "benchmarks" / "evidence_page.py"))["TABLES"]
    text = PAGE.read_text("utf-8")
    assert renewed(text, tables) == text


@pytest.mark.parametrize("file", sorted(KEPT.rglob("*.json")), ids=lambda file: str(file.relative_to(KEPT)))
def test_a_kept_run_has_all_of_its_figures(file: Path) -> None:
    content = json.loads(file.read_text("utf-8"))
    assert (content["schema_version"], " " in file.name) == (1, False)
    for folder, found in content["runs"].items():
        for run in found.values():
            rollouts = [at for at, _, _ in run["accuracies"]]
            assert rollouts == sorted(rollouts)
            assert (rollouts[0], rollouts[-1]) == (0, run["rollouts"])
            assert run["accuracies"][-1][1] == run["final"]
        assert found, folder


@pytest.mark.parametrize(
    ("race", "options", "cells"),
    [
        (
            "control",
            ["--curricula", "benchmarks/ladder.yaml", "--seeds", *map(str, range(100, 110)), "--eval-samples", "1440"],
            ["+3.0% [+1.9%, +4.1%]", "24.8%", "21.8%", "0.48 [0.44, 1.02]", "≤ 0.80 [0.48, 1.36]", "61%", "60%", "0.0002 *"],
        ),
        (
            "rates",
            [
                "--curricula", "benchmarks/ladder.yaml", "--seeds", "99", "--tune", *map(str, range(100, 105)),
                "--rates", "5e-5", "2e-4", "3e-4",
            ],
            ["+5.7% [+0.8%, +10.5%]", "+0.5% [-2.0%, +3.0%]"],
        ),
    ],
)  # fmt: skip
def test_the_script_prints_a_kept_race(race: str, options: list[str], cells: list[str], tmp_path: Path) -> None:
    out = tmp_path / race
    shutil.copytree(KEPT / race, out)
    asked = ["--out", str(out), "--minutes", "0", "--variants", "rasch", "uniform", *options]
    done = warm.run(asked, ROOT, command_environment(), script=ROOT / "benchmarks" / "race.py")
    assert done.returncode == 0, done.stderr
    for cell in cells:
        assert cell in done.stdout, done.stdout
    assert not [path for path in out.iterdir() if path.is_dir()]
