"""How long `kolmo --help` and a few other commands take: python benchmarks/startup.py

Prints the median and the range of several runs, warm file cache. What they must not import is held by tests.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

KOLMO = Path(sys.executable).with_name("kolmo")
COMMANDS = (("--help",), ("compress", "--help"), ("train", "--help"), ("train", "--dry-run"))
RUNS = 7


def seconds(arguments: tuple[str, ...]) -> float:
    started = time.perf_counter()
    subprocess.run([KOLMO, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    for arguments in COMMANDS:
        seconds(arguments)
        times = [seconds(arguments) for _ in range(RUNS)]
        name = " ".join(("kolmo", *arguments))
        print(
            f"{name:24}  median {statistics.median(times):.2f} s  ({min(times):.2f} to {max(times):.2f}, {RUNS} runs)"
        )


if __name__ == "__main__":
    main()
