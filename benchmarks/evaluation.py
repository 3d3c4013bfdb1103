"""Is the evaluation of programs from elsewhere bounded by the sandbox, or by what is computed around it?

    python benchmarks/evaluation.py                  # 5,000 programs in Docker
    python benchmarks/evaluation.py --programs 500 --sandbox embedded

Predictions as free Python for sequences of 128 values: one in four a copy, one in four a copy in two parts, one in four
wrong, one in four that raises. `kolmo eval --predictions` runs each once, and what passes twice. Then the same programs run once
more with nothing around them: what the sandbox takes at best. The metrics are what is computed after the last verdict.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

from kolmocli.evaluation import foreign
from kolmocli.evaluation.foreign import Programs, evaluate_predictions
from kolmocli.evaluation.rescoring import limits_of
from kolmocli.sandbox import Job, Sandbox, Verdict, base, open_sandbox


class Timed(Sandbox):
    """A sandbox that notes how long it had anything to run, when the last verdict came, and what it ran. Two batches may
    be on their way at once."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.busy = 0.0
        self.last = 0.0
        self.jobs: list[Job] = []
        self._lock, self._batches, self._began = threading.Lock(), 0, 0.0

    def run(self, programs: base.Programs) -> list[Verdict]:
        jobs = base.jobs_of(programs)
        with self._lock:
            self.jobs += [replace(job, avoid=None) for job in jobs]
            self._began = self._began if self._batches else time.perf_counter()
            self._batches += 1
        try:
            return self.sandbox.run(jobs)
        finally:
            with self._lock:
                self._batches -= 1
                self.last = time.perf_counter()
                self.busy += 0.0 if self._batches else self.last - self._began

    def close(self) -> None:
        self.sandbox.close()


def sequences(rng: random.Random) -> Iterator[list[int]]:
    """128 values each, in turn of the kinds that the benchmark's data are: words, bases, samples of sound, rules."""
    words = ["the ", "cat ", "sat ", "on ", "a ", "mat. ", "Where ", "did ", "it ", "go? "]
    while True:
        yield list("".join(rng.choices(words, k=64)).encode()[:128])
        yield rng.choices(range(4), k=128)
        yield [128 + round(60 * math.sin(i / 9 + rng.random())) for i in range(128)]
        start, period = rng.randrange(100), rng.randrange(3, 9)
        yield [start + i % period for i in range(128)]


def write_predictions(path: Path, programs: int) -> None:
    rng = random.Random(0)
    with path.open("w") as file:
        for number, sequence in zip(range(programs), sequences(rng), strict=False):
            answer = (
                f"output = {sequence}",
                f"x = {sequence[:64]}\noutput = x + {sequence[64:]}",
                f"output = {sequence[::-1]}",
                "output = [1 // 0]",
            )[number // 4 % 4]
            file.write(json.dumps({"sequence": sequence, "generation": f"{answer}\n###"}) + "\n")


def measure(programs: int, backend: str) -> dict[str, Any]:
    """Seconds of the whole command and of its parts, and the programs that it ran."""
    timed: list[Timed] = []

    def opened(*arguments: Any, **options: Any) -> Timed:
        timed.append(Timed(open_sandbox(*arguments, **options)))
        return timed[0]

    with tempfile.TemporaryDirectory() as folder, mock.patch.object(foreign, "open_sandbox", opened):
        path = Path(folder) / "predictions.jsonl"
        write_predictions(path, programs)
        began = time.perf_counter()
        report = evaluate_predictions(str(path), Programs("python", 2.0, backend), strict=True)
        ended = time.perf_counter()
    box = timed[0]
    return {
        "accuracy": report["accuracy"],
        "whole": ended - began,
        "busy": box.busy,
        "metrics": ended - box.last,
        "jobs": box.jobs,
    }


def alone(jobs: Sequence[Job], backend: str) -> float:
    """Seconds that the sandbox takes for these programs in one batch, its start not counted."""
    box = open_sandbox(backend, limits=limits_of(2.0), warn=print)
    try:
        began = time.perf_counter()
        box.run(jobs)
        return time.perf_counter() - began
    finally:
        box.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=5000)
    parser.add_argument("--sandbox", default="docker", choices=("docker", "embedded"))
    asked = parser.parse_args()
    found = measure(asked.programs, asked.sandbox)
    least = alone(found["jobs"], asked.sandbox)
    runs, whole = len(found["jobs"]), found["whole"]
    rows = [
        ("whole command", whole),
        ("the sandbox at work", found["busy"]),
        ("metrics, after the last one", found["metrics"]),
        ("start, and all else", whole - found["busy"] - found["metrics"]),
        ("the sandbox alone", least),
    ]
    print(f"{asked.programs:,} programs ({asked.sandbox}), {runs:,} runs, accuracy {found['accuracy']:.3f}")
    for name, seconds in rows:
        print(f"  {name:28} {seconds:6.1f} s  {seconds / whole:4.0%}")
    print(f"  the whole command takes {whole / least:.2f} × as long as the sandbox alone")


if __name__ == "__main__":
    main()
