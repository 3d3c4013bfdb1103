"""A belief about every task of a file against even draws, in kolmo's own trainer: GSM8K with SmolLM2.

    python benchmarks/finite_train.py --train train.jsonl --eval test.jsonl

Bring the files of questions yourself. Both runs begin with the same weights and have the same questions, rollouts and rate. Two
run at a time, each with half of the cores; a stopped one goes on with the same command, and a finished one is not run again.
A group is live where some of its rollouts pass and some fail: only those teach.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from paired import OutOfTime, open_sitting, positive
from rich.console import Console
from rich.table import Table

from kolmocli.monitor.history import read_history

KINDS = {"posterior": "a belief for each", "uniform": "evenly"}
CURRICULUM = """
name: gsm8k
data: {{train: {train}, eval: {eval}, per_task: true}}
model: {{name: smollm2, precision: {precision}}}
reward: {{kind: binary, form: any}}
warmup: {{max_steps: 0}}
training:
  {{steps: {steps}, batch_size: 64, group_size: 8, learning_rate: 2.0e-5, baseline: maxrl, entropy_bonus: 0.02, max_new_tokens: 112}}
evaluation: {{tasks: 100}}
checkpoint_every: 10
report: false
"""
GROUPS, PARTS = 8, 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", type=Path, required=True, metavar="FILE")
    parser.add_argument("--eval", type=Path, required=True, metavar="FILE")
    parser.add_argument("--steps", type=positive, default=40, help="(default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--precision", default="bf16", help="(default: %(default)s)")
    parser.add_argument("--jobs", type=positive, default=2, help="runs at a time (default: %(default)s)")
    parser.add_argument("--minutes", type=float, help="stop after so long, saved")
    parser.add_argument("--out", type=Path, default=Path("runs/benchmark-finite"), help="(default: %(default)s)")
    o = parser.parse_args()
    o.out.mkdir(parents=True, exist_ok=True)
    curriculum = o.out / "gsm8k.yaml"
    curriculum.write_text(
        CURRICULUM.format(train=o.train.resolve(), eval=o.eval.resolve(), precision=o.precision, steps=o.steps)
    )
    try:
        open_sitting(o).run([
            (o.out / kind, [
                sys.executable, "-m", "kolmocli", "train", str(curriculum), "--run-dir", str(o.out / kind), "--quiet",
                "--seed", str(o.seed), "--set", f"controller.kind={kind}",
            ])
            for kind in KINDS
        ])  # fmt: skip
    except (OutOfTime, KeyboardInterrupt):
        raise SystemExit("stopped; the same command goes on") from None
    table = Table("drawn", *(f"live, {part + 1}" for part in range(PARTS)), "live groups", "right before", "after")
    for kind, name in KINDS.items():
        table.add_row(name, *figures(o.out / kind))
    Console().print(f"shares of live groups in each quarter of {o.steps} updates", table)


def figures(folder: Path) -> list[str]:
    history = read_history(folder)
    live = [1.0 - (step.dead_groups or 0) / GROUPS for step in history.rl]
    quarter = len(live) // PARTS
    parts = [live[part * quarter : (part + 1) * quarter] for part in range(PARTS)]
    before, after = history.summary.eval.before, history.summary.eval.after
    assert before is not None and after is not None, f"{folder} is not finished"
    return [
        *(f"{sum(part) / len(part):.0%}" for part in [*parts, live]),
        *(f"{each['accuracy_lenient']:.0%}" for each in (before, after)),
    ]


if __name__ == "__main__":
    main()
