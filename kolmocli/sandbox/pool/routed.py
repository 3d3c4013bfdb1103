"""Two pools as one sandbox: containers for Python, and containers for other languages.

A batch may have jobs for both; its future waits for the two parts, and has the verdicts in the order of the jobs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from kolmocli.sandbox.base import NATIVE, Health, Programs, Sandbox, Verdict, jobs_of, limited
from kolmocli.sandbox.pool.pool import Pool


class Routed(Sandbox):
    """The `Sandbox` of `open_sandbox(packages=["cpp"])`. Both pools have the same limits."""

    def __init__(self, python: Pool, open_native: Callable[[], Pool]) -> None:
        self.limits, self.most = python.limits, python.most
        try:
            native = open_native()
        except BaseException:
            python.close()
            raise
        self.python, self.other = python, native
        self.native = native.native
        self._both = (python, native)
        self._parts: dict[Future[list[Verdict]], list[Future[list[Verdict]]]] = {}
        self._lock = threading.Lock()

    def submit(self, programs: Programs) -> Future[list[Verdict]]:
        jobs = [job for job, _ in limited(jobs_of(programs), self.limits, self.most, self.native)]
        places: list[list[int]] = [[], []]
        for place, job in enumerate(jobs):
            places[job.language in NATIVE].append(place)
        if not all(places):
            return self._both[bool(places[1])].submit(jobs)
        future: Future[list[Verdict]] = Future()
        future.set_running_or_notify_cancel()
        parts = [pool.submit([jobs[at] for at in mine]) for pool, mine in zip(self._both, places, strict=True)]
        with self._lock:
            self._parts[future] = parts
        for part in parts:
            part.add_done_callback(lambda _: self._join(future, places))
        return future

    def _join(self, future: Future[list[Verdict]], places: list[list[int]]) -> None:
        """Give the whole batch its result, once, when both parts have theirs, or one has failed."""
        with self._lock:
            parts = self._parts.get(future)
            if parts is None:
                return
            failed = next((error for part in parts if part.done() and (error := part.exception())), None)
            if failed is None and not all(part.done() for part in parts):
                return
            del self._parts[future]
        if failed is not None:
            future.set_exception(failed)
            return
        verdicts = {
            at: v for part, mine in zip(parts, places, strict=True) for at, v in zip(mine, part.result(), strict=True)
        }
        future.set_result([verdicts[at] for at in range(len(verdicts))])

    def withdraw(self, future: Future[list[Verdict]]) -> None:
        """As `Pool.withdraw`."""
        with self._lock:
            parts = list(self._parts.get(future, [future]))
        for part in parts:
            for pool in self._both:
                pool.withdraw(part)

    @property
    def unsettled(self) -> int:
        return sum(pool.unsettled for pool in self._both)

    @property
    def waiting(self) -> int:
        return sum(pool.waiting for pool in self._both)

    @property
    def containers(self) -> int:
        return sum(pool.containers for pool in self._both)

    @property
    def broken(self) -> BaseException | None:
        return self.python.broken or self.other.broken

    def health(self) -> Health:
        return self.python.health() + self.other.health()

    def check(self) -> list[dict[str, Any]]:
        """The promises of both; those of the other languages' containers say whose they are."""
        name = " and ".join(NATIVE[language] for language in self.native)
        return self.python.check() + [
            found | {"promise": f"{name}: {found['promise']}"} for found in self.other.check()
        ]

    def close(self) -> None:
        for pool in self._both:
            pool.close()
