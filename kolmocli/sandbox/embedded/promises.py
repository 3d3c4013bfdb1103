"""What is really enforced in a worker of the embedded sandbox, tried from inside: the first worker of a pool proves it.

The attacks take the way of any program. The findings have the form of a container's (`sandbox_image/probe.py`).
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from typing import Any

from kolmocli.sandbox.embedded.watch import Watch
from kolmocli.sandbox.wire import frames

Run = Callable[[bytes], tuple[bytes, int, float]]

TRIAL_CPU_S = 0.05
"""The CPU limit of the trial: waiting for the real one would hold up every start."""
ATTACKS = {
    "import os": "import os",
    "import socket": "import socket",
    "open a file to read": "open('/etc/passwd').read()",
    "open a file to write": "open('/tmp/x', 'w')",
    "reach the classes of Python": "().__class__.__base__.__subclasses__()",
    "reach the frames of the worker": "import sys\nsys._getframe()",
    "import by name": "__import__('os').getpid()",
}


def check(run: Run, watch: Watch, limits: dict[str, int], address_space: int) -> list[dict[str, Any]]:
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
        memory(run, limits["memory_mb"]),
        cpu_time(run, watch),
        items(run, limits["max_items"]),
    ]
    return findings + [refused(name, run, program) for name, program in ATTACKS.items()]


def finding(promise: str, expected: str, found: str, ok: bool) -> dict[str, Any]:
    return {"promise": promise, "expected": expected, "found": found, "ok": ok}


def memory(run: Run, memory_mb: int) -> dict[str, Any]:
    said = last_word(run(b"Px = [0]\nwhile len(x) < %d:\n    x = x + x\n" % (memory_mb << 17))[0])
    return finding("memory of a program", f"<= {memory_mb} MiB", said, said.startswith("MLE"))


def cpu_time(run: Run, watch: Watch) -> dict[str, Any]:
    usual, watch.cpu_s = watch.cpu_s, TRIAL_CPU_S
    try:
        _, reason, used = run(b"Pwhile 1: pass")
    finally:
        watch.cpu_s = usual
    stopped = reason == frames.CPU
    found = f"stopped after {used * 1000:.0f} ms" if stopped else "not stopped"
    return finding("CPU time of a program", f"<= {TRIAL_CPU_S * 1000:.0f} ms in a trial", found, stopped)


def items(run: Run, max_items: int) -> dict[str, Any]:
    said = last_word(run(b"Px = [0] * %d" % (max_items + 1))[0])
    return finding("items of a value", f"<= {max_items} items", said, said.startswith("OLE"))


def refused(name: str, run: Run, program: str) -> dict[str, Any]:
    said = last_word(run(b"P" + program.encode())[0])
    return finding(f"program cannot: {name}", "refused", said, said.startswith(("DENIED", "RUNTIME")))


def last_word(output: bytes) -> str:
    return output.rpartition(b"!")[2].decode("utf-8", "replace").strip()
