"""One seed gives one run: the same small runs again, stopped, killed and resumed, on a quiet machine and beside busy processes.

    python benchmarks/repeat.py                              # every setting that this machine can run
    python benchmarks/repeat.py --only tiny adapters --busy 0 2 --times 10
    python benchmarks/repeat.py --only model --model FOLDER_OR_NAME

Of each setting the first run says what every other must write: `metrics.jsonl`, line by line, times aside. `again` is a second fresh
run, `stopped` one that ends after half of its steps and is resumed, `killed` one that gets SIGKILL between two checkpoints and is
resumed. `monarch` must write what `embedded` does. Runs take `--threads` threads, whatever OMP_NUM_THREADS says, and learn in most
steps (the column says in how many), so that there is something to differ in. Exit 3 where a line differs.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

CURRICULUM = """\
name: repeat
families:
  runs:
    sampler: {modifiers: [0, 0], reuse: 0, interleave: 0, base_length: [2, 6], values: [0, 15], initiators: {repeat_num: 1}}
    levels: [{bases: [1, 1]}, {bases: [2, 2]}]
warmup: {max_steps: 20, check_every: 10, batch_size: 32, learning_rate: 6.0e-3, until: 1}
training: {steps: 12, batch_size: 64, group_size: 8, max_new_tokens: 24, hindsight: 1.0}
evaluation: {tasks: 16, every: 5}
sandbox: {backend: embedded, workers: 2}
checkpoint_every: 3
report: false
"""
"""More than 32,768 numbers in the gradients of a step's rows, from which on several threads add them."""
ASIDE = ("seconds", "generators")
"""Keys of a line that hold times, and which process wrote."""
FRESH = {"mean": 0, "most": 0}
"""Staleness of rollouts by the newest weights: generators write it down, and the local engine knows no other."""
_LOOK = 0.05


@dataclass(frozen=True)
class Setting:
    flags: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    """Packages."""


SETTINGS = {
    **{name: Setting(("--model", name)) for name in ("tiny", "small", "tiny-segments", "tiny-llama")},
    "adapters": Setting(("--lora-rank", "4"), ("peft", "accelerate")),
    "8 bits": Setting(("--use-8bit-quantization",), ("peft", "accelerate", "bitsandbytes")),
    "recomputed": Setting(("--set", "training.gradient_checkpointing=true")),
    "docker": Setting(("--sandbox", "docker")),
    "monarch": Setting(("--engine", "monarch"), ("monarch",)),
    "model": Setting(
        ("--set", "warmup.max_steps=4", "--set", "warmup.check_every=4", "--set", "warmup.batch_size=4", "--set",
         "warmup.learning_rate=1e-4", "--steps", "4", "--batch-size", "8", "--set", "training.group_size=4", "--set",
         "checkpoint_every=1", "--set", "evaluation.tasks=4", "--set", "evaluation.every=0", "--set", "training.learning_rate=1e-5"),
    ),
}  # fmt: skip
LIKE = {"monarch": "tiny", "docker": "tiny"}
"""Where programs are written and run changes no line: these are held to the first run of another setting."""


class Failed(Exception):
    """A run that did not end as it should."""


@dataclass
class Runner:
    """Starts `kolmo train` in a folder of its own."""

    folder: Path
    seed: int
    threads: int
    runs: int = 0

    def lines(self, flags: tuple[str, ...], way: str) -> list[dict[str, Any]]:
        """What a run writes that goes this way."""
        self.runs += 1
        run = self.folder / f"run{self.runs}"
        fresh = [
            str(self.folder / "repeat.yaml"), "--run-dir", str(run), "--seed", str(self.seed),
            "--set", f"threads={self.threads}", *flags,
        ]  # fmt: skip
        if way == "stopped":
            finish(start([*fresh, "--stop-at", str(self._steps(flags) // 2)]))
            finish(start(["--resume", "--run-dir", str(run)]))
        elif way == "killed":
            self._kill(start(fresh), run, self._steps(flags) * 2 // 3)
            finish(start(["--resume", "--run-dir", str(run)]))
        else:
            finish(start(fresh))
        return metrics(run)

    def _kill(self, process: subprocess.Popen[str], run: Path, step: int) -> None:
        while not any(line["phase"] == "rl" and line["step"] >= step for line in metrics(run)):
            if process.poll() is not None:
                raise Failed(f"ended before it was killed: {finish(process)}")
            time.sleep(_LOOK)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()

    @staticmethod
    def _steps(flags: tuple[str, ...]) -> int:
        return int(flags[flags.index("--steps") + 1]) if "--steps" in flags else 12


def start(arguments: list[str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "kolmocli", "train", *arguments, "--quiet"]
    environment = {**os.environ, "NO_COLOR": "1"}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def finish(process: subprocess.Popen[str]) -> str:
    try:
        said = process.communicate()[1]
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    if process.returncode:
        raise Failed(f"exit code {process.returncode}: {(said.strip().splitlines() or [''])[-1]}")
    return said


def metrics(run: Path) -> list[dict[str, Any]]:
    file = run / "metrics.jsonl"
    written = file.read_text().splitlines(keepends=True) if file.exists() else []
    records = [json.loads(line) for line in written if line.endswith("\n")]
    return [{key: value for key, value in record.items() if not _set_aside(key, value)} for record in records]


def _set_aside(key: str, value: Any) -> bool:
    return key in ASIDE or (key == "staleness" and value == FRESH)


@contextlib.contextmanager
def beside(count: int) -> Iterator[None]:
    """While entered, this many processes want the cores."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def compare(first: list[dict[str, Any]], other: list[dict[str, Any]]) -> dict[str, Any]:
    same = [a == b for a, b in zip(first, other, strict=False)]
    found: dict[str, Any] = {"equal": sum(same), "lines": max(len(first), len(other))}
    if not all(same):
        at = same.index(False)
        keys = sorted(key for key in {**first[at], **other[at]} if first[at].get(key) != other[at].get(key))
        found["first"] = {"line": at + 1, "keys": keys}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", nargs="+", choices=SETTINGS, metavar="SETTING", help=f"of {', '.join(SETTINGS)}")
    parser.add_argument("--model", help="a folder or a name, for the setting `model`")
    parser.add_argument(
        "--ways", nargs="+", choices=["again", "stopped", "killed"], default=["again", "stopped", "killed"]
    )
    parser.add_argument(
        "--busy", nargs="+", type=int, default=[0, 2], metavar="N", help="busy processes beside the runs"
    )
    parser.add_argument("--times", type=int, default=1, help="how often each way is gone")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="one object on stdout; the table goes to stderr")
    options = parser.parse_args()
    names = options.only or [name for name in SETTINGS if name != "model" or options.model]
    if "model" in names and not options.model:
        parser.error("--only model needs --model")
    rows: list[dict[str, Any]] = []
    with TemporaryDirectory() as folder:
        runner = Runner(Path(folder), options.seed, options.threads)
        (Path(folder) / "repeat.yaml").write_text(CURRICULUM)
        kept: dict[str, list[dict[str, Any]]] = {}
        for name in names:
            rows += measure(name, options, runner, kept)
    report = {"schema_version": 1, "threads": options.threads, "seed": options.seed, "rows": rows}
    show(rows, to_stderr=options.json)
    if options.json:
        print(json.dumps(report))
    if any("failed" in row for row in rows):
        sys.exit(1)
    if any(row["equal"] < row["lines"] for row in rows if "equal" in row):
        sys.exit(3)


def measure(
    name: str, options: argparse.Namespace, runner: Runner, kept: dict[str, list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """A row for each way and each load, however often it is gone."""
    setting = SETTINGS[name]
    flags = (*setting.flags, "--model", options.model) if name == "model" else setting.flags
    if "--model" not in flags:
        flags = ("--model", "tiny", *flags)
    lacking = next((package for package in setting.needs if importlib.util.find_spec(package) is None), None)
    if lacking:
        return [{"setting": name, "skipped": f"{lacking} is not installed"}]
    rows: list[dict[str, Any]] = []
    like = LIKE.get(name, name)
    try:
        if like not in kept:
            told(f"{like}: the first run")
            kept[like] = runner.lines(SETTINGS[like].flags if like != name else flags, "again")
        first = kept[like]
        learnt = sum(bool(line.get("grad_norm")) for line in first)
        for count in options.busy:
            with beside(count):
                for way in options.ways:
                    for _ in range(options.times):
                        told(f"{name}: {way}, beside {count}")
                        found = compare(first, runner.lines(flags, way))
                        rows.append({"setting": name, "way": way, "busy": count, "learnt": learnt, **found})
    except Failed as error:
        rows.append({"setting": name, "failed": str(error)})
    return rows


def told(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def show(rows: list[dict[str, Any]], to_stderr: bool) -> None:
    table = Table(
        "setting", "way", "busy processes", "lines equal", "learnt in", "first difference", box=box.SIMPLE_HEAD
    )
    for row in rows:
        if "equal" not in row:
            table.add_row(row["setting"], row.get("skipped") or f"failed: {row['failed']}")
            continue
        where = f"line {row['first']['line']}: {', '.join(row['first']['keys'])}" if "first" in row else ""
        equal = f"{row['equal']} of {row['lines']}"
        table.add_row(row["setting"], row["way"], str(row["busy"]), equal, f"{row['learnt']} lines", where)
    Console(stderr=to_stderr).print(table)


if __name__ == "__main__":
    main()
