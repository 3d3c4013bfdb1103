"""Every program that has come in and not yet gone out, and the counts of those that have.

A program is settled exactly once, whatever happens to the containers it was in. It belongs to the pool's thread.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Sequence

from kolmocli.sandbox.base import Health, Status, Verdict
from kolmocli.sandbox.pool.flight import MAX_PROGRAM, Batch, Item, Patience


class Ledger:
    """Where programs wait, and how each of them ends."""

    def __init__(self, backend: str, patience: Patience) -> None:
        self.patience = patience
        self.queue: deque[Item] = deque()
        self.suspects: deque[Item] = deque()
        """Programs that lost their container: each is run again, alone in one."""
        self.broken: BaseException | None = None
        """Why nothing is run any more."""
        self.closed = False
        self.health = Health(backend=backend)
        self._open: set[Batch] = set()
        self._busy_since: float | None = None

    def enter(self, batch: Batch, items: Sequence[Item]) -> None:
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
            elif len(item.payload) > MAX_PROGRAM:
                self.settle(item, Verdict(Status.SYNTAX, detail="longer than 1 MiB"))
            else:
                self.queue.append(item)

    def settle(self, item: Item, verdict: Verdict) -> None:
        """The one way out for a program that was run, or never will be."""
        batch = item.batch
        batch.results[item.index] = verdict
        batch.left -= 1
        health = self.health
        health.executed += 1
        health.infra += verdict.status.is_fault
        health.statuses[verdict.status.value] = health.statuses.get(verdict.status.value, 0) + 1
        if not batch.left and batch in self._open:
            self._leave(batch)
            batch.future.set_result([v for v in batch.results if v is not None])

    def lost(self, items: Iterable[Item], guilty: bool) -> None:
        """Programs whose container is gone; `guilty`: the only one in it, which ended by itself."""
        for item in items:
            item.attempt += 1
            item.solo_kills += guilty
            if self.broken:
                continue  # its batch has already failed
            if self.closed:
                self.cancel([item])
            elif item.solo_kills >= self.patience.solo_kills:
                detail = f"ended {item.solo_kills} containers alone"
                self.settle(item, Verdict(Status.POISON, attempt=item.attempt - 1, detail=detail))
            elif item.attempt > self.patience.attempts:
                detail = f"lost {self.patience.attempts} times with its container"
                self.settle(item, Verdict(Status.INFRA, attempt=item.attempt - 1, detail=detail))
            else:
                self.suspects.append(item)

    def starve(self) -> None:
        """No container can be had: whatever waits for one is INFRA."""
        for item in self._waiting():
            self.settle(item, Verdict(Status.INFRA, attempt=item.attempt, detail="no container could be had"))

    def close(self, flying: Iterable[Item]) -> None:
        """Nothing more is run: what waits or flies is CANCELLED."""
        self.closed = True
        self.cancel([*self._waiting(), *flying])

    def cancel(self, items: Iterable[Item]) -> None:
        for item in items:
            self.settle(item, Verdict(Status.CANCELLED, detail="the sandbox was closed"))

    def fail(self, error: BaseException) -> None:
        """All open batches, and all that come later, raise this error."""
        self.broken = error
        self._waiting()
        for batch in list(self._open):
            self._leave(batch)
            batch.future.set_exception(error)

    def _waiting(self) -> list[Item]:
        waiting = [*self.queue, *self.suspects]
        self.queue.clear()
        self.suspects.clear()
        return waiting

    def _leave(self, batch: Batch) -> None:
        self._open.remove(batch)
        if not self._open and self._busy_since is not None:
            self.health.busy_seconds += time.monotonic() - self._busy_since
            self._busy_since = None
