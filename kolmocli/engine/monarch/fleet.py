"""Generators at work: shards of batches go to the first free one, and what is lost on the way is done again.

Each generator has a thread here, which starts its process, hands it one shard at a time and waits. When the process
dies, falls silent, raises or takes too long, the shard goes back to the head of the queue, the process is ended and
another one started, on its host or the next that answers. A shard carries its seed, so that doing it again gives what
was lost, and its result is taken from one generator only: nothing counts twice.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

from kolmocli.config.machine import EngineSettings
from kolmocli.engine.monarch.hosts import Host, Process, load, open_receiver, spawn
from kolmocli.engine.monarch.messages import GeneratorSettings, Shard, ShardResult
from kolmocli.engine.monarch.replica import REST, Lost, Replica, ShardJob
from kolmocli.engine.report import GeneratorReport
from kolmocli.errors import KolmoError, last_line
from kolmocli.sandbox.base import Health

_LOADING_SECONDS = 600.0
"""To read a model and open a sandbox, which may mean building an image."""
_LOOK = 0.25
_ATTEMPTS = 3
"""A shard that fails so often is the fault of the shard; and a generator that cannot be started so often is given up."""


class Fleet:
    """Generators on these hosts, with the weights of `file` after `version` updates."""

    def __init__(
        self,
        asked: EngineSettings,
        settings: GeneratorSettings,
        hosts: list[Host],
        file: Path,
        warn: Callable[[str], None],
    ) -> None:
        """Start them, and return when all can begin.

        Raises:
            KolmoError: what one of them could not begin for.
        """
        self._settings, self._hosts, self._warn = settings, hosts, warn
        self._call_seconds = asked.call_seconds
        self._file, self.version = file, -1
        self._events: deque[str] = deque()
        self._jobs: deque[ShardJob] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._over: KolmoError | None = None
        self._why = ""
        self._ended: list[Process] = []
        self._reported = time.monotonic()
        self._replicas = [Replica(i, hosts[i % len(hosts)]) for i in range(asked.generators)]
        self._here = {host.name: sum(replica.host is host for replica in self._replicas) for host in hosts}
        self._pulse = threading.Thread(target=self._feel_pulses, name="kolmo-fleet-pulse", daemon=True)
        self._threads = [
            threading.Thread(target=self._serve, args=(replica,), name=f"kolmo-fleet-{replica.number}", daemon=True)
            for replica in self._replicas
        ]
        self._pulse.start()
        try:
            self._start_all()
        except BaseException as error:
            self.close()
            if isinstance(error, KolmoError) or not isinstance(error, Exception):
                raise
            raise KolmoError(f"no generator could be started: {last_line(error)}") from error
        for thread in self._threads:
            thread.start()

    def _start_all(self) -> None:
        """The first alone, which may have an image to build; then the others together."""
        self._start(self._replicas[0])
        failures: list[Exception] = []

        def start(replica: Replica) -> None:
            try:
                self._start(replica)
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=start, args=(replica,), daemon=True) for replica in self._replicas[1:]]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]

    def submit(self, shard: Shard) -> Future[ShardResult]:
        """Have these tasks written by the first free generator, with weights no older than those that are known now."""
        job = ShardJob(shard)
        with self._changed:
            if self._over is not None:
                raise self._over
            self._jobs.append(job)
            self._changed.notify()
        return job.result

    def health(self) -> Health:
        """The health of all sandboxes together, those of lost generators included."""
        parts = [replica.earlier + replica.health for replica in self._replicas]
        total = reduce(add, parts)
        total.backend = next((part.backend for part in parts if part.backend), "")
        total.busy_seconds = max(part.busy_seconds for part in parts)  # they are busy at the same time
        return total

    def events(self) -> list[str]:
        """Events since the last call."""
        return [self._events.popleft() for _ in range(len(self._events))]

    def report(self) -> dict[str, GeneratorReport]:
        """Work of each generator since the last report."""
        now = time.monotonic()
        wall, self._reported = now - self._reported, now
        described = {}
        for replica in self._replicas:
            described[str(replica.number)] = replica.report(self.version, wall)
        return described

    def close(self) -> None:
        """End every process. Unfinished work is cancelled."""
        with self._changed:
            self._closing = True
            while self._jobs:
                self._jobs.popleft().result.cancel()
            self._changed.notify_all()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()
        for replica in self._replicas:
            self._end(replica)
        for process in self._ended:
            process.forgotten()
        for host in self._hosts:
            host.close()

    # --- one generator
    def _serve(self, replica: Replica) -> None:
        failures = 0
        while not self._closing and failures < _ATTEMPTS:
            job = None
            try:
                if replica.process is None:
                    self._start(replica)
                failures = 0
                job = self._next()
                if replica.lost:
                    raise Lost(replica.lost)
                if job is not None:
                    job.result.set_result(self._write(replica, job))
            except Exception as error:  # whatever it is: it is events, and the shard is done again
                failures += replica.process is None
                self._replace(replica, job, error)
        if not self._closing:
            self._give_up(replica)

    def _next(self) -> ShardJob | None:
        """The next shard, or None after a while without any."""
        with self._changed:
            if not self._jobs and not self._closing:
                self._changed.wait(1.0)
            return self._jobs.popleft() if self._jobs else None

    def _write(self, replica: Replica, job: ShardJob) -> ShardResult:
        process, began = replica.process, time.monotonic()
        assert process is not None
        version = self.version
        if version != replica.version:
            file = self._weights_at(replica)
            self._wait(replica, process.generator.load.call_one(file, version))
            replica.version = version
        written: ShardResult = self._wait(replica, process.generator.write.call_one(job.shard))
        replica.busy += time.monotonic() - began
        replica.tokens += written.cost.tokens
        replica.health = written.health
        return written

    def _weights_at(self, replica: Replica) -> Path:
        """The file of the newest weights on the host of this generator, which gets them once per version."""
        host = replica.host
        if not host.address:
            return self._file
        with host.lock:
            if host.version != self.version:
                version, content = self.version, self._file.read_bytes()
                receiver, host.receiver = (
                    host.receiver or open_receiver(host),
                    None,
                )  # one that fails is not asked again
                host.file = self._wait(replica, receiver.put.call_one(content))
                host.receiver, host.version = receiver, version
            return host.file

    def _wait(self, replica: Replica, future: Any, seconds: float | None = None) -> Any:
        """The answer; raises Lost when there will be none, which is so after `engine.call_seconds` or what is named."""
        seconds = seconds or self._call_seconds
        deadline = time.monotonic() + seconds
        while True:
            try:
                return future.get(timeout=_LOOK)
            except TimeoutError:
                if self._closing:
                    raise Lost("the run ends") from None
                if replica.lost:
                    raise Lost(replica.lost) from None
                if time.monotonic() > deadline:
                    raise Lost(f"no answer for {seconds:.0f} s") from None

    def _replace(self, replica: Replica, job: ShardJob | None, error: Exception) -> None:
        """Put the shard back, end the process, and say so."""
        self._end(replica)
        if self._closing:
            if job is not None:
                job.result.cancel()
            return
        reason = self._why = last_line(error)
        self._events.append(f"{replica.name} lost: {reason}" + ("; its shard is sampled again" if job else ""))
        if job is None:
            return
        job.attempts += 1
        if job.attempts == _ATTEMPTS:
            job.result.set_exception(KolmoError(f"{_ATTEMPTS} generators failed over one shard of a batch: {reason}"))
            return
        with self._changed:
            self._jobs.appendleft(job)
            self._changed.notify()

    def _give_up(self, replica: Replica) -> None:
        """Do without this one; without any, nothing that is asked for can be done."""
        replica.given_up = True
        self._events.append(f"{replica.name} is given up: {self._why}")
        with self._changed:
            self._changed.notify_all()
            if all(other.given_up for other in self._replicas):
                self._over = KolmoError(f"no generator is left: {self._why}; go on with --resume")
                while self._jobs:
                    self._jobs.popleft().result.set_exception(self._over)

    def _start(self, replica: Replica) -> None:
        """A process for this generator, ready to begin; its host may change. Raises the last reason why there is none."""
        again = bool(replica.health.backend)
        now = time.monotonic()
        others = [p for p in self._hosts if p is not replica.host]
        hosts = sorted([replica.host, *others], key=lambda host: host.down_until > now)
        for number, host in enumerate(hosts):
            try:
                replica.lost, replica.beat, replica.heard, replica.version = None, None, time.monotonic(), -1
                replica.process = spawn(self._settings, host, replica.number, self._here[host.name])
                replica.host = host
                replica.health = load(
                    replica.process, lambda future: self._wait(replica, future, _LOADING_SECONDS), self._warn
                )
            except Exception as error:
                self._end(replica)
                if isinstance(error, KolmoError) or number == len(hosts) - 1 or self._closing:
                    raise
                host.down_until = time.monotonic() + REST
                host.receiver = None
                self._events.append(f"{host.name} does not answer ({last_line(error)}); {replica.name} goes elsewhere")
            else:
                if again:
                    replica.restarts += 1
                    self._events.append(f"{replica.name} is back, process {replica.process.pid} on {host.name}")
                return

    def _end(self, replica: Replica) -> None:
        process, replica.process = replica.process, None
        if process is not None:
            process.stop(answers=not replica.lost)
            self._ended.append(process)
            replica.earlier = replica.earlier + replica.health
            replica.health = Health(backend=replica.health.backend)

    # --- all of them
    def _feel_pulses(self) -> None:
        while not self._closing:
            for replica in list(self._replicas):
                if (process := replica.process) is not None and replica.lost is None:
                    replica.feel_pulse(process)
            time.sleep(_LOOK)
