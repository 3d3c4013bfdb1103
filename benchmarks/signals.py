"""Signal inside the task: what each way of finding tasks that the policy is unsure of buys, at equal rollouts.

    python benchmarks/signals.py --seeds 0 1 2
    python benchmarks/signals.py --quick
    python benchmarks/signals.py --curriculum expressions --variants plain screening

A mean pass rate of one half may be made of tasks that always pass and tasks that never do. `plain` draws the tasks of a
level as they come. The others choose among more tasks, or sample more where nothing was said; all rollouts are counted, and
every variant has about as many of them. What is measured: `paired_report.py`; S is the mean of U ÷ p(1−p), and 1 where the
tasks of a family are equally hard.
"""

from __future__ import annotations

from ablation import switch
from paired_report import compare


def variants(_: int, batch: int) -> dict[str, list[str]]:
    """By name, the options of each, for runs of this many rollouts a step."""
    halved = f"training.batch_size={batch // 2}"
    return {
        "plain": [],
        "screening": switch("methods.screening.draws=4", "methods.screening.visits=1"),
        "screening, 16 draws": switch("methods.screening.draws=16", "methods.screening.visits=1"),
        "screening, asked again": switch("methods.screening.draws=4", "methods.screening.visits=4"),
        "pilots": switch("methods.pilot.draws=4", "methods.pilot.rollouts=2", halved),
        "refill": switch("methods.refill.most=2", halved),
        "entropy bonus 0.03": switch("training.entropy_bonus=0.03"),
        "temperature 1.5": switch("training.temperature=1.5"),
        "uniform": switch("controller.kind=uniform"),
    }


if __name__ == "__main__":
    compare(__doc__, variants, baseline="plain", targets=[0.45, 0.5], out="runs/benchmark-signals")
