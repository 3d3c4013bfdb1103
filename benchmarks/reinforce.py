"""What each setting of REINFORCE does to held-out accuracy, at equal rollouts and from one warm start: one change at a time.

    python benchmarks/reinforce.py --seeds 0 1 2
    python benchmarks/reinforce.py --quick
    python benchmarks/reinforce.py --curriculum digits --variants base "baseline rloo" "groups of 16"

`base` is the curriculum as it is, without hindsight. Each variant changes one thing of it and has as many rollouts, from the
same weights and on the same held-out tasks. What is measured: `paired_report.py`. A stopped comparison goes on with the same
command.
"""

from __future__ import annotations

from ablation import BASE, switch
from paired_report import compare


def variants(steps: int, batch: int) -> dict[str, list[str]]:
    """By name, the options of each, for runs of this many steps and rollouts a step."""
    return {
        BASE: [],
        "baseline rloo": switch("training.baseline=rloo"),
        "no entropy bonus": switch("training.entropy_bonus=0"),
        "entropy bonus 0.03": switch("training.entropy_bonus=0.03"),
        "rate 2e-4": switch("training.learning_rate=2.0e-4"),
        "rate 1e-3": switch("training.learning_rate=1.0e-3"),
        "rate 3e-3": switch("training.learning_rate=3.0e-3"),
        "constant rate": switch("training.schedule=constant"),
        "gradient not clipped": switch("training.max_grad_norm=1.0e+9"),
        "half the batch": ["--steps", str(2 * steps), *switch(f"training.batch_size={batch // 2}")],
        "twice the batch": ["--steps", str(steps // 2), *switch(f"training.batch_size={2 * batch}")],
        "groups of 4": switch("training.group_size=4"),
        "groups of 16": switch("training.group_size=16"),
        "temperature 1.3": switch("training.temperature=1.3"),
        "mean over tokens": switch("training.per_token=true"),
        "4 updates a batch": switch("training.updates=4"),
        "no replay": switch("warmup.replay=0"),
        "replay 0.3": switch("warmup.replay=0.3"),
        "no review": switch("controller.rasch.review=0"),
        "target 0.3": switch("controller.target=0.3"),
        "target 0.7": switch("controller.target=0.7"),
        "uniform": switch("controller.kind=uniform"),
        "hindsight": switch("training.hindsight=1"),
    }


if __name__ == "__main__":
    compare(__doc__, variants, baseline=BASE, targets=[0.45, 0.5], out="runs/benchmark-reinforce")
