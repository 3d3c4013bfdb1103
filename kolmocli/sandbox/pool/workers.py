"""The containers of a pool: made, watched and ended, so that there are always enough of them.

Making, examining and ending block, so that two threads do it in the background; everything else here runs in the
pool's thread, which owns the state.
"""

from __future__ import annotations

import selectors
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from kolmocli.errors import KolmoError
from kolmocli.sandbox.base import Limits
from kolmocli.sandbox.pool.link import Finding, Link, LinkError, Maker
from kolmocli.sandbox.pool.queue import JobQueue, QueuedJob
from kolmocli.sandbox.wire import frames

RETRY_S = 0.5
"""Between two tries to make a container while the engine does not."""
PROMPT_S = 1.0
"""An engine that takes longer to answer is itself in trouble: its containers are then not blamed for their silence."""


@dataclass(slots=True, eq=False)
class Worker:
    """One container, or worker process, and what is known of it."""

    link: Link
    reader: frames.Reader = field(default_factory=frames.Reader)
    flying: dict[int, QueuedJob] = field(default_factory=dict)
    """Jobs that it was given and has not answered, by request."""
    outbox: bytearray = field(default_factory=bytearray)
    group: int = 0
    programs: int = 0
    solo: bool = False
    retiring: bool = False
    examined: bool = False
    writing: bool = False
    heard: float = field(default_factory=time.monotonic)


class Workers:
    """`call` brings a function into the pool's thread."""

    def __init__(
        self, maker: Maker[Any], size: int, limits: Limits, jobs: JobQueue, call: Callable[[Callable[[], None]], None]
    ) -> None:
        self.all: list[Worker] = []
        self.findings: list[Finding] = []
        self.selector = selectors.DefaultSelector()
        self._maker, self._size, self._jobs, self._call = maker, size, jobs, call
        self._retries = jobs.retries
        self._silence = self._retries.silence_s + frames.STARVED * limits.wall_ms / 1000
        self._background = ThreadPoolExecutor(2, thread_name_prefix="kolmo-sandbox-background")
        self._making = 0
        self._why_none = ""
        """Why the last container could not be made."""
        self._retry_at = 0.0
        self._drought = time.monotonic()

    def _in_background(self, function: Callable[..., None], *arguments: Any) -> None:
        """Do what blocks elsewhere. An unexpected error ends the pool: it must not end in silence."""

        def work() -> None:
            try:
                function(*arguments)
            except BaseException as error:
                unexpected = error
                self._call(lambda: self.give_up(unexpected))

        self._background.submit(work)

    # ---- making

    def grow(self) -> None:
        """Ask for containers until there are enough that will stay."""
        staying = sum(not worker.retiring for worker in self.all)
        if self._jobs.broken or time.monotonic() < self._retry_at:
            return
        while staying + self._making < self._size:
            self._making += 1
            self._in_background(self._make)

    def _make(self) -> None:
        try:
            link = self._maker.make()
        except LinkError as error:
            reason = str(error)
            self._call(lambda: self._not_made(reason))
        except KolmoError as error:
            broken = error
            self._call(lambda: self.give_up(broken))
        else:
            self._call(lambda: self._made(link))

    def _made(self, link: Link) -> None:
        self._making -= 1
        if self._jobs.closed or self._jobs.broken:
            self._maker.end(link)
        else:
            self.add(link)

    def add(self, link: Link) -> None:
        """A container that has been greeted, and that keeps its promises, goes to work."""
        worker = Worker(link)
        self.findings = link.findings
        self.all.append(worker)
        self.selector.register(link.fileno(), selectors.EVENT_READ, worker)

    def _not_made(self, reason: str) -> None:
        self._making -= 1
        self._why_none = reason
        self._retry_at = time.monotonic() + RETRY_S

    # ---- ending

    def drop(self, worker: Worker) -> None:
        """Part with a container; its programs run again elsewhere."""
        self.selector.unregister(worker.link.fileno())
        self.all.remove(worker)
        self._drought = time.monotonic()
        self._jobs.health.replaced += 1
        items, worker.flying = list(worker.flying.values()), {}
        link, alone = worker.link, worker.solo and len(items) == 1

        def end() -> None:
            by_itself = self._maker.end(link)
            self._call(lambda: self._jobs.requeue(items, alone and by_itself, link.stderr))

        self._in_background(end)

    def give_up(self, error: BaseException) -> None:
        """A promise does not hold, or the pool has a defect: nothing more is run."""
        if self._jobs.closed:
            return  # all is settled, and every container is about to be ended
        self._jobs.fail(error)
        for worker in list(self.all):
            worker.flying.clear()
            self.drop(worker)

    def leave(self) -> None:
        """Stop listening."""
        self.selector.close()

    def close(self, settle: Callable[[], None]) -> None:
        """After the pool's thread has ended: let the background finish, `settle` what it brings, end every container."""
        self._background.shutdown(wait=True)
        settle()
        for worker in self.all:
            self._maker.end(worker.link)
        self.all.clear()
        self._maker.close()

    # ---- watching

    def watch(self) -> None:
        """Give up on what has been silent for too long; keep idle containers from ending themselves."""
        now = time.monotonic()
        if self.all:
            self._drought = now
        elif now - self._drought > self._retries.drought_s:
            self._jobs.starve(self._why_none)
        for worker in self.all:
            quiet = now - worker.heard
            if worker.flying and quiet > self._silence and not worker.examined:
                worker.examined = True
                self._in_background(self._examine, worker)
            elif not worker.flying and quiet > self._retries.ping_s:
                worker.heard = now
                worker.outbox += frames.encode(frames.PING, 0)

    def _examine(self, worker: Worker) -> None:
        """A silent container behind an engine that answers is lost; one behind a silent engine waits."""
        asked = time.monotonic()
        answers = self._maker.answers(worker.link)
        prompt = answers and time.monotonic() - asked < PROMPT_S
        self._call(lambda: self._examined(worker, prompt))

    def _examined(self, worker: Worker, prompt: bool) -> None:
        worker.examined = False
        if worker not in self.all:
            return
        if not prompt:
            worker.heard = time.monotonic()
        elif time.monotonic() - worker.heard > self._silence:
            self.drop(worker)
