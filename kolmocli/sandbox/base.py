"""What every sandbox promises: batches of programs in, verdicts out, in order, exactly once.

A sandbox knows bytes and limits. It never learns the target of a program, nor its reward: the
value of every statement comes back and the host compares (a program cannot leak what never went in).
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol

Value = tuple[int, ...]
"""The value of a statement as a sequence of integers: an int is a 1-tuple, bytes their byte values,
a str its code points; list, tuple and range of int as they are, by exact built-in type."""


class Status(StrEnum):
    """How a program ended. Only OK can pass; INFRA and CANCELLED say nothing about the program."""

    OK = "OK"
    SYNTAX = "SYNTAX"
    RUNTIME = "RUNTIME"
    SIGNAL = "SIGNAL"
    TLE_CPU = "TLE_CPU"
    TLE_WALL = "TLE_WALL"
    MLE = "MLE"
    OLE = "OLE"
    DENIED = "DENIED"
    POISON = "POISON"
    INFRA = "INFRA"
    CANCELLED = "CANCELLED"

    @property
    def is_fault(self) -> bool:
        """True when the sandbox failed rather than the program: masked, never a reward."""
        return self in (Status.INFRA, Status.CANCELLED)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one program may use. The same for every program of a run: limits must not hint at a target."""

    cpu_ms: int = 1_000
    wall_ms: int = 3_000
    memory_mb: int = 128
    max_items: int = 4_096
    """Items in any one value of the trace; a longer value ends the program with OLE."""
    output_bytes: int = 1_048_576
    """Bytes of the whole reported trace."""


@dataclass(frozen=True, slots=True)
class Job:
    """One program to run.

    `language` names the prelude: "dsl" puts the functions of `kolmocli/language/functions.py` in
    scope, "python" starts empty. `group` is an opaque label: two jobs of one group are not run back
    to back in one container. `avoid` names a container that must not run this job (a winner is
    confirmed elsewhere).
    """

    program: str
    language: Literal["dsl", "python"] = "dsl"
    group: int = 0
    avoid: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the sandbox says of one program.

    `trace[i]` is the value of top-level statement i (None: the statement has no value, or one that is
    not a sequence of integers). It holds the statements that finished, so it is kept for a program that
    failed later, and is as long as the program only when the status is OK.
    """

    status: Status
    trace: tuple[Value | None, ...] = ()
    cpu_ms: float = 0.0
    wall_ms: float = 0.0
    container: str = ""
    attempt: int = 1
    detail: str = ""

    @property
    def value(self) -> Value | None:
        """The value of the last statement of a program that ended normally, else None."""
        return self.trace[-1] if self.status is Status.OK and self.trace else None


@dataclass(slots=True)
class Health:
    """Counters of one sandbox since it was opened."""

    backend: str = ""
    executed: int = 0
    infra: int = 0
    replaced: int = 0
    busy_seconds: float = 0.0
    statuses: dict[str, int] = field(default_factory=dict)

    @property
    def programs_per_second(self) -> float | None:
        """While it had any to run; None before the first."""
        return self.executed / self.busy_seconds if self.busy_seconds else None

    def __add__(self, other: Health) -> Health:
        """Of two sandboxes, one after the other; the backend is the later one's."""
        names = {*self.statuses, *other.statuses}
        return Health(
            other.backend,
            self.executed + other.executed,
            self.infra + other.infra,
            self.replaced + other.replaced,
            self.busy_seconds + other.busy_seconds,
            {name: self.statuses.get(name, 0) + other.statuses.get(name, 0) for name in names},
        )


class Sandbox(Protocol):
    """A place to run hostile programs. Any thread may submit; `close` is idempotent."""

    limits: Limits

    def submit(self, jobs: Sequence[Job]) -> Future[list[Verdict]]:
        """Start a batch; the future gives one verdict per job, in order."""
        ...

    def run(self, jobs: Sequence[Job]) -> list[Verdict]:
        """`submit(jobs).result()`: run a batch and wait for it."""
        ...

    def health(self) -> Health: ...

    def check(self) -> list[dict[str, Any]]:
        """Every promise with what was found inside: `{"promise", "expected", "found", "ok"}`."""
        ...

    def close(self) -> None: ...
