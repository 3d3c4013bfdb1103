"""What this machine's processor says of itself, and the precisions in which it may multiply."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

Precision = Literal["fp32", "bf16"]
WantedPrecision = Literal["auto", "fp32", "bf16"]

_FLAGS = {"avx512_bf16", "amx_bf16", "bf16", "svebf16"}
"""What Linux calls the instructions on x86 and on ARM."""


def multiplies_bf16(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Whether this processor says that it multiplies bf16. Elsewhere than on Linux nobody is asked, and the answer is no."""
    if not cpuinfo.is_file():
        return False
    lines = (line.partition(":") for line in cpuinfo.read_text(errors="replace").splitlines())
    flags = next(
        (set(value.split()) for name, _, value in lines if name.strip().lower() in ("flags", "features")), set()
    )
    return bool(flags & _FLAGS)


def free_memory_mib(meminfo: Path = Path("/proc/meminfo")) -> float | None:
    """What Linux says could be given to a process now; None elsewhere."""
    if not meminfo.is_file():
        return None
    lines = (line.partition(":") for line in meminfo.read_text().splitlines())
    return next((float(value.split()[0]) / 1024 for name, _, value in lines if name == "MemAvailable"), None)
