"""Owner of a container: one process, named so that no later process can be taken for it."""

from __future__ import annotations

import os
from pathlib import Path


def this_owner() -> str:
    """`<boot id>.<process namespace>.<pid>.<start time>` of this process.

    The namespace, because two trainers in containers of their own may share one engine: they run under the same
    boot, and neither can see whether the other's process lives.
    """
    return f"{_boot()}.{_namespace()}.{os.getpid()}.{_started(os.getpid())}"


def is_alive(owner: str) -> bool | None:
    """Whether the owner still runs; None when that cannot be known here (another boot or namespace, or malformed)."""
    parts = owner.split(".")
    if len(parts) != 4 or not parts[2].isdigit() or not parts[3]:
        return None
    boot, namespace, pid, started = parts
    if boot != _boot() or namespace != _namespace():
        return None
    return _started(int(pid)) == started


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()


def _namespace() -> str:
    return "".join(filter(str.isdigit, os.readlink("/proc/self/ns/pid")))


def _started(pid: int) -> str:
    """Start time in clock ticks since boot; empty when there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]
