"""The sandbox over HTTP beside the sandbox in this process, on the same programs, in one run.

    python benchmarks/serve.py [--programs 2000] [--backend docker] [--connections 1,16,128] [--json]

One program in fifty hangs until its CPU limit, one prints more than it may; the others read a number and print what follows
from it. `pool` is `open_sandbox` in this process and `client` the same call on the address of a server, one batch each;
`run_code` sends one program a request, as the callers of SandboxFusion do, and p50 and p99 are the milliseconds of those
requests. `lost`: no verdict came; `wrong`: another one than the program must have. Server and clients share the machine.
Exit 3 when a program was lost or got a wrong verdict.
"""

from __future__ import annotations

import argparse
import json
import queue
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from kolmocli.errors import EXIT_CHECK
from kolmocli.sandbox import Job, Limits, Status, Verdict, open_sandbox
from kolmocli.sandbox.service.connection import Address, Connection, Lost

LIMITS = Limits(cpu_ms=200, wall_ms=2_000)
HANGS, FLOODS = "while True: pass", "print('x' * 3_000_000)"
EVERY = 50
_LONGEST = 16 << 20
_TRIES = 100


def program(number: int) -> tuple[str, str, Status]:
    """Text, input, and how it must end."""
    if number % EVERY == 3:
        return HANGS, "", Status.TLE_CPU
    if number % EVERY == 13:
        return FLOODS, "", Status.OLE
    return f"n = int(input())\nprint(n * n + {number})", str(number), Status.OK


def printed(number: int) -> str:
    return f"{number * number + number}\n"


def tally(verdicts: list[Verdict]) -> tuple[int, int]:
    """(lost, wrong)."""
    lost = sum(verdict.status.is_fault for verdict in verdicts)
    wrong = 0
    for number, verdict in enumerate(verdicts):
        expected = program(number)[2]
        right = verdict.status is expected and (expected is not Status.OK or verdict.trace == (printed(number),))
        wrong += not right and not verdict.status.is_fault
    return lost, wrong


def batch(backend: str, count: int, workers: int | None) -> dict[str, Any]:
    jobs = [
        Job(text, inputs=(read,), group=number // 8 + 1)
        for number, (text, read, _) in enumerate(map(program, range(count)))
    ]
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
            outcomes[number] = _asked(line, number)
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


def _asked(line: Connection, number: int) -> str:
    text, read, expected = program(number)
    body = json.dumps({"code": text, "stdin": read, "language": "python", "run_timeout": LIMITS.cpu_ms / 1000}).encode()
    for _ in range(_TRIES):
        try:
            answer = line.ask("POST", "/run_code", body, longest=_LONGEST)
        except Lost:
            continue
        if answer.code == 200:
            return _judged(json.loads(answer.body), number, expected)
        time.sleep(answer.again or 0.1)
    return "lost"


def _judged(said: dict[str, Any], number: int, expected: Status) -> str:
    if said["status"] == "SandboxError":
        return "lost"
    result = said["run_result"]
    right = {
        Status.OK: said["status"] == "Success" and result["stdout"] == printed(number),
        Status.TLE_CPU: result["status"] == "TimeLimitExceeded",
        Status.OLE: result["stderr"].startswith("OutputLimitExceeded"),
    }
    return "right" if right[expected] else "wrong"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=2_000)
    parser.add_argument("--backend", default="docker", choices=("docker", "embedded"))
    parser.add_argument("--connections", default="1,16,128")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    command = [sys.executable, "-m", "kolmocli", "sandbox", "serve", "--port", "0", "--backend", options.backend]
    reports: dict[str, dict[str, Any]] = {}

    def measure(name: str, take: Callable[[], dict[str, Any]]) -> None:
        reports[name] = take()
        if not options.json:
            print(f"{name:16}", "  ".join(f"{key} {value:,.1f}" for key, value in reports[name].items()), flush=True)

    measure("pool", lambda: batch(options.backend, options.programs, None))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        url = server.stdout.readline().strip()
        try:
            for each in map(int, options.connections.split(",")):
                measure(f"client {each}", lambda at=each: batch(url, options.programs, at))  # type: ignore[misc]
                measure(f"run_code {each}", lambda at=each: run_code(url, options.programs, at))  # type: ignore[misc]
        finally:
            server.terminate()
    if options.json:
        print(json.dumps(reports, indent=2))
    return EXIT_CHECK if any(report["lost"] or report["wrong"] for report in reports.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
