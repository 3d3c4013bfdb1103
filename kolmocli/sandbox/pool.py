"""A pool of links: batches in, verdicts out, in order, exactly once, whatever happens to a container.

One thread owns all connections and all state; two more make and end containers, which blocks. A program is
pure, so that a lost one is simply run again:

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
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from kolmocli.errors import KolmoError
from kolmocli.sandbox import frames, report
from kolmocli.sandbox.base import Health, Job, Limits, Status, Verdict
from kolmocli.sandbox.flight import MAX_PROGRAM, SPACER, STARVED, Batch, Item, Patience, Worker, pick
from kolmocli.sandbox.link import Link, LinkError, Maker


class Pool:
    """The `Sandbox` of both backends; they differ in their `Maker`."""

    def __init__(
        self,
        backend: str,
        maker: Maker[Any],
        limits: Limits,
        workers: int,
        window: int,
        patience: Patience | None = None,
    ) -> None:
        self.limits = limits
        self.patience = patience or Patience()
        self._maker, self._size, self._window = maker, workers, window
        self._silence = self.patience.silence + STARVED * limits.wall_ms / 1000
        self._health = Health(backend=backend)
        self._findings: list[dict[str, Any]] = []
        self._workers: list[Worker] = []
        self._queue: deque[Item] = deque()
        self._suspects: deque[Item] = deque()
        self._numbers = itertools.count(1)
        self._making = 0
        self._drought = time.monotonic()
        self._retry_at = 0.0
        self._broken: KolmoError | None = None
        self._closing = False
        self._busy_since: float | None = None
        try:
            first = maker.make()  # in the caller's thread: what is wrong with it is the caller's to know
        except LinkError as error:
            maker.close()
            raise KolmoError(f"the {backend} sandbox does not start: {error}") from error
        except BaseException:
            maker.close()
            raise
        self._calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._wake_out, self._wake_in = socket.socketpair()
        self._wake_out.setblocking(False)
        self._wake_in.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._wake_out, selectors.EVENT_READ, None)
        self._hands = ThreadPoolExecutor(2, thread_name_prefix="kolmo-sandbox-hands")
        self._join(first)
        self._thread = threading.Thread(target=self._loop, name="kolmo-sandbox", daemon=True)
        self._thread.start()

    # ---- for callers, from any thread

    def submit(self, jobs: Sequence[Job]) -> Future[list[Verdict]]:
        """Start a batch; the future gives one verdict per job, in order."""
        future: Future[list[Verdict]] = Future()
        batch = Batch(future, [None] * len(jobs), len(jobs))
        items = []
        for index, job in enumerate(jobs):
            language = frames.DSL if job.language == "dsl" else frames.PYTHON
            items.append(Item(batch, index, job, language + job.program.encode("utf-8", "surrogatepass")))
        self._call(lambda: self._enter(items, batch))
        return future

    def run(self, jobs: Sequence[Job]) -> list[Verdict]:
        """Run a batch and wait for it."""
        return self.submit(jobs).result()

    def health(self) -> Health:
        h = self._health
        return Health(h.backend, h.executed, h.infra, h.replaced, h.busy_seconds, dict(h.statuses))

    def check(self) -> list[dict[str, Any]]:
        """Every promise with what the newest container found inside."""
        return [dict(finding) for finding in self._findings]

    def close(self) -> None:
        """End all containers; programs that still wait become CANCELLED."""
        if not self._closing:
            self._call(self._stop)
            self._thread.join()
            self._hands.shutdown(wait=True)
            self._drain_calls()
            for worker in self._workers:
                self._maker.end(worker.link)
            self._workers.clear()
            self._maker.close()
            self._wake_in.close()
            self._wake_out.close()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- the thread that owns everything below

    def _call(self, function: Callable[[], None]) -> None:
        self._calls.put(function)
        try:
            self._wake_in.send(b"x")
        except BlockingIOError:
            return  # it is already awake

    def _loop(self) -> None:
        while not self._closing:
            self._grow()
            for worker in list(self._workers):
                self._feed(worker)
            for key, events in self._selector.select(0.5):
                if key.data is None:
                    self._answer_calls()
                elif key.data in self._workers:
                    if events & selectors.EVENT_READ:
                        self._read(key.data)
                    if events & selectors.EVENT_WRITE and key.data in self._workers:
                        self._write(key.data)
            self._watch()

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

    def _enter(self, items: list[Item], batch: Batch) -> None:
        if self._busy_since is None:
            self._busy_since = time.monotonic()
        if not items:
            batch.future.set_result([])
        for item in items:
            if self._broken:
                batch.future.set_exception(self._broken)
                return
            if self._closing:
                self._settle(item, Verdict(Status.CANCELLED, detail="the sandbox was closed"))
            elif len(item.payload) > MAX_PROGRAM:
                self._settle(item, Verdict(Status.SYNTAX, detail="longer than 1 MiB"))
            else:
                self._queue.append(item)

    def _settle(self, item: Item, verdict: Verdict) -> None:
        batch = item.batch
        batch.results[item.index] = verdict
        batch.left -= 1
        health = self._health
        health.executed += 1
        health.infra += verdict.status.is_fault
        health.statuses[verdict.status.value] = health.statuses.get(verdict.status.value, 0) + 1
        if not batch.left:
            if not self._queue and not self._suspects and not any(w.flying for w in self._workers):
                self._rest()
            if not batch.future.done():
                batch.future.set_result([v for v in batch.results if v is not None])

    def _rest(self) -> None:
        if self._busy_since is not None:
            self._health.busy_seconds += time.monotonic() - self._busy_since
            self._busy_since = None

    # ---- making and ending containers

    def _grow(self) -> None:
        """Ask for containers until there are enough that will stay."""
        staying = sum(not worker.retiring for worker in self._workers)
        if self._broken or time.monotonic() < self._retry_at:
            return
        while staying + self._making < self._size:
            self._making += 1
            self._hands.submit(self._make)

    def _make(self) -> None:
        try:
            link = self._maker.make()
        except LinkError:
            self._call(self._not_made)
        except KolmoError as error:
            broken = error
            self._call(lambda: self._break(broken))
        else:
            self._call(lambda: self._made(link))

    def _made(self, link: Link) -> None:
        self._making -= 1
        if self._closing:
            self._maker.end(link)
            return
        self._join(link)

    def _join(self, link: Link) -> None:
        worker = Worker(link)
        self._findings = link.findings
        self._workers.append(worker)
        self._selector.register(link.fileno(), selectors.EVENT_READ, worker)

    def _not_made(self) -> None:
        self._making -= 1
        self._retry_at = time.monotonic() + 0.5

    def _break(self, error: KolmoError) -> None:
        """A promise does not hold: nothing more is run."""
        self._making -= 1
        self._broken = error
        waiting = [*self._queue, *self._suspects, *(i for w in self._workers for i in w.flying.values())]
        self._queue.clear()
        self._suspects.clear()
        for worker in list(self._workers):
            worker.flying.clear()
            self._drop(worker)
        for batch in {id(item.batch): item.batch for item in waiting}.values():
            if not batch.future.done():
                batch.future.set_exception(error)

    def _drop(self, worker: Worker) -> None:
        """Part with a container; its programs run again elsewhere."""
        self._selector.unregister(worker.link.fileno())
        self._workers.remove(worker)
        self._drought = time.monotonic()
        self._health.replaced += 1
        items, worker.flying = list(worker.flying.values()), {}
        link, alone = worker.link, worker.solo and len(items) == 1

        def end() -> None:
            own = self._maker.end(link)
            self._call(lambda: self._again(items, alone and own))

        self._hands.submit(end)

    def _again(self, items: list[Item], guilty: bool) -> None:
        for item in items:
            item.attempt += 1
            item.solo_kills += guilty
            if self._broken:  # while its container was being ended
                if not item.batch.future.done():
                    item.batch.future.set_exception(self._broken)
            elif self._closing:
                self._settle(item, Verdict(Status.CANCELLED, detail="the sandbox was closed"))
            elif item.solo_kills >= self.patience.solo_kills:
                detail = f"ended {item.solo_kills} containers alone"
                self._settle(item, Verdict(Status.POISON, attempt=item.attempt - 1, detail=detail))
            elif item.attempt > self.patience.attempts:
                detail = f"lost {self.patience.attempts} times with its container"
                self._settle(item, Verdict(Status.INFRA, attempt=item.attempt - 1, detail=detail))
            else:
                self._suspects.append(item)

    # ---- giving out programs

    def _feed(self, worker: Worker) -> None:
        if worker.solo and worker.flying:
            return
        worker.solo = False
        if worker.retiring and any(not other.retiring for other in self._workers):
            if not worker.flying:
                self._drop(worker)
            return
        if self._suspects:
            if worker.flying:
                return  # a suspect waits until this one is empty
            item = self._take(self._suspects, worker)
            if item:
                worker.solo = True
                self._put(worker, item)
        else:
            while len(worker.flying) < self._window and self._queue:
                item = self._take(self._queue, worker)
                if item is None:
                    break
                self._put(worker, item)
        if worker.outbox and not worker.writing:
            self._write(worker)

    def _take(self, waiting: deque[Item], worker: Worker) -> Item | None:
        item = pick(waiting, worker)
        if item is None and waiting and len(self._workers) == 1:
            worker.retiring = True  # the only container is the one to avoid: get another
        return item

    def _put(self, worker: Worker, item: Item) -> None:
        number = next(self._numbers) & 0xFFFFFFFF or next(self._numbers) & 0xFFFFFFFF
        if item.job.group and item.job.group == worker.group:
            worker.outbox += SPACER
        worker.group = item.job.group
        worker.flying[number] = item
        worker.programs += 1
        worker.outbox += frames.encode(frames.RUN, number, item.payload)
        if len(worker.flying) == 1:
            worker.heard = time.monotonic()
        if worker.programs >= self.patience.renew_programs:
            worker.retiring = True

    def _write(self, worker: Worker) -> None:
        try:
            taken = worker.link.send(memoryview(bytes(worker.outbox)))
        except LinkError:
            self._drop(worker)
            return
        del worker.outbox[:taken]
        if worker.writing is not bool(worker.outbox):
            worker.writing = bool(worker.outbox)
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if worker.outbox else 0)
            self._selector.modify(worker.link.fileno(), events, worker)

    def _read(self, worker: Worker) -> None:
        try:
            data = worker.link.receive()
            if data is None:
                return
            if not data:
                self._drop(worker)
                return
            worker.heard = time.monotonic()
            for kind, number, payload in worker.reader.feed(data):
                if kind == frames.RESULT and number in worker.flying:
                    item = worker.flying[number]
                    verdict = report.verdict(payload, self.limits, worker.link.id, item.attempt)
                    del worker.flying[number]
                    self._settle(item, verdict)
                elif kind != frames.PING and not (kind == frames.RESULT and number == 0):
                    raise frames.FrameError(f"nobody asked for frame {kind} {number}")
        except (frames.FrameError, LinkError):
            self._drop(worker)

    # ---- watching

    def _watch(self) -> None:
        now = time.monotonic()
        if self._workers:
            self._drought = now
        elif now - self._drought > self.patience.drought:
            for item in [*self._queue, *self._suspects]:
                self._settle(item, Verdict(Status.INFRA, attempt=item.attempt, detail="no container could be had"))
            self._queue.clear()
            self._suspects.clear()
        silence = self._silence
        for worker in list(self._workers):
            quiet = now - worker.heard
            if worker.flying and quiet > silence and not worker.examined:
                worker.examined = True
                self._hands.submit(self._examine, worker)
            elif not worker.flying and quiet > self.patience.ping:
                worker.heard = now
                worker.outbox += frames.encode(frames.PING, 0)
                self._write(worker)

    def _examine(self, worker: Worker) -> None:
        """A silent container behind an engine that answers is lost; one behind a silent engine waits."""
        asked = time.monotonic()
        answers = self._maker.answers(worker.link)
        prompt = answers and time.monotonic() - asked < 1.0
        self._call(lambda: self._examined(worker, prompt))

    def _examined(self, worker: Worker, prompt: bool) -> None:
        worker.examined = False
        if worker not in self._workers:
            return
        quiet = time.monotonic() - worker.heard
        if prompt and quiet > self._silence:
            self._drop(worker)
        elif not prompt:
            worker.heard = time.monotonic()

    def _stop(self) -> None:
        self._closing = True
        self._rest()
        for item in [*self._queue, *self._suspects, *(i for w in self._workers for i in w.flying.values())]:
            self._settle(item, Verdict(Status.CANCELLED, detail="the sandbox was closed"))
        for worker in self._workers:
            self._selector.unregister(worker.link.fileno())
        self._selector.close()
