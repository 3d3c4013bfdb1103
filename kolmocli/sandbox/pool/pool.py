"""A pool of containers: batches in, verdicts out, in order, exactly once, whatever happens to a container.

One thread owns all connections and all state (`queue.py`: the jobs; `workers.py`: the containers); two more make
and end containers, which blocks. A program is pure, so that a lost one is simply run again:

- a container that ends takes its programs in flight with it; all are run again, each alone in its container;
- a program that ends two containers alone, by itself, is POISON: that is the program's fault;
- a program that is lost too often in other ways, or that waits too long for any container, is INFRA.
"""

from __future__ import annotations

import itertools
import queue
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Collection
from concurrent.futures import Future
from typing import Any

from kolmocli.errors import KolmoError
from kolmocli.sandbox.base import Health, Job, Limits, Owner, Programs, Sandbox, Verdict, limited
from kolmocli.sandbox.pool.link import LinkError, Maker
from kolmocli.sandbox.pool.queue import Batch, JobQueue, QueuedJob, payload, pick
from kolmocli.sandbox.pool.retries import Retries
from kolmocli.sandbox.pool.workers import Worker, Workers
from kolmocli.sandbox.wire import frames, verdicts

_MOST_FLYING = 8 << 20
"""Bytes on their way to one container, beyond which nothing more is sent: it has to hold them."""


class Pool(Sandbox):
    """The `Sandbox` of both backends; they differ in their `Maker`."""

    def __init__(
        self,
        backend: str,
        maker: Maker[Any],
        limits: Limits,
        workers: int,
        window: int,
        retries: Retries | None = None,
        most: Limits | None = None,
        native: Collection[str] = (),
    ) -> None:
        """`native`: all that it runs is in these languages. Their containers are as new to every program, and take no spacer."""
        self.native, self._owner = native, Owner()
        self.limits, self.most = limits, most or limits
        self.retries = retries or Retries()
        try:
            first = maker.make()  # in the caller's thread: what is wrong with it is the caller's to know
        except LinkError as error:
            maker.close()
            raise KolmoError(f"the {backend} sandbox does not start: {error}") from error
        except BaseException:
            maker.close()
            raise
        self._window = window
        self._numbers = itertools.count(1)
        self._closed = False
        self._submitted, self._counting = 0, threading.Lock()
        self._calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._wake_out, self._wake_in = socket.socketpair()
        self._wake_out.setblocking(False)
        self._wake_in.setblocking(False)
        self._spacer = b"" if native else frames.encode(frames.RUN, 0, payload(Job("0"), limits))
        """Put between two programs of one group when there is nothing else to run. Request 0 has no batch."""
        self._jobs = JobQueue(backend, self.retries)
        self._workers = Workers(maker, workers, self.most, self._jobs, self._call)
        self._workers.selector.register(self._wake_out, selectors.EVENT_READ, None)
        self._workers.add(first)
        self._thread = threading.Thread(target=self._loop, name="kolmo-sandbox", daemon=True)
        self._thread.start()

    # ---- for callers, from any thread

    def submit(self, programs: Programs) -> Future[list[Verdict]]:
        self._owner.require()
        if self._closed:
            raise RuntimeError("the sandbox is closed")
        jobs = limited(programs, self.limits, self.most, self.native)
        future: Future[list[Verdict]] = Future()
        future.set_running_or_notify_cancel()  # a batch that was started cannot be called back
        batch = Batch(future, [None] * len(jobs), len(jobs))
        items = [QueuedJob(batch, at, job, limits, payload(job, limits)) for at, (job, limits) in enumerate(jobs)]
        with self._counting:
            self._submitted += len(items)
        self._call(lambda: self._jobs.add(batch, items))
        return future

    def withdraw(self, future: Future[list[Verdict]]) -> None:
        """The caller has given this batch up: those of its jobs that no container has are not run, and are CANCELLED."""
        if not self._closed:
            self._call(lambda: self._jobs.withdraw(future))

    @property
    def unsettled(self) -> int:
        """Jobs that were submitted and have no verdict yet."""
        return self._submitted - self._jobs.health.executed

    @property
    def waiting(self) -> int:
        """Those of them that no container has."""
        return len(self._jobs.waiting) + len(self._jobs.suspects)

    @property
    def containers(self) -> int:
        """Or worker processes, of those that are there now."""
        return len(self._workers.all)

    @property
    def broken(self) -> BaseException | None:
        """Why nothing is run any more; None while it works."""
        return self._jobs.broken

    def health(self) -> Health:
        return self._jobs.health.copy()

    def check(self) -> list[dict[str, Any]]:
        """Every promise with what the newest container found inside."""
        return [dict(finding) for finding in self._workers.findings]

    def close(self) -> None:
        """End all containers; programs that still wait become CANCELLED."""
        if not self._closed and self._owner.is_here():
            self._closed = True
            self._call(self._stop)
            self._thread.join()
            self._workers.close(self._drain_calls)
            self._wake_in.close()
            self._wake_out.close()

    # ---- the thread that owns everything below

    def _call(self, function: Callable[[], None]) -> None:
        self._calls.put(function)
        try:
            self._wake_in.send(b"x")
        except BlockingIOError:
            return  # it is already awake

    def _loop(self) -> None:
        while not self._jobs.closed:
            try:
                self._turn()
            except Exception as error:
                self._workers.give_up(error)  # a defect: who waits for a batch hears of it instead of waiting for ever

    def _turn(self) -> None:
        self._workers.grow()
        workers = self._workers.all
        for worker in list(workers):
            self._feed(worker)
        woken = False
        for key, events in self._workers.selector.select(0.5):
            if key.data is None:
                woken = True
            elif key.data in workers:
                if events & selectors.EVENT_READ:
                    self._read(key.data)
                if events & selectors.EVENT_WRITE and key.data in workers:
                    self._write(key.data)
        self._workers.watch()
        if woken:  # last, as the call may be the one that closes everything
            self._answer_calls()

    def _answer_calls(self) -> None:
        try:
            self._wake_out.recv(4096)
        except BlockingIOError:
            return
        self._drain_calls()

    def _drain_calls(self) -> None:
        while True:
            try:
                call = self._calls.get_nowait()
            except queue.Empty:
                return
            call()

    def _stop(self) -> None:
        self._jobs.close(item for worker in self._workers.all for item in worker.flying.values())
        self._workers.leave()

    # ---- giving out programs

    def _feed(self, worker: Worker) -> None:
        if worker.solo and worker.flying:
            return
        worker.solo = False
        if worker.retiring and any(not other.retiring for other in self._workers.all):
            if not worker.flying:
                self._workers.drop(worker)
            return
        queue, suspects = self._jobs.waiting, self._jobs.suspects
        if suspects:
            if worker.flying:
                return  # a suspect waits until this one is empty
            item = self._take(suspects, worker)
            if item:
                worker.solo = True
                self._put(worker, item)
        else:
            flying = sum(len(item.payload) for item in worker.flying.values())
            while len(worker.flying) < self._window and flying < _MOST_FLYING and queue:
                item = self._take(queue, worker)
                if item is None:
                    break
                flying += len(item.payload)
                self._put(worker, item)
        if worker.outbox and not worker.writing:
            self._write(worker)

    def _take(self, waiting: deque[QueuedJob], worker: Worker) -> QueuedJob | None:
        item = pick(waiting, worker.link.id, worker.group)
        if item is None and waiting and len(self._workers.all) == 1:
            worker.retiring = True  # the only container is the one to avoid: get another
        return item

    def _put(self, worker: Worker, item: QueuedJob) -> None:
        number = next(self._numbers) & 0xFFFFFFFF or next(self._numbers) & 0xFFFFFFFF
        if item.job.group and item.job.group == worker.group:
            worker.outbox += self._spacer
        worker.group = item.job.group
        worker.flying[number] = item
        worker.programs += 1
        worker.outbox += frames.encode(frames.RUN, number, item.payload)
        if len(worker.flying) == 1:
            worker.heard = time.monotonic()
        if worker.programs >= self.retries.renew_programs:
            worker.retiring = True

    def _write(self, worker: Worker) -> None:
        try:
            with memoryview(worker.outbox) as waiting:  # no copy: there may be much of it, and little is taken at once
                taken = worker.link.send(waiting)
        except LinkError:
            self._workers.drop(worker)
            return
        del worker.outbox[:taken]
        if worker.writing is not bool(worker.outbox):
            worker.writing = bool(worker.outbox)
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if worker.outbox else 0)
            self._workers.selector.modify(worker.link.fileno(), events, worker)

    def _read(self, worker: Worker) -> None:
        try:
            data = worker.link.receive()
            if data is None:
                return
            if not data:
                self._workers.drop(worker)
                return
            worker.heard = time.monotonic()
            for kind, number, content in worker.reader.feed(data):
                if kind == frames.RESULT and number in worker.flying:
                    item = worker.flying[number]
                    verdict = verdicts.read(content, item.job, item.limits, worker.link.id, item.attempt)
                    del worker.flying[number]
                    if item.attempt < self.retries.starved_runs and verdicts.is_starved(verdict, item.limits):
                        self._jobs.requeue([item], guilty=False)  # it runs again, alone: the load was not its own
                    else:
                        self._jobs.settle(item, verdict)
                elif kind != frames.PING and not (kind == frames.RESULT and number == 0):
                    raise frames.FrameError(f"no request for frame {kind} {number}")
        except (frames.FrameError, LinkError):
            self._workers.drop(worker)
