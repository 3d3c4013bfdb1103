"""What docs/evidence.md says of a race is what the figures that are kept of its runs give again."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "benchmarks" / "race"
KOLMO, TUNED_TRL = ["rasch", "uniform"], ["TRL at its best", "TRL with kolmo"]
BOTH = [*KOLMO, *TUNED_TRL]
WAYS = [*KOLMO, "rasch + screening", "pool", "staircase", "window", "uniform + refill"]
LADDER, WEAK = ["--curricula", "benchmarks/ladder.yaml"], ["--set", "warmup.until=0.15"]
SHORT = [part for key in ("max_steps=400", "batch_size=64", "check_every=10") for part in ("--set", f"warmup.{key}")]
REASONING = ["--curricula", "reasoning", "--steps", "60", "--eval-freq", "10", "--eval-samples", "1440"]
TEN, FIVE = ([str(100 + i) for i in range(n)] for n in (10, 5))
RACES = {
    "python": (KEPT, [*BOTH, "TRL as it comes"], ["--curricula", "python"]),
    "ladder": (KEPT, BOTH, LADDER),
    "others, python": (
        KEPT / "others", WAYS, ["--curricula", "python", "--rates", "5e-4", "1e-3"],
    ),
    "reasoning": (KEPT, [*WAYS, *TUNED_TRL], [*REASONING, "--", *SHORT]),
    "reasoning, three seeds": (
        KEPT, ["uniform", "TRL at its best"], [*REASONING, "--seeds", *FIVE[:3], "--", *SHORT],
    ),
    "kolmogorov": (KEPT, [*WAYS, "TRL as it comes", *TUNED_TRL], ["--curricula", "kolmogorov"]),
    "control, ladder": (KEPT / "control", KOLMO, [*LADDER, "--seeds", *TEN, "--eval-samples", "1440"]),
    "control, digits": (
        KEPT / "control", KOLMO, ["--curricula", "digits", "--seeds", *TEN, "--eval-samples", "1500", "--", *WEAK],
    ),
    "rates, python": (
        KEPT / "rates", KOLMO, ["--curricula", "python", "--seeds", "99", "--tune", *FIVE, "--rates", "5e-4", "1e-3"],
    ),
    "rates, ladder": (
        KEPT / "rates", KOLMO, [*LADDER, "--seeds", "99", "--tune", *FIVE, "--rates", "5e-5", "2e-4", "3e-4"],
    ),
    "portions, reasoning": (
        KEPT / "portions", ["TRL as it comes"], [*REASONING, "--seeds", *FIVE[:3], "--", *SHORT],
    ),
    "rates, reasoning": (
        KEPT / "rates", TUNED_TRL, [*REASONING, "--seeds", "99", "--tune", *FIVE, "--rates", "5e-4", "1e-3", "--", *SHORT],
    ),
    "rates, digits": (
        KEPT / "rates", KOLMO,
        ["--curricula", "digits", "--seeds", "99", "--tune", *TEN, "--rates", "1e-4", "3e-4", "--eval-samples", "1500", "--", *WEAK],
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("race", "said", "cells"),
    [
        (
            "control, ladder",
            "**+3.0 [1.9, 4.1]** | | **+2.8 [1.4, 4.1]**",
            ["+3.0% [+1.9%, +4.1%]", "24.8%", "21.8%", "0.48 [0.44, 1.02]", "≤ 0.80 [0.48, 1.36]", "0.32", "61%", "60%"],
        ),
        (
            "control, digits",
            "**0.48 [0.44, 1.02]** | | **0.63 [0.55, 0.72]**",
            ["+2.8% [+1.4%, +4.1%]", "44.5%", "41.7%", "0.63 [0.55, 0.72]", "≤ 0.66 [0.51, 0.85]", "0.46", "45%", "40%"],
        ),
        (
            "python",
            "0.13 [0.12, 0.18] of TRL's seconds** and 0.60 [0.50, 0.79] of its rollouts",
            ["0.13 [0.12, 0.18]", "0.60 [0.50, 0.79]", "+5.1% [+1.7%, +8.5%]", "≤ 0.18 [0.12, 0.28]", "+1.0% [+0.4%, +1.6%]"],
        ),
        ("python", "0.21 [0.10, 0.43] until 60 % and 0.36 [0.20, 0.64] until 65 %", ["0.21 [0.10, 0.43]", "0.36 [0.20, 0.64]", "0.22 [0.11, 0.46]", "0.21 [0.11, 0.42]"]),
        ("python", "ends at 56.9 %, where it began (56.5 %)", ["56.9% [46.1%, 67.8%]", "819 [653, 985]"]),
        (
            "ladder",
            "+1.9 points [0.6, 3.2]",
            ["+1.9% [+0.6%, +3.2%]", "≤ 0.90 [0.65, 1.25]", "0.82 [0.51, 0.94]", "0.08 [0.04, 0.10]", "+1.6% [-0.1%, +3.4%]"],
        ),
        (
            "others, python",
            "| `rasch` + screening, of 16 draws | −5.5 [−9.2, −1.8] | **0.66**, 8 % |",
            ["72.4%", "0.0005 *", "0.66", "8%", "24%", "22,514", "-5.5% [-9.2%, -1.8%]", "-2.3% [-3.7%, -1.0%]", "-2.3% [-4.1%, -0.5%]", "+0.7% [-1.3%, +2.7%]", "+0.2% [-3.6%, +4.0%]"],
        ),
        pytest.param(
            "reasoning", "Over uniform sampling −0.8 points [−2.5, 0.8]", ["-0.8% [-2.5%, +0.8%]", "29.6%", "30.4%", "29.0%", "0.54", "0.42"],
            marks=pytest.mark.reasoning_gym,
        ),
        pytest.param(
            "reasoning", "ends 3.1 points [0.2, 5.9] above it", ["+3.1% [+0.2%, +5.9%]", "+2.2% [-0.3%, +4.8%]", "27.4%", "28.8%"],
            marks=pytest.mark.reasoning_gym,
        ),
        (
            "kolmogorov", "Over uniform sampling +0.2 points [−0.9, 1.2], with 0.37 bits a rollout against 0.26, in 85 s of updates against 102",
            ["+0.2% [-0.9%, +1.2%]", "35.8%", "35.6%", "29.5%", "0.37", "0.26", "85 [73, 98]", "102 [91, 113]", "64%", "46%"],
        ),
        (
            "kolmogorov", "+2.4 points [0.2, 4.7]**, and kolmo has what TRL ends with after 0.08 [0.04, 0.10] of its seconds and 0.49 [0.28, 0.63]",
            ["+2.4% [+0.2%, +4.7%]", "0.08 [0.04, 0.10]", "0.49 [0.28, 0.63]", "33.4%", "0.08 [0.05, 0.12]", "0.45 [0.27, 0.68]", "33.8%", "36.1%", "30.9%"],
        ),
        (
            "kolmogorov", "| −1.2 [−2.9, 0.4] | **0.61**, 22 % |",
            ["-1.2% [-2.9%, +0.4%]", "-0.6% [-1.9%, +0.6%]", "-0.7% [-3.7%, +2.3%]", "-0.9% [-2.8%, +0.9%]", "-4.5% [-9.6%, +0.6%]", "0.61", "22%", "28%"],
        ),
        ("kolmogorov", "at 29.6 %, in 703 s of updates", ["29.6% [24.7%, 34.4%]", "703 [633, 774]"]),
        ("kolmogorov", "+0.5 points [−1.5, 2.6], in 354 s of updates against 538", ["+0.5% [-1.5%, +2.6%]", "0.74 [0.49, –]", "33.9%", "354 [308, 400]", "27.6%"]),
        pytest.param(
            "reasoning", "| −2.9 [−5.1, −0.8] | **0.72**, 19 % |",
            ["-2.9% [-5.1%, -0.8%]", "-0.3% [-1.4%, +0.9%]", "-2.8% [-5.6%, +0.0%]", "-0.2% [-2.0%, +1.6%]", "-1.4% [-3.5%, +0.8%]", "0.72", "19%", "29,387"],
            marks=pytest.mark.reasoning_gym,
        ),
        pytest.param(
            "reasoning", "at 24.3 % (−3.1 points [−7.2, 1.0]), in 472 s of updates against 972",
            ["-3.1% [-7.2%, +1.0%]", "24.3%", "472 [424, 519]", "0.001 *", "29.5%", "28.4%", "28.8%", "28.5%"],
            marks=pytest.mark.reasoning_gym,
        ),
        pytest.param(
            "portions, reasoning", "it ends at 28.8 % after 28.6", ["28.8%", "28.6%"], marks=pytest.mark.reasoning_gym,
        ),
        pytest.param(
            "reasoning, three seeds", "where TRL at its best ends at 26.9 and kolmo with uniform sampling at 31.0", ["26.9%", "31.0%", "28.6%"],
            marks=pytest.mark.reasoning_gym,
        ),
        pytest.param(
            "rates, reasoning", "At TRL's rate, 5e-4, it ends level with TRL, at 27.7 % (+0.3 points [−2.7, 3.2], commit 047146a)", ["+0.3% [-2.7%, +3.2%]", "27.7%", "24.3%"],
            marks=pytest.mark.reasoning_gym,
        ),
        ("rates, python", "At 5e-4 it ends lower, at 76.1 %", ["+1.0% [+0.4%, +1.6%]", "77.9%", "76.1%"]),
        ("rates, ladder", "+5.7 points [0.8, 10.5]", ["+5.7% [+0.8%, +10.5%]", "+0.5% [-2.0%, +3.0%]"]),
        ("rates, digits", "ends at 39.6 % on the ten seeds", ["39.6%", "+2.8% [+1.4%, +4.1%]"]),
    ],
)  # fmt: skip
def test_a_kept_race_prints_what_the_evidence_says(race: str, said: str, cells: list[str], tmp_path: Path) -> None:
    kept, variants, options = RACES[race]
    shutil.copytree(kept, tmp_path / "out")
    done = subprocess.run(
        [
            sys.executable, "benchmarks/race.py", "--out", str(tmp_path / "out"), "--minutes", "0",
            "--variants", *variants, *options,
        ],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for cell in cells:
        assert cell in done.stdout, done.stdout
    assert said in (ROOT / "docs" / "evidence.md").read_text()
