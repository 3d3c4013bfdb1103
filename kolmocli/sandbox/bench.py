"""Measure the speed of a sandbox, end to end from the Python API, for `kolmo sandbox bench`."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable
from typing import Any

from kolmocli.sandbox.base import Job, Sandbox, Status

PROGRAM = """\
sequence_1 = range_func_up({0}, {1})
sequence_2 = repeat_list(3, sequence_1)
output = reverse_list(sequence_2)"""
HOSTILE = (
    "while 1: pass",
    "x = [0] * 10**10",
    "import os",
    "import socket",
    "def f(): f()\nf()",
    "1 / 0",
    "x = '('",
    "(",
    "x = [0]\nwhile 1: x += x",
    "print('x' * 10**6)",
    "raise SystemExit(0)",
    "x = range(10**12)",
    "open('/etc/passwd').read()",
    "().__class__.__base__.__subclasses__()",
    "x = 10 ** 10 ** 5",
    "'' + 1",
    "for i in range(10**5): pass",
    "import ctypes",
    "def f(n): return f(n - 1) if n else 0\nf(500)",
    "__import__('os').fork()",
)
"""One of twenty burns its whole CPU limit; more would measure the limit and not the sandbox."""


def trivial(count: int) -> list[Job]:
    """Programs of the size that a policy writes, in groups of eight."""
    return [Job(PROGRAM.format(i % 50, i % 50 + 9), "dsl", group=i // 8 + 1) for i in range(count)]


def hostile_mix(count: int) -> list[Job]:
    """One program in ten is hostile."""
    jobs = trivial(count)
    for at in range(0, count, 10):
        jobs[at] = Job(HOSTILE[at // 10 % len(HOSTILE)], group=at // 8 + 1)
    return jobs


def throughput(sandbox: Sandbox, jobs: list[Job]) -> float:
    """Programs per second over one batch."""
    started = time.perf_counter()
    sandbox.run(jobs)
    return len(jobs) / (time.perf_counter() - started)


def latency(sandbox: Sandbox, count: int, pause_s: float = 0.004) -> tuple[float, float]:
    """(p50, p99) in ms from submit to verdict at moderate load, minus the wall time of the program itself."""
    added = []
    for job in trivial(count):
        started = time.perf_counter()
        verdict = sandbox.run([job])[0]
        added.append((time.perf_counter() - started) * 1000 - verdict.wall_ms)
        time.sleep(pause_s)
    cuts = statistics.quantiles(added, n=100)
    return cuts[49], cuts[98]


def docker_run(count: int) -> float:
    """Programs per second of one `docker run` each, with the container flags that matter, one after another."""
    from kolmocli.sandbox.docker.image import image_tag

    command = ["docker", "run", "--rm", "--network=none", "--read-only", "--ipc=none", "--cap-drop=ALL"]
    command += ["--security-opt=no-new-privileges:true", "--pids-limit=6", "--memory=256m", "--memory-swap=256m"]
    command += ["--log-driver=none", "--entrypoint=python3", image_tag(), "-sS", "-c", "print(1)"]
    started = time.perf_counter()
    for _ in range(count):
        subprocess.run(command, check=True, capture_output=True)
    return count / (time.perf_counter() - started)


def measure(sandbox: Sandbox, programs: int, log: Callable[[str], None]) -> dict[str, Any]:
    """All numbers of one sandbox."""
    backend = sandbox.health().backend
    log(f"sandbox bench: {backend}, warming up")
    throughput(sandbox, trivial(200))
    log(f"sandbox bench: {programs} programs")
    rate = throughput(sandbox, trivial(programs))
    log("sandbox bench: latency")
    p50, p99 = latency(sandbox, 300)
    log("sandbox bench: one in ten hostile")
    mix = hostile_mix(programs // 2)  # long enough that one burner at its end does not decide
    hostile_rate = throughput(sandbox, mix)
    report = {
        "backend": backend,
        "programs": programs,
        "programs_per_second": rate,
        "p50_ms": p50,
        "p99_ms": p99,
        "hostile_programs_per_second": hostile_rate,
        "infra": sandbox.health().statuses.get(Status.INFRA.value, 0),
    }
    if backend == "docker":
        log("sandbox bench: docker run")
        single = docker_run(10)
        report |= {"docker_run_programs_per_second": single, "ratio_docker_run": rate / single}
    return report
