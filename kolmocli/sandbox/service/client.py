"""A sandbox on other machines: the `Sandbox` behind `open_sandbox("http://host:port")`.

A batch goes out in several requests over several connections. A program is pure, so that a request without an answer is simply
sent again, over another connection, which what stands before several servers may lead to another of them. A verdict that cannot be
had that way is INFRA: it says nothing about the program.
"""

from __future__ import annotations

import math
import queue
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kolmocli.errors import KolmoError, UsageError
from kolmocli.plain import parsed
from kolmocli.sandbox.base import NATIVE, Health, Job, Limits, Owner, Programs, Sandbox, Status, Verdict, limited
from kolmocli.sandbox.pool.queue import Batch
from kolmocli.sandbox.pool.retries import Retries
from kolmocli.sandbox.service import access, protocol
from kolmocli.sandbox.service.connection import Address, Answer, Connection, Lost, Unreachable
from kolmocli.sandbox.service.greeting import (
    WORTH_ANOTHER_TRY,
    Facts,
    asked,
    greeted,
    no_token,
    not_ours,
    pause_before,
    require,
)

CONNECTIONS = 8
_MOST_JOBS, _MOST_BYTES = 64, 1 << 20
"""In one request, where a job alone is not longer."""
_SILENCE = 2.5
"""Times the silence that a container may keep: a server says a word every five seconds."""
_FULL_S = 600.0
"""For which a server may say that its queue is full."""
_ENDING_S = 1.0
"""For a thread whose connection was taken away."""
_FRAMING = 4_096
"""Bytes of a verdict without its values."""


def open_client(
    backend: str,
    token_file: str | Path | None,
    limits: Limits | None,
    most: Limits | None,
    connections: int | None,
    packages: Sequence[str],
    retries: Retries | None,
) -> Client:
    """Greet the server, and see that it has what is asked for.

    Raises:
        EnvironmentMissing: no server answers there, or not one like ours.
        UsageError: no address, no token or a wrong one, or limits above those of the server.
    """
    address = Address.of(backend)
    token = access.environment_token() if token_file is None else access.read_token(token_file)
    retries = retries or Retries()
    connection = Connection(address, token, _SILENCE * retries.silence_s)
    try:
        facts = greeted(connection, address)
    finally:
        connection.close()
    limits = limits or (most and Limits()) or facts.usual
    most = most or limits
    require(address, facts, most, packages)
    return Client(address, token, facts, limits, most, connections or CONNECTIONS, retries)


def _closed() -> Verdict:
    return Verdict(Status.CANCELLED, detail="the sandbox was closed")


@dataclass(slots=True, eq=False)
class _Chunk:
    """Jobs of one batch that travel together."""

    batch: Batch
    places: list[int]
    """The places of these jobs in the batch."""
    jobs: list[tuple[Job, Limits]]
    texts: list[str]
    again: bool = False
    """It holds what another server was at fault for."""


class Client(Sandbox):
    """`limits` and `most` as in a pool of this machine: a job gets the same ones here and there."""

    def __init__(
        self,
        address: Address,
        token: str | None,
        facts: Facts,
        limits: Limits,
        most: Limits,
        connections: int,
        retries: Retries,
    ) -> None:
        self.limits, self.most, self.retries, self.connections = limits, most, retries, connections
        self._address, self._facts, self._owner = address, facts, Owner()
        self.native = [language for language, name in NATIVE.items() if name in facts.packages]
        self._lines = [Connection(address, token, _SILENCE * retries.silence_s) for _ in range(connections + 1)]
        """The last one is for questions about the server."""
        self._chunks: queue.SimpleQueue[_Chunk | None] = queue.SimpleQueue()
        self._lock, self._over = threading.RLock(), threading.Event()
        self._asking = threading.Lock()
        self._health = Health(backend=facts.backend)
        self._open: set[Batch] = set()
        self._busy_since = 0.0
        self._alive = time.monotonic()
        """Time of the last sign of life from the server."""
        self._threads = [
            threading.Thread(target=self._work, args=(line,), name="kolmo-sandbox-client", daemon=True)
            for line in self._lines[:-1]
        ]
        for thread in self._threads:
            thread.start()

    # ---- for callers, from any thread

    def submit(self, programs: Programs) -> Future[list[Verdict]]:
        self._owner.require()
        jobs = limited(programs, self.limits, self.most, self.native)
        future: Future[list[Verdict]] = Future()
        future.set_running_or_notify_cancel()
        batch = Batch(future, [None] * len(jobs), len(jobs))
        chunks = self._chunked(batch, jobs)
        with self._lock:  # with `close`, which settles what is open: what came after it would wait for ever
            if self._over.is_set():
                raise RuntimeError("the sandbox is closed")
            if not jobs:
                future.set_result([])
                return future
            if not self._open:
                self._busy_since = time.monotonic()
            self._open.add(batch)
        for chunk in chunks:
            self._chunks.put(chunk)
        return future

    def health(self) -> Health:
        with self._lock:
            return self._health.copy()

    def check(self) -> list[dict[str, Any]]:
        """Every promise with what the newest container of the server that is asked found inside."""
        with self._asking:
            said = asked(self._lines[-1], self._address, "/v1/check")
        try:
            return [dict(finding) for finding in said["promises"]]
        except (LookupError, TypeError, ValueError) as error:
            raise not_ours(self._address, str(error)) from None

    def close(self) -> None:
        """Leave the server, which then drops what it has not begun; what has no verdict yet is CANCELLED."""
        if not self._owner.is_here():
            return
        self._over.set()
        for _ in self._threads:
            self._chunks.put(None)
        for line in self._lines:
            line.end()
        for thread in self._threads:
            thread.join(_ENDING_S)
        with self._lock:
            left = list(self._open)
        for batch in left:
            places = [place for place, found in enumerate(batch.results) if found is None]
            self._settle(batch, [(place, _closed()) for place in places])

    # ---- how

    def _chunked(self, batch: Batch, jobs: list[tuple[Job, Limits]]) -> list[_Chunk]:
        """Two rounds for every connection, so that one slow program holds up few others."""
        room = max(1, self._facts.jobs_per_request // 2)  # of a short queue: others wait too
        most = min(_MOST_JOBS, room, math.ceil(len(jobs) / (2 * self.connections)))
        chunks: list[_Chunk] = []
        size = 0
        for place, (job, limits) in enumerate(jobs):
            text = protocol.job_text(job, limits)
            if not chunks or len(chunks[-1].jobs) >= most or size + len(text) > _MOST_BYTES:
                chunks.append(_Chunk(batch, [], [], []))
                size = 0
            size += len(text)
            chunks[-1].places.append(place)
            chunks[-1].jobs.append((job, limits))
            chunks[-1].texts.append(text)
        return chunks

    def _work(self, line: Connection) -> None:
        while (chunk := self._chunks.get()) is not None and not self._over.is_set():
            if chunk.batch.future.done():
                continue  # another part of it failed
            try:
                verdicts = self._judged(line, chunk)
            except Exception as error:  # a defect too: who waits for the batch hears of it instead of waiting for ever
                self._fail(chunk.batch, error)
            else:
                self._settle_all(chunk, verdicts)

    def _judged(self, line: Connection, chunk: _Chunk) -> list[Verdict]:
        """Ask until there are verdicts. Raises KolmoError for what no other try would fix."""
        body = f'{{"schema_version":{protocol.SCHEMA_VERSION},"jobs":[{",".join(chunk.texts)}]}}'.encode()
        longest = sum(
            6 * limits.output_bytes + _FRAMING for _, limits in chunk.jobs
        )  # JSON writes a character in six bytes at most
        lost, full_since, pause, reason, begun = 0, None, 0.0, "", time.monotonic()
        while not self._over.is_set():
            try:
                answer = line.ask("POST", "/v1/jobs", body, longest=longest)
                self._alive = time.monotonic()
                if answer.code == 200:
                    jobs = [job for job, _ in chunk.jobs]
                    verdicts = protocol.read_verdicts(parsed(answer.body), jobs)
                    return [
                        protocol.bounded(v, job, self.most.max_items) for v, job in zip(verdicts, jobs, strict=True)
                    ]
                if answer.code not in WORTH_ANOTHER_TRY:
                    raise self._refused(answer)
                reason, pause = answer.words, answer.again or pause_before(lost + 1)
                if answer.code == 429:
                    full_since = full_since or time.monotonic()
                else:
                    lost += 1
            except (Lost, ValueError) as error:
                line.close()
                lost += not isinstance(error, Unreachable)
                reason, pause = str(error), pause_before(max(1, lost))
                with self._lock:
                    self._health.replaced += 1
            now = time.monotonic()
            drought = now - max(begun, self._alive) > self.retries.drought_s
            if lost > self.retries.attempts or drought or (full_since and now - full_since > _FULL_S):
                return self._infra(chunk, reason)
            self._over.wait(pause)
        return [_closed()] * len(chunk.jobs)

    def _refused(self, answer: Answer) -> KolmoError:
        if answer.code == 401:
            return no_token(self._address)
        kind = UsageError if answer.code in (400, 413, 415, 422) else KolmoError
        return kind(f"sandbox {self._address.text}: {answer.words}")

    def _infra(self, chunk: _Chunk, reason: str) -> list[Verdict]:
        chunk.again = True  # it was asked for as long as it is worth
        detail = f"no verdict from {self._address.text}: {reason}"[:200]
        return [Verdict(Status.INFRA, detail=detail)] * len(chunk.jobs)

    def _settle_all(self, chunk: _Chunk, verdicts: list[Verdict]) -> None:
        """Ask once more about the server's faults: behind one address there may be others."""
        faults = [] if chunk.again else [at for at, verdict in enumerate(verdicts) if verdict.status.is_fault]
        if faults:
            places, jobs, texts = (
                [chunk.places[at] for at in faults],
                [chunk.jobs[at] for at in faults],
                [chunk.texts[at] for at in faults],
            )
            self._chunks.put(_Chunk(chunk.batch, places, jobs, texts, again=True))
        settled = [(chunk.places[at], verdict) for at, verdict in enumerate(verdicts) if at not in faults]
        self._settle(chunk.batch, settled)

    def _settle(self, batch: Batch, verdicts: list[tuple[int, Verdict]]) -> None:
        """By place in the batch, each of them once."""
        with self._lock:
            if batch not in self._open:
                return
            for place, verdict in verdicts:
                batch.results[place] = verdict
                self._health.count(verdict.status)
            batch.left -= len(verdicts)
            if batch.left:
                return
            self._leave(batch)
        batch.future.set_result([found for found in batch.results if found is not None])

    def _fail(self, batch: Batch, error: BaseException) -> None:
        with self._lock:
            if batch not in self._open:
                return
            self._leave(batch)
        batch.future.set_exception(error)

    def _leave(self, batch: Batch) -> None:
        self._open.remove(batch)
        if not self._open:
            self._health.busy_seconds += time.monotonic() - self._busy_since
