"""Describe this machine's processor, and the precisions in which it may multiply."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Literal

Precision = Literal["fp32", "bf16"]
WantedPrecision = Literal["auto", "fp32", "bf16"]

_FLAGS = {"avx512_bf16", "amx_bf16", "bf16", "svebf16"}
"""Linux's names of the instructions on x86 and on ARM."""

_NAMES = (
    *("model name", "vendor_id", "cpu family", "model", "stepping"),
    *("cpu implementer", "cpu architecture", "cpu variant", "cpu part", "cpu revision"),
)
"""Keys that tell one kind of processor from another, on x86 and on ARM. The clock, the caches and the cores do not."""


def processor_name(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """The kind of processor, as it names itself."""
    if not cpuinfo.is_file():
        return platform.processor() or platform.machine()
    first = cpuinfo.read_text(errors="replace").split("\n\n")[0]
    said = {name.strip().lower(): value.strip() for name, _, value in (x.partition(":") for x in first.splitlines())}
    return " ".join([platform.machine(), *(said[name] for name in _NAMES if name in said)])


def multiplies_bf16(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Whether this processor says that it multiplies bf16. Outside Linux the answer is no."""
    if not cpuinfo.is_file():
        return False
    lines = (line.partition(":") for line in cpuinfo.read_text(errors="replace").splitlines())
    flags = next(
        (set(value.split()) for name, _, value in lines if name.strip().lower() in ("flags", "features")), set()
    )
    return bool(flags & _FLAGS)


def free_memory_mib(meminfo: Path = Path("/proc/meminfo")) -> float | None:
    """Memory that Linux could give to a process now; None elsewhere."""
    if not meminfo.is_file():
        return None
    lines = (line.partition(":") for line in meminfo.read_text().splitlines())
    return next((float(value.split()[0]) / 1024 for name, _, value in lines if name == "MemAvailable"), None)
