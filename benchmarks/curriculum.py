"""What a controller saves: rollouts and seconds until fixed held-out accuracies, against the baselines.

    python benchmarks/curriculum.py --steps 400 --seeds 0 1 2 3 4
    python benchmarks/curriculum.py --curriculum quickstart --steps 200 --targets .3 .4 .5

For every seed one supervised warm start is run, and every controller goes on from its weights with a fresh optimiser,
on the same held-out tasks, for the same number of rollouts. The learning rate falls to zero over `--steps`, so the
figures are those of a budget of that length. A long comparison can be split: `--minutes 60` stops after an hour, saved,
and so does Ctrl-C. The same command then goes on. What is measured, and how: `paired_report.py`.
"""

from __future__ import annotations

import argparse

from paired import add_options, run_all, shorten
from paired_report import show

from kolmocli.curriculum.simulator.players import players

BASELINE = "uniform"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--controllers", nargs="+", default=["rasch", BASELINE, "sequential"], choices=players())
    parser.add_argument("--targets", type=float, nargs="+", default=[0.2, 0.25, 0.3], help="held-out accuracies")
    add_options(parser, curriculum="kolmogorov", steps=400, eval_freq=20, out="runs/benchmark-curriculum")
    o = parser.parse_args()
    shorten(o)
    comparison = run_all(o, {kind: ["--set", f"controller.kind={kind}"] for kind in o.controllers})
    show(comparison, o.out, o.seeds, o.controllers, BASELINE, o.targets, o.json)


if __name__ == "__main__":
    main()
