"""Limits of programs: those of one task from its record, those of the sandbox from the most generous task."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from kolmocli.sandbox.base import Limits

WALL = 3
"""Times the CPU time: what a program gets by the clock."""
LARGEST = 64 << 20
"""Bytes of all inputs of one task, and of all outputs. A sandbox holds them on their way."""
_SLACK = 1 << 20
"""Bytes beyond the longest output that is expected: a program that prints more is wrong, whatever comes after it."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """Limits that a task grants a program: CPU time in ms, memory in MiB."""

    cpu_ms: int | None = None
    memory_mb: int | None = None

    @property
    def wall_ms(self) -> int | None:
        return None if self.cpu_ms is None else WALL * self.cpu_ms


USUAL = Allowance()
"""The allowance of a task that names none."""
LONGEST_MS, MOST_MB = 600_000, 2_048
"""Largest limits that a task can grant: a larger one counts as this one."""


def allowance(record: Mapping[str, Any]) -> Allowance:
    """Limits in a row: `time_limit` in seconds and `memory_limit` in megabytes, as `files/foreign.py` reads them. Raises
    ValueError for what is no positive number."""
    time, memory = _positive(record, "time_limit"), _positive(record, "memory_limit")
    return Allowance(
        None if time is None else max(1, min(LONGEST_MS, math.ceil(1000 * time))),
        None if memory is None else max(16, min(MOST_MB, math.ceil(memory))),
    )


def _positive(record: Mapping[str, Any], key: str) -> float | None:
    given = record.get(key)
    if given is not None and (type(given) not in (int, float) or not 0 < given < math.inf):
        raise ValueError(f"`{key}` {given!r} is no positive number")
    return given


@runtime_checkable
class Sized(Protocol):
    """Tests that hold much text: bytes of it that go to a program, and that come back."""

    @property
    def input_bytes(self) -> int: ...

    @property
    def output_bytes(self) -> int: ...


def limits_for(tasks: Iterable[Any], limits: Limits) -> Limits:
    """These limits, as far up as any of the tasks needs them to be.

    The limits on inputs and outputs are powers of two and the same for every task: they say nothing of the output of one.
    """
    cpu, memory, wall, read, printed = (
        limits.cpu_ms,
        limits.memory_mb,
        limits.wall_ms,
        limits.input_bytes,
        limits.output_bytes,
    )
    for task in tasks:
        allowance, tests = getattr(task, "allowance", None), getattr(task, "tests", None)
        if allowance is not None:
            cpu, memory = max(cpu, allowance.cpu_ms or 0), max(memory, allowance.memory_mb or 0)
            wall = max(wall, allowance.wall_ms or 0)
        if isinstance(tests, Sized):
            read, printed = max(read, _room(tests.input_bytes)), max(printed, _room(tests.output_bytes))
    return replace(limits, cpu_ms=cpu, memory_mb=memory, wall_ms=wall, input_bytes=read, output_bytes=printed)


def _room(size: int) -> int:
    """A power of two above the size, with some slack; for what is small nothing above what any sandbox has."""
    return min(1 << (size + _SLACK).bit_length(), LARGEST + 4 * _SLACK) if size > _SLACK // 2 else 0
