"""What docs/evidence.md says of a race is what the figures that are kept of its runs give again."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RACES = {
    "ladder": ["--curricula", "benchmarks/ladder.yaml"],
    "weak-start": [
        "--curricula", "digits", "--steps", "100", "--targets", "0.25", "0.3", "0.35", "0.4", "--eval-freq", "10",
        "--", "--set", "warmup.until=0.15",
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("race", "difference", "cells"),
    [
        (
            "ladder",
            "+5.7 points [0.8, 10.5]",
            ["+5.7% [+0.8%, +10.5%]", "25.2%", "≤ 0.40 [0.21, 0.75]", "0.66", "0.30", "27%", "63%"],
        ),
        (
            "weak-start",
            "+3.1 points [−0.7, 6.8]",
            ["+3.1% [-0.7%, +6.8%]", "43.1%", "0.55 [0.14, 2.19]", "0.67", "0.47", "25%", "44%"],
        ),
    ],
)
def test_a_kept_race_prints_what_the_evidence_says(
    race: str, difference: str, cells: list[str], tmp_path: Path
) -> None:
    kept = ROOT / "benchmarks" / "race"
    shutil.copytree(kept if race == "ladder" else kept / race, tmp_path / "out")
    done = subprocess.run(
        [
            sys.executable, "benchmarks/race.py", "--out", str(tmp_path / "out"), "--variants", "rasch", "uniform",
            *RACES[race],
        ],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "running" not in done.stderr
    for cell in cells:
        assert cell in done.stdout, done.stdout
    assert difference in (ROOT / "docs" / "evidence.md").read_text()
