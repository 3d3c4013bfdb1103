"""What docs/evidence.md says of a race is what the figures that are kept of its runs give again."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KOLMO, BOTH = ["rasch", "uniform"], ["rasch", "uniform", "TRL at its best", "TRL with kolmo"]
RACES = {
    "python": ["--curricula", "python"],
    "ladder": ["--curricula", "benchmarks/ladder.yaml"],
    "weak-start": [
        "--curricula", "digits", "--steps", "100", "--targets", "0.25", "0.3", "0.35", "0.4", "--eval-freq", "10",
        "--", "--set", "warmup.until=0.15",
    ],
    "a rate for each": ["--curricula", "benchmarks/ladder.yaml", "--uniform-of", "benchmarks/race/low-rate"],
    "low-rate": ["--curricula", "benchmarks/ladder.yaml", "--", "--set", "training.learning_rate=5e-5"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("race", "variants", "difference", "cells"),
    [
        (
            "python",
            BOTH,
            "at most 0.18 [0.12, 0.28]",
            [
                "≤ 0.18 [0.12, 0.28]",
                "+1.0% [+0.4%, +1.6%]",
                "+5.1% [+1.7%, +8.5%]",
                "-1.5% [-2.9%, -0.1%]",
                "78.9%",
                "17%",
            ],
        ),
        (
            "ladder",
            BOTH,
            "+5.7 points [0.8, 10.5]",
            ["+5.7% [+0.8%, +10.5%]", "25.2%", "≤ 0.40 [0.21, 0.75]", "0.66", "0.30", "27%", "63%"],
        ),
        (
            "ladder",
            BOTH,
            "+1.9 points [0.6, 3.2]",
            [
                "+1.9% [+0.6%, +3.2%]",
                "24.7%",
                "≤ 0.90 [0.65, 1.25]",
                "+2.4% [-0.5%, +5.4%]",
                "+3.2% [-0.4%, +6.8%]",
                "60%",
            ],
        ),
        (
            "a rate for each",
            BOTH,
            "+3.1 points [−0.3, 6.4]",
            ["+3.1% [-0.3%, +6.4%]", "≤ 1.00 [0.41, 2.46]", "-0.6% [-1.7%, +0.5%]", "22.2%"],
        ),
        (
            "low-rate",
            KOLMO,
            "+0.5 [−2.0, 3.0], with 0.69 bits a rollout against 0.33",
            ["+0.5% [-2.0%, +3.0%]", "22.7%", "22.2%", "0.69", "0.33"],
        ),
        (
            "weak-start",
            KOLMO,
            "+3.1 points [−0.7, 6.8]",
            ["+3.1% [-0.7%, +6.8%]", "43.1%", "0.55 [0.14, 2.19]", "0.67", "0.47", "25%", "44%"],
        ),
    ],
)
def test_a_kept_race_prints_what_the_evidence_says(
    race: str, variants: list[str], difference: str, cells: list[str], tmp_path: Path
) -> None:
    kept = ROOT / "benchmarks" / "race"
    shutil.copytree(kept / race if race in ("low-rate", "weak-start") else kept, tmp_path / "out")
    done = subprocess.run(
        [
            sys.executable, "benchmarks/race.py", "--out", str(tmp_path / "out"), "--variants", *variants,
            *RACES[race],
        ],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "running" not in done.stderr
    for cell in cells:
        assert cell in done.stdout, done.stdout
    assert difference in (ROOT / "docs" / "evidence.md").read_text()
