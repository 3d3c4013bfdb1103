"""Is the evaluation of programs from elsewhere bounded by the sandbox, or by what is computed around it?

    python benchmarks/evaluation.py                  # 5,000 programs in Docker
    python benchmarks/evaluation.py --programs 500 --sandbox embedded

Predictions as free Python for sequences of 128 values: one in four a rule, one in four a copy, one in four wrong, one in
four that raises. `kolmo eval --predictions` runs each once, and what passes twice. The time without the sandbox is that of
reading, scoring and all metrics: what remains of the whole when the time that the command waits for verdicts is taken off.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any
from unittest import mock

from kolmocli.evaluation import foreign
from kolmocli.evaluation.foreign import Programs, evaluate_predictions
from kolmocli.sandbox import Job, Sandbox, Verdict, open_sandbox


class Timed:
    """A sandbox that notes how long its caller waits for it."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.waited = 0.0
        self.ran = 0

    def submit(self, jobs: Sequence[Job]) -> Future[list[Verdict]]:
        future, plain_result = self.sandbox.submit(jobs), Future.result
        self.ran += len(jobs)

        def result(timeout: float | None = None) -> list[Verdict]:
            began = time.perf_counter()
            try:
                return plain_result(future, timeout)
            finally:
                self.waited += time.perf_counter() - began

        future.result = result  # type: ignore[method-assign]
        return future

    def run(self, jobs: Sequence[Job]) -> list[Verdict]:
        return self.submit(jobs).result()

    def close(self) -> None:
        self.sandbox.close()


def write_predictions(path: Path, programs: int) -> None:
    rng = random.Random(0)
    with path.open("w") as file:
        for number in range(programs):
            start, period = rng.randrange(100), rng.randrange(3, 9)
            ramp = [start + i % period for i in range(128)]
            noise = [rng.randrange(256) for _ in range(128)]
            sequence, answer = [
                (ramp, f"output = [{start} + i % {period} for i in range(128)]"),
                (noise, f"output = {noise}"),
                (noise, f"output = {noise[::-1]}"),
                (noise, "output = [1 // 0]"),
            ][number % 4]
            file.write(json.dumps({"sequence": sequence, "generation": f"{answer}\n###"}) + "\n")


def measure(programs: int, backend: str) -> dict[str, Any]:
    timed: list[Timed] = []

    def opened(*arguments: Any, **options: Any) -> Timed:
        timed.append(Timed(open_sandbox(*arguments, **options)))
        return timed[0]

    with tempfile.TemporaryDirectory() as folder, mock.patch.object(foreign, "open_sandbox", opened):
        path = Path(folder) / "predictions.jsonl"
        write_predictions(path, programs)
        began = time.perf_counter()
        report = evaluate_predictions(str(path), Programs("python", 2.0, backend), strict=True)
        seconds = time.perf_counter() - began
    box = timed[0]
    return {
        "programs": programs,
        "runs": box.ran,
        "seconds": seconds,
        "waiting": box.waited,
        "share": box.waited / seconds,
        "accuracy": report["accuracy"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=5000)
    parser.add_argument("--sandbox", default="docker", choices=("docker", "embedded"))
    asked = parser.parse_args()
    found = measure(asked.programs, asked.sandbox)
    print(f"{found['programs']:,} programs ({asked.sandbox}), {found['runs']:,} runs, accuracy {found['accuracy']:.3f}")
    print(f"  whole command           {found['seconds']:.1f} s")
    print(f"  waiting for verdicts    {found['waiting']:.1f} s, {found['share']:.0%} of it")
    print(f"  everything else         {found['seconds'] - found['waiting']:.1f} s")


if __name__ == "__main__":
    main()
