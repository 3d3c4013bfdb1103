"""Training runs that differ in one thing, by seed and variant: what `curriculum.py` and `ablation.py` share.

For every seed one supervised warm start is run, and every variant goes on from its weights with a fresh optimiser,
on the same held-out tasks, for the same number of rollouts. Each run is a `kolmo train` in a process of its own.
A finished run is not run again and one that was stopped goes on, so that a long comparison can be split.
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
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from kept import kept_figures, kept_of

from kolmocli.monitor.reader import read_summary

WARM = "warm"
SETTINGS = "benchmark.json"
FIGURES = "figures.json"
"""What is left of a finished run whose other files are gone."""
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
        file, mine, kept = folder / SETTINGS, asdict(self), kept_of(folder)
        if kept is None and not file.exists():
            folder.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(mine, indent=1))
            return
        earlier = json.loads(file.read_text()) if kept is None else kept.settings
        changed = [f"{k} was {earlier.get(k)!r}, is {v!r}" for k, v in mine.items() if earlier.get(k) != v]
        if changed:
            raise SystemExit(f"{folder} is of another comparison ({'; '.join(changed)}); name another with --out")

    def warm_start(self, folder: Path, seed: int) -> list[str]:
        model = ["--model", self.model] if self.model else []
        return [*self._train(folder / WARM, seed), "--steps", "0", *model]

    def run(self, folder: Path, seed: int, variant: str, options: Sequence[str]) -> list[str]:
        """A variant goes on from the warm start of its seed."""
        return [
            *self._train(folder / variant, seed), "--model", str(folder / WARM), "--steps", str(self.steps),
            "--eval-freq", str(self.eval_freq), "--set", "warmup.max_steps=0", *options,
        ]  # fmt: skip

    def _train(self, folder: Path, seed: int) -> list[str]:
        tasks = ["--eval-samples", str(self.eval_samples)] if self.eval_samples else []
        return [
            sys.executable, "-m", "kolmocli", "train", self.curriculum, "--run-dir", str(folder), "--quiet",
            "--seed", str(seed), "--sandbox", self.sandbox, *tasks, *self.more,
        ]  # fmt: skip


def finished(folder: Path) -> bool:
    if (folder / FIGURES).is_file() or kept_figures(folder) is not None:
        return True
    summary = read_summary(folder) if folder.is_dir() else None
    return summary is not None and summary.eval.after is not None


@dataclass(frozen=True)
class Sitting:
    """How many runs at a time, and until when. `over` asks those under way to save and stop. `tidy` is called with the folder of
    each finished run that is no warm start: none of its weights are needed any more."""

    jobs: int
    deadline: float
    over: threading.Event
    tidy: Callable[[Path], None] | None = None

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
        if not finished(folder) and (code := self._run(folder, command)):
            return code
        if self.tidy is not None and folder.name != WARM and folder.is_dir():
            self.tidy(folder)
        return 0

    def _run(self, folder: Path, command: list[str]) -> int:
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


def open_sitting(o: argparse.Namespace, tidy: Callable[[Path], None] | None = None) -> Sitting:
    """From now on, as `add_common` has it. SIGTERM is from now on what Ctrl-C is."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    until = math.inf if o.minutes is None else time.monotonic() + 60 * o.minutes
    return Sitting(o.jobs, until, threading.Event(), tidy)


def run_all(
    o: argparse.Namespace, variants: Mapping[str, Sequence[str]], tidy: Callable[[Path], None] | None = None
) -> Comparison:
    """Run the variants, each with its options, as far as the time allows. `o` has the options of `add_options`."""
    sitting = open_sitting(o, tidy)
    comparison = Comparison(o.curriculum, o.model, o.steps, o.eval_freq, o.eval_samples, o.sandbox, o.more)
    comparison.claim(o.out)
    folders = {seed: o.out / f"seed{seed}" for seed in o.seeds}
    try:
        sitting.run([(folder / WARM, comparison.warm_start(folder, seed)) for seed, folder in folders.items()])
        sitting.run(  # all variants of a seed before the next one: a part is a fair comparison too
            [(f / v, comparison.run(f, seed, v, more)) for seed, f in folders.items() for v, more in variants.items()]
        )
    except (OutOfTime, KeyboardInterrupt):
        print("stopped; the same command goes on", file=sys.stderr)
    return comparison


def add_options(parser: argparse.ArgumentParser, *, curriculum: str, steps: int, eval_freq: int, out: str) -> None:
    parser.add_argument("--curriculum", default=curriculum, help="a packaged name or a file (default: %(default)s)")
    parser.add_argument("--steps", type=positive, default=steps, help="REINFORCE steps of a run (default: %(default)s)")
    parser.add_argument(
        "--eval-freq", type=positive, default=eval_freq, help="steps between evaluations (default: %(default)s)"
    )
    add_common(parser, seeds=[0, 1, 2, 3, 4], out=out, quick="seed 0, 12 steps, two runs at a time")


def add_common(parser: argparse.ArgumentParser, *, seeds: Sequence[int], out: str, quick: str) -> None:
    """What a comparison of any curriculum is told; `quick` says what is short in a quick one."""
    parser.add_argument("--model", help="a preset, checkpoint or Hugging Face id (default: the curriculum's)")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(seeds))
    parser.add_argument("--eval-samples", type=positive, help="held-out tasks (default: the curriculum's)")
    parser.add_argument("--sandbox", default="auto", choices=["auto", "docker", "embedded"])
    parser.add_argument("--jobs", type=positive, default=1, help="runs at a time (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=Path(out), help="folder of the runs (default: %(default)s)")
    parser.add_argument("--minutes", type=float, help="stop after so long, saved, and report what is finished")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help=f"a look in minutes: {quick}")
    parser.add_argument("more", nargs="*", help="further options of kolmo train for all runs, after --")


def shorten(o: argparse.Namespace) -> None:
    """With `--quick`, in a folder of its own: runs of another length are another comparison."""
    if o.quick:
        o.seeds, o.steps, o.eval_freq, o.eval_samples, o.jobs = [0], 12, 12, 200, 2
        o.out = o.out.with_name(f"{o.out.name}-quick")


def positive(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return int(text)
