"""One generator of a fleet as the fleet sees it: the process it is at the moment, whether that lives, what it did."""

from __future__ import annotations

import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from kolmocli.engine.monarch.hosts import Host, Process
from kolmocli.engine.monarch.messages import Shard, ShardResult
from kolmocli.engine.report import GeneratorReport
from kolmocli.errors import last_line
from kolmocli.sandbox.base import Health

_SILENT_AFTER = 20.0
"""Seconds without an answer after which a process counts as lost, its host perhaps cut off."""
REST = 60.0
"""Seconds that a host is left alone in favour of others after nothing could be started there."""


class Lost(Exception):
    """A generator that has to be replaced, and why."""


@dataclass
class ShardJob:
    shard: Shard
    result: Future[ShardResult] = field(default_factory=Future)
    attempts: int = 0


@dataclass
class Replica:
    """One generator, whatever process it is at the moment. Counters are since the last report, but for `restarts`."""

    number: int
    host: Host
    process: Process | None = None
    version: int = -1
    heard: float = 0.0
    beat: Any = None
    lost: str | None = None
    given_up: bool = False
    restarts: int = 0
    tokens: int = 0
    busy: float = 0.0
    health: Health = field(default_factory=Health)
    earlier: Health = field(default_factory=Health)
    """Programs executed by its earlier processes."""

    @property
    def name(self) -> str:
        return f"generator {self.number}"

    def report(self, version: int, wall: float) -> GeneratorReport:
        """Its work in these seconds, since the last call; `version` is that of the newest weights."""
        found = GeneratorReport(
            host=self.host.name,
            pid=(self.process.pid or None) if self.process else None,
            tokens_per_second=self.tokens / self.busy if self.busy else None,
            idle=max(0.0, 1.0 - self.busy / wall),
            lag=version - self.version if self.version >= 0 else 0,
            executed=self.earlier.executed + self.health.executed,
            infra=self.earlier.infra + self.health.infra,
            restarts=self.restarts,
        )
        self.tokens, self.busy = 0, 0.0
        return found

    def feel_pulse(self, process: Process) -> None:
        """Note what its process answers, or that it does not any more."""
        if not process.is_there():
            self.lost = "its process ended"
            return
        self.beat = self.beat or process.pulse.beat.call_one()
        try:
            self.beat.get(timeout=0.01)
        except TimeoutError:
            if not process.pid:  # importing and loading leave no time for an answer
                self.heard = time.monotonic()
            elif time.monotonic() - self.heard > _SILENT_AFTER:
                self.lost = f"nothing heard for {_SILENT_AFTER:.0f} s"
                self.host.down_until = time.monotonic() + REST
        except Exception as error:
            self.lost = last_line(error)
        else:
            self.heard, self.beat = time.monotonic(), None
