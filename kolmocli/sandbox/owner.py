"""Who owns a container: one process, named so that no later process can be taken for it."""

from __future__ import annotations

import os
from pathlib import Path


def this_owner() -> str:
    """`<boot id>.<pid>.<start time>` of this process."""
    return f"{_boot()}.{os.getpid()}.{_started(os.getpid())}"


def is_alive(owner: str) -> bool | None:
    """Whether the owner still runs; None when this machine cannot know (another boot, or malformed)."""
    boot, _, rest = owner.partition(".")
    pid, _, started = rest.partition(".")
    if not pid.isdigit() or not started:
        return None
    if boot != _boot():
        return None
    return _started(int(pid)) == started


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()


def _started(pid: int) -> str:
    """Start time in clock ticks since boot; empty when there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]
