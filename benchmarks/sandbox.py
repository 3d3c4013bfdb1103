"""Programs per second of both sandboxes, beside `docker run` and plain fork servers, in the same run.

    python benchmarks/sandbox.py [--programs 4000] [--json]

The code tasks are the problems of the project's own tests, three tests each, and their references, each made different by
a comment. Every other one is spoilt, as half of all rollouts are wrong where a curriculum holds its target. A right one is
run twice: a winner is confirmed in another container before it is paid. `code_tasks_all_right` is the rate where all are.

The plain fork servers, one for each core, have no wall at all: they show what the operating system charges for a
process per program, which differs by a factor of two between machines of one name. They run before and after.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from kolmocli.errors import KolmoError
from kolmocli.language import functions
from kolmocli.sandbox import Sandbox, open_sandbox
from kolmocli.sandbox.bench import measure
from kolmocli.tasks.code.shapes import mbpp
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Relative

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))  # the tests are no part of the package

from tests.tasks.code.shaped import PROBLEMS  # noqa: E402

BATCH = 128


def plain_fork_servers(count: int) -> float:
    """Programs per second of one plain fork server for each core, all at once."""
    command = [sys.executable, "-I", "-S", str(HERE / "fork_server.py"), functions.__file__, str(count)]
    servers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(os.cpu_count() or 1)]
    return sum(float(server.communicate()[0]) for server in servers)


def code_tasks(sandbox: Sandbox, count: int, spoilt: int) -> float:
    """Solutions judged per second, one in `spoilt` of them wrong; two batches are on their way, as when a file of
    predictions is scored."""
    built = [mbpp(problem.mbpp()) for problem in PROBLEMS]
    known = list(islice(cycle([task for task in built if task.tests.plan]), count))
    tasks = [replace(task, index=number) for number, task in enumerate(known)]
    wrong = [bool(spoilt) and number % spoilt == 0 for number in range(count)]
    texts = [
        f"{task.reference}\n{f'{task.entry_point} = print' if is_wrong else ''}\n# {number}\n"
        for number, (task, is_wrong) in enumerate(zip(tasks, wrong, strict=True))
    ]
    started = time.perf_counter()
    with ThreadPoolExecutor(2) as threads:
        batches = [slice(at, at + BATCH) for at in range(0, count, BATCH)]
        judged = list(threads.map(lambda b: judge(tasks[b], texts[b], sandbox, Terms(Relative(0.25))), batches))
    spent = time.perf_counter() - started
    assert [not outcome.passed for batch in judged for outcome in batch] == wrong
    return count / spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=4_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    before = plain_fork_servers(options.programs // 8)
    reports: dict[str, Any] = {}
    for backend in ("docker", "embedded"):
        started = time.perf_counter()
        try:
            sandbox = open_sandbox(backend)
        except KolmoError as error:
            reports[backend] = str(error)
            continue
        try:
            ready = time.perf_counter() - started
            reports[backend] = {"start_s": ready} | measure(sandbox, options.programs, lambda _: None)
            if backend == "docker":
                reports[backend]["code_tasks_per_second"] = code_tasks(sandbox, options.programs // 2, 2)
                reports[backend]["code_tasks_all_right"] = code_tasks(sandbox, options.programs // 2, 0)
        finally:
            sandbox.close()
    forks = (before + plain_fork_servers(options.programs // 8)) / 2
    reports["plain_fork_servers"] = forks
    if options.json:
        print(json.dumps({"schema_version": 1} | reports))
        return
    print(f"{'plain fork servers':40} {forks:>10,.2f}")
    for backend in ("docker", "embedded"):
        report = reports[backend]
        if isinstance(report, str):
            print(f"{backend}: {report}")
            continue
        for key, value in report.items():
            shown = f"{value:>10,.2f}" if isinstance(value, float) else f"{value:>10}"
            print(f"{backend + ' ' + key:40} {shown}")


if __name__ == "__main__":
    main()
