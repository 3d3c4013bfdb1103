"""What a controller saves: rollouts and seconds until fixed held-out accuracies, against the baselines.

    python benchmarks/curriculum.py --steps 400 --seeds 0 1 2 3 4
    python benchmarks/curriculum.py --curriculum quickstart --steps 200 --targets .3 .4 .5

For every seed one supervised warm start is run, and every controller goes on from its weights with a fresh optimiser,
on the same held-out tasks, for the same number of rollouts. Each run is a `kolmo train` in a process of its own,
`--jobs` at a time, which share the cores evenly. The learning rate falls to zero over `--steps`, so the figures are those of a budget of that length.

A target is reached at the first evaluation that is not below it: the resolution is `--eval-freq` steps. Seconds are
those of rollouts, sandbox and learning; warm start and evaluations are the same for all and left out. Intervals are
Student's over seeds; ratios to the baseline are paired by seed and averaged as logarithms.

A finished run is not run again and one that was stopped goes on, so that a long comparison can be split:
`--minutes 60` stops after an hour, saved, and so does Ctrl-C. The same command then goes on.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from statistics import fmean
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from kolmocli.curriculum.simulator.players import players
from kolmocli.evaluation.intervals import mean_interval
from kolmocli.monitor.reader import read_events, read_metrics, read_summary

BASELINE = "uniform"
WARM = "warm"
SETTINGS = "benchmark.json"
STOPPED = {128 + signal.SIGTERM, -signal.SIGTERM}
"""Exit codes of a run that was told to stop: saved, or before there was anything to save."""


class OutOfTime(Exception):
    """This sitting is over; what is done is saved."""


@dataclass(frozen=True)
class Comparison:
    """What is the same in all runs, and may not change between sittings."""

    curriculum: str
    model: str | None
    steps: int
    eval_freq: int
    eval_samples: int | None
    sandbox: str
    more: list[str]

    def claim(self, folder: Path) -> None:
        """Write the settings down, or see that those of the earlier sittings are the same."""
        file, mine = folder / SETTINGS, asdict(self)
        if not file.exists():
            folder.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(mine, indent=1))
            return
        earlier = json.loads(file.read_text())
        changed = [f"{k} was {earlier.get(k)!r}, is {v!r}" for k, v in mine.items() if earlier.get(k) != v]
        if changed:
            raise SystemExit(f"{folder} is of another comparison ({'; '.join(changed)}); name another with --out")

    def warm_start(self, folder: Path, seed: int) -> list[str]:
        model = ["--model", self.model] if self.model else []
        return [*self._train(folder / WARM, seed), "--steps", "0", *model]

    def run(self, folder: Path, seed: int, controller: str) -> list[str]:
        return [
            *self._train(folder / controller, seed), "--model", str(folder / WARM), "--steps", str(self.steps),
            "--eval-freq", str(self.eval_freq), "--set", "warmup.max_steps=0", "--set", f"controller.kind={controller}",
        ]  # fmt: skip

    def _train(self, folder: Path, seed: int) -> list[str]:
        tasks = ["--eval-samples", str(self.eval_samples)] if self.eval_samples else []
        return [
            sys.executable, "-m", "kolmocli.cli.main", "train", self.curriculum, "--run-dir", str(folder), "--quiet",
            "--seed", str(seed), "--sandbox", self.sandbox, *tasks, *self.more,
        ]  # fmt: skip


def finished(folder: Path) -> bool:
    summary = read_summary(folder) if folder.is_dir() else None
    return summary is not None and summary["eval"]["after"] is not None


@dataclass(frozen=True)
class Sitting:
    """How many runs at a time, and until when. `over` asks those under way to save and stop."""

    jobs: int
    deadline: float
    over: threading.Event

    def run(self, work: Sequence[tuple[Path, list[str]]]) -> None:
        """Run, or go on with, all of these to their ends. Raises OutOfTime when some were stopped before."""
        with ThreadPoolExecutor(self.jobs) as pool:
            ends = [pool.submit(self._one, folder, command) for folder, command in work]
            try:
                codes = [end.result() for end in ends]
            except KeyboardInterrupt:
                self.over.set()
                raise
        failed = [code for code in codes if code not in STOPPED | {0}]
        if failed:
            raise SystemExit(failed[0])
        if any(codes):
            raise OutOfTime

    def _one(self, folder: Path, command: list[str]) -> int:
        """The exit code of one run; that of a stopped one when it did not even start."""
        if finished(folder):
            return 0
        if self._is_over():
            return -signal.SIGTERM
        resume = ["--resume"] if (folder / "config.yaml").is_file() else []
        print(f"{folder}: {'going on' if resume else 'running'}", file=sys.stderr, flush=True)
        threads = str(max(1, (os.cpu_count() or 1) // self.jobs))
        # In a session of its own: Ctrl-C reaches this process alone, which then lets the run save.
        process = subprocess.Popen(
            [*command, *resume], stdout=subprocess.DEVNULL, start_new_session=True,
            env=os.environ | {"OMP_NUM_THREADS": threads},
        )  # fmt: skip
        while process.poll() is None:
            if self._is_over():
                process.terminate()
                return process.wait()
            time.sleep(0.2)
        return process.returncode

    def _is_over(self) -> bool:
        return self.over.is_set() or time.monotonic() >= self.deadline


def measure(folder: Path, targets: Sequence[float]) -> dict[str, Any]:
    """The figures of one finished run; None for a target that no evaluation reached."""
    steps = [m for m in read_metrics(folder) if m["phase"] == "rl"]
    rollouts = list(accumulate((m["rollouts"] for m in steps), initial=0))
    seconds = list(accumulate((sum(m["seconds"].values()) for m in steps), initial=0.0))
    evaluations = [e for e in read_events(folder) if e["kind"] == "eval" and e["accuracy"] is not None]
    reached = {}
    for target in targets:
        step = next((e["step"] for e in evaluations if e["accuracy"] >= target), None)
        reached[f"{target:g}"] = None if step is None else {"rollouts": rollouts[step], "seconds": seconds[step]}
    summary = read_summary(folder) or {}
    return {
        "rollouts": rollouts[-1],
        "seconds": seconds[-1],
        "reached": reached,
        "before": summary["eval"]["before"]["accuracy"],
        "final": summary["eval"]["after"]["accuracy"],
        "bits_per_rollout": summary["bits"]["per_rollout"],
        "dead_groups": sum(m["dead_groups"] for m in steps) / (len(steps) * groups_per_step(folder)),
        "accuracies": [[rollouts[e["step"]], e["accuracy"]] for e in evaluations],
    }


def groups_per_step(folder: Path) -> int:
    from kolmocli.config_file import load_config

    training = load_config(folder / "config.yaml", {}).training
    return training.batch_size // training.group_size


def mean(values: Sequence[float]) -> dict[str, Any]:
    """`mean` and `ci`; None for the mean of nothing and for the interval of fewer than two."""
    return {
        "mean": fmean(values) if values else None,
        "ci": list(mean_interval(values)) if len(values) > 1 else None,
        "n": len(values),
    }


def ratio(runs: dict[int, dict[str, Any]], baseline: dict[int, dict[str, Any]], target: str, what: str) -> Any:
    """What these runs took, as a share of what the baseline took, geometric mean over the seeds that both have
    finished and where the warm start had not got there.

    A baseline that never got there counts with all that it had, which makes the ratio an upper bound: `at_most`. None
    when a run of the controller itself did not get there: there is no honest number then.
    """
    logs, at_most = [], False
    for seed in sorted(runs.keys() & baseline.keys()):
        mine, other = runs[seed]["reached"][target], baseline[seed]["reached"][target]
        if mine is None:
            return None
        if not mine["rollouts"] or (other and not other["rollouts"]):
            continue  # there from the start: the warm start's doing
        at_most |= other is None
        logs.append(math.log(mine[what] / (baseline[seed] if other is None else other)[what]))
    if not logs:
        return None
    found = mean(logs)
    ci = None if found["ci"] is None else [math.exp(bound) for bound in found["ci"]]
    return {"mean": math.exp(found["mean"]), "ci": ci, "n": found["n"], "at_most": at_most}


def report(runs: dict[str, dict[int, dict[str, Any]]], targets: Sequence[float]) -> dict[str, Any]:
    """Per controller, over its finished seeds. `runs` is by controller and seed."""
    controllers = {}
    for name, by_seed in runs.items():
        found = list(by_seed.values())
        until = {}
        for target in (f"{t:g}" for t in targets):
            reached = [r["reached"][target] for r in found if r["reached"][target]]
            until[target] = {
                "reached": len(reached),
                **{what: mean([r[what] for r in reached]) for what in ("rollouts", "seconds")},
                **{
                    f"{what}_ratio": ratio(by_seed, runs[BASELINE], target, what)
                    for what in ("rollouts", "seconds")
                    if name != BASELINE and BASELINE in runs
                },
            }
        controllers[name] = {
            "seeds": list(by_seed),
            **{k: mean([r[k] for r in found]) for k in ("before", "final", "bits_per_rollout", "dead_groups", "rollouts", "seconds")},
            "until": until,
            "runs": {str(seed): run for seed, run in by_seed.items()},
        }  # fmt: skip
    return {"baseline": BASELINE, "targets": list(targets), "controllers": controllers}


def tables(found: dict[str, Any]) -> Iterable[Any]:
    table = Table(box=box.SIMPLE, pad_edge=False, title="mean over seeds, with its 95 % interval", title_justify="left")
    headings = ("controller", "seeds", "before", "final accuracy", "bits per rollout", "dead groups", "rollouts", "s")
    for i, heading in enumerate(headings):
        table.add_column(heading, justify="right" if i else "left")
    for name, c in found["controllers"].items():
        shares = (cell(c[key], ".1%") for key in ("before", "final"))
        table.add_row(
            name, str(len(c["seeds"])), *shares, cell(c["bits_per_rollout"], ".2f"), cell(c["dead_groups"], ".0%"),
            cell(c["rollouts"], ",.0f"), cell(c["seconds"], ",.0f"),
        )  # fmt: skip
    yield table
    table = Table(box=box.SIMPLE, pad_edge=False, title="until a held-out accuracy", title_justify="left")
    for i, heading in enumerate(
        ("accuracy", "controller", "reached", "rollouts", f"of {BASELINE}", "s", f"of {BASELINE}")
    ):
        table.add_column(heading, justify="right" if i > 1 else "left")
    for target in (f"{t:g}" for t in found["targets"]):
        for name, c in found["controllers"].items():
            until = c["until"][target]
            table.add_row(
                target, name, f"{until['reached']} of {len(c['seeds'])}", cell(until["rollouts"], ",.0f"),
                cell(until.get("rollouts_ratio"), ".2f"), cell(until["seconds"], ",.0f"), cell(until.get("seconds_ratio"), ".2f"),
            )  # fmt: skip
    yield table


def cell(value: dict[str, Any] | None, form: str) -> str:
    if value is None or value["mean"] is None:
        return "–"
    said = ("≤ " if value.get("at_most") else "") + format(value["mean"], form)
    return said if value["ci"] is None else f"{said} [{value['ci'][0]:{form}}, {value['ci'][1]:{form}}]"


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--curriculum", default="kolmogorov", help="a packaged name or a file (default: %(default)s)")
    parser.add_argument("--model", help="a preset, checkpoint or Hugging Face id (default: the curriculum's)")
    parser.add_argument("--controllers", nargs="+", default=["rasch", BASELINE, "sequential"], choices=players())
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--steps", type=int, default=400, help="REINFORCE steps of every run (default: %(default)s)")
    parser.add_argument("--eval-freq", type=int, default=20, help="steps between evaluations (default: %(default)s)")
    parser.add_argument("--eval-samples", type=int, help="held-out tasks (default: the curriculum's)")
    parser.add_argument("--targets", type=float, nargs="+", default=[0.2, 0.25, 0.3], help="held-out accuracies")
    parser.add_argument("--sandbox", default="auto", choices=["auto", "docker", "embedded"])
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("runs/benchmark-curriculum"), help="folder of the runs")
    parser.add_argument("--minutes", type=float, help="stop after so long, saved, and report what is finished")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("more", nargs="*", help="further options of kolmo train for all runs, after --")
    chosen = parser.parse_args()
    if min(chosen.steps, chosen.eval_freq, chosen.jobs) < 1:
        parser.error("--steps, --eval-freq and --jobs must be at least 1")
    return chosen


def main() -> None:
    o = options()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    comparison = Comparison(o.curriculum, o.model, o.steps, o.eval_freq, o.eval_samples, o.sandbox, o.more)
    comparison.claim(o.out)
    until = math.inf if o.minutes is None else time.monotonic() + 60 * o.minutes
    sitting = Sitting(o.jobs, until, threading.Event())
    folders = {seed: o.out / f"seed{seed}" for seed in o.seeds}
    try:
        sitting.run([(folder / WARM, comparison.warm_start(folder, seed)) for seed, folder in folders.items()])
        sitting.run(  # all controllers of a seed before the next one: a part is a fair comparison too
            [(f / c, comparison.run(f, seed, c)) for seed, f in folders.items() for c in o.controllers]
        )
    except (OutOfTime, KeyboardInterrupt):
        print("stopped; the same command goes on", file=sys.stderr)
    runs = {
        name: {s: measure(run, o.targets) for s in o.seeds if finished(run := o.out / f"seed{s}" / name)}
        for name in o.controllers
    }
    found = report(runs, o.targets)
    if o.json:
        print(json.dumps({"schema_version": 1, "settings": asdict(comparison), **found}, indent=2, allow_nan=False))
        return
    for table in tables(found):
        Console(width=None if sys.stdout.isatty() else 140, highlight=False).print(table)


if __name__ == "__main__":
    main()
