"""A held entropy against a constant bonus: what each buys at equal rollouts.

    python benchmarks/entropy.py --seeds 0 1 2 --jobs 2 --sandbox embedded
    python benchmarks/entropy.py --seeds 0 1 2 --baseline "bonus 0.05" --minutes 0     # against another variant, of what is finished
    python benchmarks/entropy.py --quick --curriculum quickstart

`training.entropy_target` needs one number as a bonus does, and claims that this number is easier to choose: compare the targets
with the best of the constants, which three runs a seed were spent on. All loops begin without a bonus. "by S" holds the mean of
U ÷ p(1−p), "by temperature" moves what rollouts are sampled at in place of the bonus. What is measured: `paired_report.py`;
quarters are those of a run.
"""

from __future__ import annotations

from ablation import switch
from paired_report import compare

NONE = "no bonus"
CONSTANTS = (0.02, 0.05, 0.1)


def variants(_: int, __: int) -> dict[str, list[str]]:
    """By name, the options of each."""

    def held(settings: str) -> list[str]:
        return switch("training.entropy_bonus=0", f"training.entropy_target={{{settings}}}")

    return {
        NONE: switch("training.entropy_bonus=0"),
        **{f"bonus {weight:g}": switch(f"training.entropy_bonus={weight}") for weight in CONSTANTS},
        "half the entropy": held("share: 0.5"),
        "a quarter of it": held("share: 0.25"),
        "by S": held("signal_share: 0.75"),
        "by temperature": held("share: 0.5, by: temperature"),
    }


if __name__ == "__main__":
    compare(
        __doc__,
        variants,
        baseline=NONE,
        targets=[0.2, 0.25],
        out="runs/benchmark-entropy",
        curriculum="arithmetic",
        steps=50,
    )
