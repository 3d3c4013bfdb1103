"""Generators at work: shares of batches go to whoever is free, and what is lost on the way is done again.

Each generator has a thread here, which starts its process, hands it one share at a time and waits. When the process
dies, falls silent, raises or takes too long, the share goes back to the head of the queue, the process is ended and
another one started, on its host or the next that answers. A share carries its seed, so that doing it again gives what
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

from kolmocli.config import Config
from kolmocli.engine.monarch.hosts import Place, Process, load, open_depot, spawn
from kolmocli.engine.monarch.share import Share, Written
from kolmocli.engine.monarch.slot import REST, Job, Lost, Slot
from kolmocli.errors import KolmoError, last_line
from kolmocli.sandbox.base import Health

_LOADING_SECONDS = 600.0
"""To read a model and open a sandbox, which may mean building an image."""
_LOOK = 0.25
_ATTEMPTS = 3
"""A share that fails so often is the fault of the share; and a generator that cannot be started so often is given up."""


class Fleet:
    """So many generators on these places, with the weights of `file` after `version` updates."""

    def __init__(self, config: Config, places: list[Place], file: Path, warn: Callable[[str], None]) -> None:
        """Start them, and return when all can begin.

        Raises:
            KolmoError: what one of them could not begin for.
        """
        self._config, self._places, self._warn = config, places, warn
        self._file, self.version = file, -1
        self._news: deque[str] = deque()
        self._jobs: deque[Job] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._over: KolmoError | None = None
        self._why = ""
        self._ended: list[Process] = []
        self._reported = time.monotonic()
        self._slots = [Slot(i, places[i % len(places)]) for i in range(config.engine.generators)]
        self._here = {place.name: sum(slot.place is place for slot in self._slots) for place in places}
        self._pulse = threading.Thread(target=self._feel_pulses, name="kolmo-fleet-pulse", daemon=True)
        self._threads = [
            threading.Thread(target=self._serve, args=(slot,), name=f"kolmo-fleet-{slot.number}", daemon=True)
            for slot in self._slots
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
        self._start(self._slots[0])
        failures: list[Exception] = []

        def start(slot: Slot) -> None:
            try:
                self._start(slot)
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=start, args=(slot,), daemon=True) for slot in self._slots[1:]]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]

    def submit(self, share: Share) -> Future[Written]:
        """Have these tasks written by whoever is free first, with weights no older than those that are known now."""
        job = Job(share)
        with self._changed:
            if self._over is not None:
                raise self._over
            self._jobs.append(job)
            self._changed.notify()
        return job.result

    def health(self) -> Health:
        """Of all sandboxes together, those of lost generators included."""
        parts = [slot.earlier + slot.health for slot in self._slots]
        total = reduce(add, parts)
        total.backend = next((part.backend for part in parts if part.backend), "")
        total.busy_seconds = max(part.busy_seconds for part in parts)  # they are busy at the same time
        return total

    def told(self) -> list[str]:
        """What happened since this was last asked."""
        return [self._news.popleft() for _ in range(len(self._news))]

    def report(self) -> dict[str, dict[str, Any]]:
        """What each generator did since the last report."""
        now = time.monotonic()
        wall, self._reported = now - self._reported, now
        described = {}
        for slot in self._slots:
            described[str(slot.number)] = slot.report(self.version, wall)
        return described

    def close(self) -> None:
        """End every process. What was not done yet is cancelled."""
        with self._changed:
            self._closing = True
            while self._jobs:
                self._jobs.popleft().result.cancel()
            self._changed.notify_all()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()
        for slot in self._slots:
            self._end(slot)
        for process in self._ended:
            process.forgotten()
        for place in self._places:
            place.close()

    # --- one generator
    def _serve(self, slot: Slot) -> None:
        failures = 0
        while not self._closing and failures < _ATTEMPTS:
            job = None
            try:
                if slot.process is None:
                    self._start(slot)
                failures = 0
                job = self._next()
                if slot.lost:
                    raise Lost(slot.lost)
                if job is not None:
                    job.result.set_result(self._write(slot, job))
            except Exception as error:  # whatever it is: it is told, and the share is done again
                failures += slot.process is None
                self._replace(slot, job, error)
        if not self._closing:
            self._give_up(slot)

    def _next(self) -> Job | None:
        """The next share, or None after a while without any."""
        with self._changed:
            if not self._jobs and not self._closing:
                self._changed.wait(1.0)
            return self._jobs.popleft() if self._jobs else None

    def _write(self, slot: Slot, job: Job) -> Written:
        process, began = slot.process, time.monotonic()
        assert process is not None
        version = self.version
        if version != slot.version:
            file = self._weights_at(slot)
            self._wait(slot, process.generator.load.call_one(file, version))
            slot.version = version
        written: Written = self._wait(slot, process.generator.write.call_one(job.share))
        slot.busy += time.monotonic() - began
        slot.tokens += written.tokens
        slot.health = written.health
        return written

    def _weights_at(self, slot: Slot) -> Path:
        """The file of the newest weights on the host of this generator, which gets them once per version."""
        place = slot.place
        if not place.address:
            return self._file
        with place.lock:
            if place.version != self.version:
                version, content = self.version, self._file.read_bytes()
                depot, place.depot = place.depot or open_depot(place), None  # one that fails is not asked again
                place.file = self._wait(slot, depot.put.call_one(content))
                place.depot, place.version = depot, version
            return place.file

    def _wait(self, slot: Slot, future: Any, seconds: float | None = None) -> Any:
        """The answer; raises Lost when there will be none, which is so after `engine.call_seconds` or what is named."""
        seconds = seconds or self._config.engine.call_seconds
        deadline = time.monotonic() + seconds
        while True:
            try:
                return future.get(timeout=_LOOK)
            except TimeoutError:
                if self._closing:
                    raise Lost("the run ends") from None
                if slot.lost:
                    raise Lost(slot.lost) from None
                if time.monotonic() > deadline:
                    raise Lost(f"no answer for {seconds:.0f} s") from None

    def _replace(self, slot: Slot, job: Job | None, error: Exception) -> None:
        """Put the share back, end the process, and say so."""
        self._end(slot)
        if self._closing:
            if job is not None:
                job.result.cancel()
            return
        reason = self._why = last_line(error)
        self._news.append(f"{slot.name} lost: {reason}" + ("; its share is sampled again" if job else ""))
        if job is None:
            return
        job.attempts += 1
        if job.attempts == _ATTEMPTS:
            job.result.set_exception(KolmoError(f"{_ATTEMPTS} generators failed over one share of a batch: {reason}"))
            return
        with self._changed:
            self._jobs.appendleft(job)
            self._changed.notify()

    def _give_up(self, slot: Slot) -> None:
        """Do without this one; without any, nothing that is asked for can be done."""
        slot.given_up = True
        self._news.append(f"{slot.name} is given up: {self._why}")
        with self._changed:
            self._changed.notify_all()
            if all(other.given_up for other in self._slots):
                self._over = KolmoError(f"no generator is left: {self._why}; go on with --resume")
                while self._jobs:
                    self._jobs.popleft().result.set_exception(self._over)

    def _start(self, slot: Slot) -> None:
        """A process for this generator, ready to begin; its place may change. Raises the last reason why there is none."""
        again = bool(slot.health.backend)
        now = time.monotonic()
        others = [p for p in self._places if p is not slot.place]
        places = sorted([slot.place, *others], key=lambda place: place.down_until > now)
        for number, place in enumerate(places):
            try:
                slot.lost, slot.beat, slot.heard, slot.version = None, None, time.monotonic(), -1
                slot.process = spawn(self._config, place, slot.number, self._here[place.name])
                slot.place = place
                slot.health = load(slot.process, lambda future: self._wait(slot, future, _LOADING_SECONDS), self._warn)
            except Exception as error:
                self._end(slot)
                if isinstance(error, KolmoError) or number == len(places) - 1 or self._closing:
                    raise
                place.down_until = time.monotonic() + REST
                place.depot = None
                self._news.append(f"{place.name} does not answer ({last_line(error)}); {slot.name} goes elsewhere")
            else:
                if again:
                    slot.restarts += 1
                    self._news.append(f"{slot.name} is back, process {slot.process.pid} on {place.name}")
                return

    def _end(self, slot: Slot) -> None:
        process, slot.process = slot.process, None
        if process is not None:
            process.stop(answers=not slot.lost)
            self._ended.append(process)
            slot.earlier = slot.earlier + slot.health
            slot.health = Health(backend=slot.health.backend)

    # --- all of them
    def _feel_pulses(self) -> None:
        while not self._closing:
            for slot in list(self._slots):
                if (process := slot.process) is not None and slot.lost is None:
                    slot.feel_pulse(process)
            time.sleep(_LOOK)
