"""Every job that has come in and not yet gone out: where it waits, how often it was tried, and how it ended.

A job is settled exactly once, whatever happens to the containers it was in.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from kolmocli.sandbox.base import Health, Job, Limits, Status, Verdict
from kolmocli.sandbox.pool.link import with_reason
from kolmocli.sandbox.pool.retries import Retries
from kolmocli.sandbox.pool.stderr import Tail
from kolmocli.sandbox.wire import frames

_LOOK_AHEAD = 64
"""Jobs that a container looks ahead for a program of another group."""


@dataclass(slots=True, eq=False)
class Batch:
    """Jobs of one `submit`, and the future that waits for them."""

    future: Future[list[Verdict]]
    results: list[Verdict | None]
    left: int


@dataclass(slots=True, eq=False)
class QueuedJob:
    """One job on its way through the pool."""

    batch: Batch
    index: int
    job: Job
    limits: Limits
    payload: bytes
    """The payload of the RUN frame."""
    attempt: int = 1
    solo_kills: int = 0


_SCRIPTS = {"python": frames.SCRIPT, "cpp": frames.CPP, "javascript": frames.JAVASCRIPT}


def payload(job: Job, limits: Limits) -> bytes:
    """A job as the payload of a RUN frame."""
    program, kind, more = job.program.encode("utf-8", "surrogatepass"), frames.PYTHON, b""
    if job.language == "dsl":
        kind = frames.DSL
    elif job.calls:
        kind = frames.CALLS
        more = f"[{','.join(f'[{json.dumps(c.function)},{c.code}]' for c in job.calls)}]".encode()
    elif job.inputs:
        kind = _SCRIPTS[job.language]
        more = frames.listed(text.encode("utf-8", "surrogatepass") for text in job.inputs)
        if job.files:
            kind = frames.FILES
            more = frames.join(frames.listed(part for name, data in job.files for part in (name.encode(), data)), more)
    elif job.plain:
        kind = frames.PLAIN
    if more:
        program = frames.join(program, more)
    return frames.PROGRAM.pack(kind, limits.cpu_ms, limits.wall_ms, limits.memory_mb) + program


def pick(waiting: deque[QueuedJob], container: str, group: int) -> QueuedJob | None:
    """Take the first job that may run in this container, preferably of another group than the one it ran last."""
    fallback = None
    for at in range(min(_LOOK_AHEAD, len(waiting))):
        job = waiting[at].job
        if job.avoid == container:
            continue
        if not job.group or job.group != group:
            fallback = at
            break
        fallback = at if fallback is None else fallback
    if fallback is None:
        return None
    item = waiting[fallback]
    del waiting[fallback]
    return item


class JobQueue:
    """Waiting jobs, and the end of each. It belongs to the pool's thread."""

    def __init__(self, backend: str, retries: Retries) -> None:
        self.retries = retries
        self.waiting: deque[QueuedJob] = deque()
        self.suspects: deque[QueuedJob] = deque()
        """Jobs that lost their container: each is run again, alone in one."""
        self.broken: BaseException | None = None
        """Why nothing is run any more."""
        self.closed = False
        self.health = Health(backend=backend)
        self._open: set[Batch] = set()
        self._busy_since: float | None = None

    def add(self, batch: Batch, items: Sequence[QueuedJob]) -> None:
        """Take a batch in; what cannot be run is settled at once."""
        if self.broken:
            batch.future.set_exception(self.broken)
            return
        if not items:
            batch.future.set_result([])
            return
        if not self._open:
            self._busy_since = time.monotonic()
        self._open.add(batch)
        for item in items:
            if self.closed:
                self.cancel([item])
            elif len(item.payload) - frames.PROGRAM.size >= item.limits.input_bytes:
                detail = f"longer than {item.limits.input_bytes >> 20} MiB"
                self.settle(item, Verdict(Status.SYNTAX, detail=detail))
            else:
                self.waiting.append(item)

    def settle(self, item: QueuedJob, verdict: Verdict) -> None:
        """The one way out for a job that was run, or never will be."""
        batch = item.batch
        batch.results[item.index] = verdict
        batch.left -= 1
        self.health.count(verdict.status)
        if not batch.left and batch in self._open:
            self._leave(batch)
            batch.future.set_result([v for v in batch.results if v is not None])

    def requeue(self, items: Iterable[QueuedJob], guilty: bool, stderr: Tail | None = None) -> None:
        """Put back jobs whose container is gone; `guilty`: the only one in it, which ended by itself.

        `stderr` is what that container wrote: its last line goes into the verdict of a job that is not run again.
        """
        stderr = stderr or Tail()
        for item in items:
            item.attempt += 1
            item.solo_kills += guilty
            if self.broken:
                continue  # its batch has already failed
            if self.closed:
                self.cancel([item])
            elif item.solo_kills >= self.retries.solo_kills:
                detail = with_reason(f"ended {item.solo_kills} containers alone", stderr)
                self.settle(item, Verdict(Status.POISON, attempt=item.attempt - 1, detail=detail))
            elif item.attempt > self.retries.attempts:
                detail = with_reason(f"lost {self.retries.attempts} times with its container", stderr)
                self.settle(item, Verdict(Status.INFRA, attempt=item.attempt - 1, detail=detail))
            else:
                self.suspects.append(item)

    def starve(self, reason: str) -> None:
        """No container can be had: whatever waits for one is INFRA."""
        detail = f"no container could be had: {reason}" if reason else "no container could be had"
        for item in self._take_all():
            self.settle(item, Verdict(Status.INFRA, attempt=item.attempt, detail=detail))

    def close(self, flying: Iterable[QueuedJob]) -> None:
        """Nothing more is run: what waits or flies is CANCELLED."""
        self.closed = True
        self.cancel([*self._take_all(), *flying])

    def cancel(self, items: Iterable[QueuedJob]) -> None:
        for item in items:
            self.settle(item, Verdict(Status.CANCELLED, detail="the sandbox was closed"))

    def withdraw(self, future: Future[list[Verdict]]) -> None:
        """Cancel the waiting jobs of this batch; those in flight end as they end. A batch that is over stays as it is."""
        for batch in self._open:
            if batch.future is future:
                break
        else:
            return
        items = [item for item in (*self.waiting, *self.suspects) if item.batch is batch]
        self.waiting = deque(item for item in self.waiting if item.batch is not batch)
        self.suspects = deque(item for item in self.suspects if item.batch is not batch)
        for item in items:
            self.settle(item, Verdict(Status.CANCELLED, detail="withdrawn by who submitted it"))

    def fail(self, error: BaseException) -> None:
        """All open batches, and all that come later, raise this error."""
        self.broken = error
        self._take_all()
        for batch in list(self._open):
            self._leave(batch)
            batch.future.set_exception(error)

    def _take_all(self) -> list[QueuedJob]:
        taken = [*self.waiting, *self.suspects]
        self.waiting.clear()
        self.suspects.clear()
        return taken

    def _leave(self, batch: Batch) -> None:
        self._open.remove(batch)
        if not self._open and self._busy_since is not None:
            self.health.busy_seconds += time.monotonic() - self._busy_since
            self._busy_since = None
