"""The contract of every sandbox: batches of programs in, verdicts out, in order, exactly once.

A sandbox knows bytes and limits. It never learns the target of a program, nor its reward: the
value of every statement comes back and the host compares (a program cannot leak what never went in).
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from enum import StrEnum
from keyword import iskeyword
from typing import Any, Literal, Protocol, Self, get_args

from kolmocli.errors import UsageError, suggest
from kolmocli.sandbox.wire import values
from kolmocli.sandbox.wire.values import Opaque as Opaque, Raised as Raised

Language = Literal["dsl", "python", "cpp", "javascript"]
"""Names in scope: "dsl" has the functions of `kolmocli/language/functions.py`, "python" starts empty."""
LANGUAGES: tuple[Language, ...] = get_args(Language)
NATIVE: dict[str, str] = {"cpp": "cpp", "javascript": "node"}
"""Languages with containers of their own, by what `--with` calls them."""


def packages_for(languages: Iterable[str], packages: Iterable[str] = ()) -> list[str]:
    """These packages, and what programs in these languages need, in order."""
    return sorted({*packages, *(NATIVE[language] for language in languages if language in NATIVE)})


Value = tuple[int, ...]
"""The value of a statement as a sequence of integers: an int is a 1-tuple, bytes their byte values,
a str its code points; list, tuple and range of int as they are, by exact built-in type."""


class Status(StrEnum):
    """End of a program. Only OK can pass; INFRA and CANCELLED say nothing about the program."""

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


_NO_LIMIT = 1 << 32
"""More than a frame has room for."""
_OF_A_JOB = ("cpu_ms", "wall_ms", "memory_mb")
"""Limits that each job can have of its own."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one program. In training they are the same for every program: limits must not hint at a target."""

    cpu_ms: int = 1_000
    wall_ms: int = 3_000
    memory_mb: int = 128
    max_items: int = 4_096
    """Items in any one value of the trace; the result of a call may have 16 times as many. A longer one ends the program with OLE."""
    output_bytes: int = 1_048_576
    """Bytes of the whole reported trace; of a script: of all that it prints."""
    input_bytes: int = 1_048_576
    """Bytes of a program with its calls or inputs; a longer one is not run, and is SYNTAX. Both can be 64 MiB."""

    def __post_init__(self) -> None:
        """Raises UsageError for what is no limit."""
        for name in self.__slots__:
            value = getattr(self, name)
            if type(value) is not int or not 0 < value < _NO_LIMIT:
                raise UsageError(f"{name}={value!r}: a limit is a whole number from 1 to {_NO_LIMIT - 1:,}")

    def of(self, job: Job, most: Limits | None = None) -> Limits:
        """These limits, with those that a job has of its own, up to those of `most` (None: these).

        Raises:
            UsageError: a limit of the job is not positive, or above the sandbox's.
        """
        if job.cpu_ms is job.wall_ms is job.memory_mb is None:
            return self
        own = {name: value for name in _OF_A_JOB if (value := getattr(job, name)) is not None}
        for name, value in own.items():
            highest = getattr(most or self, name)
            if not 0 < value <= highest:
                raise UsageError(
                    f"{name}={value} of a job: from 1 to the {highest} of its sandbox; a job can only "
                    f"lower a limit, open_sandbox(limits=Limits({name}=…)) sets it for all"
                )
        return replace(self, **own)

    def within(self, most: Limits) -> Limits:
        """These limits of a job as far as `most` allows them; the others are those of `most`."""
        return replace(most, **{name: min(getattr(self, name), getattr(most, name)) for name in _OF_A_JOB})


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function that a program defines: `Call.of("area", 3, 4, unit="m")`. Make one with `of`."""

    function: str
    code: str
    """Its arguments as text (`wire/values.py`): every run gets fresh copies, and calls can be compared."""

    @classmethod
    def of(cls, function: str, /, *arguments: Any, **keywords: Any) -> Call:
        """Raises UsageError when this is no name of a function, or an argument is not a plain value."""
        if not function.isidentifier() or iskeyword(function):
            raise UsageError(f"a call of {function!r}: only functions that have a name of their own can be called")
        try:
            return cls(function, values.encode([[*arguments], keywords], _MOST_ITEMS))
        except (values.NotPlain, values.TooLong) as error:
            raise UsageError(f"the arguments of {function}: {error}; only plain values go to a program") from None

    @property
    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """Positional arguments, and those by name."""
        by_position, by_name = values.decode(json.loads(self.code))
        return by_position, by_name


_MOST_ITEMS = 1 << 20
"""In the arguments of one call."""


@dataclass(frozen=True, slots=True)
class Job:
    """One program to run, with limits of its own below those of the sandbox.

    The verdict has the value of each of its statements as a sequence of integers; with `plain` the values as they
    are. With `calls` it is what each of these calls returns, after the program has run. With `inputs` the program is a
    script that runs once for each and reads it from stdin, and the verdict has the printed texts. All three are for Python,
    and `calls` and `inputs` exclude each other. A job in C++ or JavaScript has inputs and nothing else.

    `files` are names and contents that a script in Python finds beside it, each of its runs anew:
    `(("numbers.txt", b"1 2 3"),)`. They count as its memory, and as its input.

    `group` is an opaque label: two jobs of one group are not run back to back in one container. `avoid` names a
    container that must not run this job (a winner is confirmed elsewhere).
    """

    program: str
    language: Language = "python"
    plain: bool = False
    calls: tuple[Call, ...] = ()
    inputs: tuple[str, ...] = ()
    files: tuple[tuple[str, bytes], ...] = ()
    group: int = 0
    avoid: str | None = None
    cpu_ms: int | None = None
    wall_ms: int | None = None
    memory_mb: int | None = None

    def __post_init__(self) -> None:
        """Raises UsageError for a job of no kind, or of two at once: one of them would have to be left out."""
        if self.language not in LANGUAGES:
            raise UsageError(f"a job in {self.language!r}: {suggest(str(self.language), LANGUAGES)}")
        for name in ("calls", "inputs", "files"):
            object.__setattr__(self, name, _several(getattr(self, name)))
        if not all(isinstance(text, str) for text in (self.program, *self.inputs)):
            raise UsageError("a program is a text, and its inputs are a tuple of texts: inputs=(text,)")
        if not all(isinstance(call, Call) for call in self.calls):
            raise UsageError('calls are a tuple of what Call.of makes: calls=(Call.of("f", 1),)')
        if not all(map(_is_file, self.files)):
            raise UsageError('files are a tuple of names and contents in bytes: files=(("a.txt", b"1"),)')
        if self.language == "dsl" and (self.plain or self.calls or self.inputs):
            raise UsageError(
                "a job in the small language has no plain values, no calls and no inputs: they are for Python"
            )
        if self.language in NATIVE and (self.plain or self.calls or not self.inputs):
            raise UsageError(
                f"a job in {self.language} is a script with inputs and without calls; for one that reads nothing: inputs=('',)"
            )
        if self.calls and self.inputs:
            raise UsageError("a job has calls or inputs, never both: it is a module or a script")
        if self.files and (self.language != "python" or not self.inputs):
            raise UsageError(
                "files are for scripts in Python: a job with inputs; for one that reads nothing: inputs=('',)"
            )
        times = Counter(name for name, _ in self.files)
        for name, count in times.items():
            if count > 1 or not _is_file_name(name):
                raise UsageError(f"a file {name[:60]!r}: names are relative, without . and .., and each is there once")


def _several(given: object) -> tuple[Any, ...]:
    """A tuple, which can be hashed and read again; one thing alone is wrong in it."""
    return tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (None,)


def _is_file(given: object) -> bool:
    return isinstance(given, tuple) and list(map(type, given)) == [str, bytes]


def _is_file_name(name: str) -> bool:
    return name.isprintable() and all(part not in ("", ".", "..") for part in name.split("/"))


Programs = Sequence[Job | str] | Job | str
"""A batch: jobs, or texts in Python. One alone is a batch of one."""


def jobs_of(programs: Programs) -> list[Job]:
    """The jobs of a batch."""
    batch = [programs] if isinstance(programs, (Job, str)) else programs
    return [Job(each) if isinstance(each, str) else each for each in batch]


def limited(programs: Programs, limits: Limits, most: Limits, native: Collection[str] = ()) -> list[tuple[Job, Limits]]:
    """The jobs of a batch, each with what it may use in a sandbox with these limits.

    Raises:
        UsageError: as `Limits.of`, or a job in a language beyond Python that is not among `native`.
    """
    usual = limits.within(most)
    jobs = jobs_of(programs)
    for job in jobs:
        if job.language in NATIVE and job.language not in native:
            name = NATIVE[job.language]
            raise UsageError(
                f"a job in {job.language}: this sandbox has no {name}; build it with kolmo sandbox build --with {name}, and open "
                f'a Docker sandbox with packages=["{name}"] (--with {name})'
            )
    return [(job, usual.of(job, most)) for job in jobs]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A sandbox's verdict on one program.

    `trace[i]` is the value of top-level statement i (None: the statement has no value, or one that is
    not a sequence of integers). It holds the statements that finished, so it is kept for a program that
    failed later, and is as long as the program only when the status is OK.

    For a plain job it holds values of any plain type, or `Opaque` for one of another type. For calls and inputs it
    holds the result of each: the value that was returned or the text that was printed, `Raised` where an exception ended
    it, which ends nothing else, and `Opaque`.
    """

    status: Status
    trace: tuple[Any, ...] = ()
    cpu_ms: float = 0.0
    wall_ms: float = 0.0
    container: str = ""
    attempt: int = 1
    detail: str = ""

    @property
    def value(self) -> Any:
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

    def count(self, status: Status) -> None:
        """A job has ended with this."""
        self.executed += 1
        self.infra += status.is_fault
        self.statuses[status.value] = self.statuses.get(status.value, 0) + 1

    def copy(self) -> Health:
        """As it is now: what counts goes on counting."""
        return replace(self, statuses=dict(self.statuses))

    @property
    def programs_per_second(self) -> float | None:
        """While it had any to run; None before the first."""
        return self.executed / self.busy_seconds if self.busy_seconds else None

    def __add__(self, other: Health) -> Health:
        """The health of two sandboxes, one after the other; the backend is the later one's."""
        names = {*self.statuses, *other.statuses}
        return Health(
            other.backend,
            self.executed + other.executed,
            self.infra + other.infra,
            self.replaced + other.replaced,
            self.busy_seconds + other.busy_seconds,
            {name: self.statuses.get(name, 0) + other.statuses.get(name, 0) for name in names},
        )


class Owner:
    """The process that opened a sandbox. A fork of it has none of its threads, and must not end what they use."""

    def __init__(self) -> None:
        self._process = os.getpid()

    def is_here(self) -> bool:
        return os.getpid() == self._process

    def require(self) -> None:
        if not self.is_here():
            raise UsageError("the sandbox was opened by the process that this one was forked from; open one here")


class Sandbox(Protocol):
    """A place to run hostile programs, open until its `with` block ends or `close` is called.

    Any thread may submit; `close` is idempotent. A sandbox of your own inherits `run` and `with`.
    """

    limits: Limits

    def submit(self, programs: Programs) -> Future[list[Verdict]]:
        """Start a batch; the future gives one verdict per program, in order.

        Raises:
            UsageError: a limit of a job is above the sandbox's.
        """
        ...

    def run(self, programs: Programs) -> list[Verdict]:
        """Run a batch and wait for it: one verdict per program, in order."""
        return self.submit(programs).result()

    def health(self) -> Health: ...

    def check(self) -> list[dict[str, Any]]:
        """Every promise with what was found inside: `{"promise", "expected", "found", "ok"}`."""
        ...

    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
