"""Try from inside what a worker of the embedded sandbox enforces: the first worker of a pool proves it.

The attacks take the way of any program. The findings have the form of a container's (`sandbox_image/probe.py`).
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from typing import Any

from kolmocli.sandbox.wire import frames

Run = Callable[[bytes], tuple[bytes, int, float]]
"""From the payload of a RUN frame to (output, reason of a kill, CPU seconds)."""
TRIAL_CPU_MS, TRIAL_MEMORY_MB = 50, 8
"""The limits of the trial: reaching the real ones would hold up every start."""
ATTACKS = {
    "import os": "import os",
    "import socket": "import socket",
    "open a file to read": "open('/etc/passwd').read()",
    "open a file to write": "open('/tmp/x', 'w')",
    "reach the classes of Python": "().__class__.__base__.__subclasses__()",
    "reach the frames of the worker": "import sys\nsys._getframe()",
    "import by name": "__import__('os').getpid()",
}


def check(run: Run, limits: dict[str, int], address_space: int) -> list[dict[str, Any]]:
    """One finding per promise."""
    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    core = resource.getrlimit(resource.RLIMIT_CORE)[1]
    findings = [
        finding("a process of its own", f"not {os.getppid()}", str(os.getpid()), os.getpid() != os.getppid()),
        finding(
            "address space of the worker",
            f"<= {address_space >> 20} MiB",
            f"{soft >> 20} MiB" if soft != resource.RLIM_INFINITY else "unlimited",
            soft == address_space,
        ),
        finding("core files", "0 bytes", f"{core} bytes", core == 0),
        memory(run, limits),
        cpu_time(run, limits),
        items(run, limits),
    ]
    return findings + [refused(name, run, program, limits) for name, program in ATTACKS.items()]


def finding(promise: str, expected: str, found: str, ok: bool) -> dict[str, Any]:
    return {"promise": promise, "expected": expected, "found": found, "ok": ok}


def payload(program: str, limits: dict[str, int]) -> bytes:
    head = frames.PROGRAM.pack(frames.PYTHON, limits["cpu_ms"], limits["wall_ms"], limits["memory_mb"])
    return head + program.encode()


def memory(run: Run, limits: dict[str, int]) -> dict[str, Any]:
    most = min(TRIAL_MEMORY_MB, limits["memory_mb"])
    trial = limits | {"memory_mb": most}
    said = last_word(run(payload(f"x = [0]\nwhile len(x) < {most << 17}:\n    x = x + x\n", trial))[0])
    return finding("memory of a program", f"<= {most} MiB in a trial", said, said.startswith("MLE"))


def cpu_time(run: Run, limits: dict[str, int]) -> dict[str, Any]:
    _, reason, used = run(payload("while 1: pass", limits | {"cpu_ms": TRIAL_CPU_MS}))
    stopped = reason == frames.CPU
    found = f"stopped after {used * 1000:.0f} ms" if stopped else "not stopped"
    return finding("CPU time of a program", f"stopped by a limit of {TRIAL_CPU_MS} ms", found, stopped)


def items(run: Run, limits: dict[str, int]) -> dict[str, Any]:
    most = limits["max_items"]
    said = last_word(run(payload(f"x = [0] * {most + 1}", limits))[0])
    return finding("items of a value", f"<= {most} items", said, said.startswith("OLE"))


def refused(name: str, run: Run, program: str, limits: dict[str, int]) -> dict[str, Any]:
    said = last_word(run(payload(program, limits))[0])
    return finding(f"program cannot: {name}", "refused", said, said.startswith(("DENIED", "RUNTIME")))


def last_word(output: bytes) -> str:
    return output.rpartition(b"!")[2].decode("utf-8", "replace").strip()
