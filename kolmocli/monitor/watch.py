"""`kolmo watch`: the live view of a run from its files, in another terminal, during the run or after it.

It only reads. Each look reads what was added since the last one, so a long run costs no more than a short one.
"""

from __future__ import annotations

import time
from collections import deque
from pathlib import Path

from kolmocli.monitor.display import Display
from kolmocli.monitor.events import SAMPLES, BestEvent, Event, StartEvent, StoppedEvent, describe, read_event
from kolmocli.monitor.reader import (
    EVENTS,
    METRICS,
    SUMMARY,
    Follower,
    dig,
    read_config,
    read_summary,
    require_run,
    troubles,
)
from kolmocli.monitor.record import read_value
from kolmocli.monitor.records import ReinforceRecord, StepSeconds, WarmRecord, read_step
from kolmocli.monitor.snapshot import Snapshot
from kolmocli.monitor.summary import Summary, SummarySandbox
from kolmocli.monitor.words import duration

_RECENT = 10
"""Steps whose mean gives speed and time left."""
_SILENCE = 60.0
"""Seconds without a new line after which the view says so: the run may have died."""


def watch(run_dir: Path, display: Display, interval: float = 0.5) -> None:
    """Show a run until it ends. Raises UsageError when there is no such folder.

    `display` is open already; `interval` is the time between two looks, in seconds.
    """
    run = WatchedRun(run_dir)
    for line in troubles(run_dir):
        display.note(line)
    while True:
        display.update(run.look())
        if run.done:
            return
        time.sleep(interval)


class WatchedRun:
    """Turns the files of a run into snapshots. Keeps totals, not lines."""

    def __init__(self, run_dir: Path) -> None:
        self.run_dir = Path(run_dir)
        require_run(self.run_dir)
        self._config = read_config(self.run_dir)
        self._metrics = Follower(self.run_dir / METRICS)
        self._events = Follower(self.run_dir / EVENTS)
        self._summary: Summary | None = None
        self._forget()

    def look(self) -> Snapshot:
        """Read what is new and return the state now."""
        metrics, events = self._metrics.read(), self._events.read()
        if self._metrics.restarted or self._events.restarted:  # resumed from an earlier step: the files were cut
            self._forget()
            self._metrics, self._events = Follower(self._metrics.path), Follower(self._events.path)
            metrics, events = self._metrics.read(), self._events.read()
        for line in metrics:
            self._take_step(read_step(line))
        for line in events:
            self._take_event(read_event(line))
        self._summary = read_summary(self.run_dir)
        return self._snapshot()

    @property
    def done(self) -> bool:
        """The run ended or was stopped: the summary is of the last step, and the run was not taken up again since."""
        if self._summary is None:
            return False
        resumed = (self._start.time or 0.0) > (self.run_dir / SUMMARY).stat().st_mtime
        return (self._summary.steps or 0) >= self._step and not resumed

    def _forget(self) -> None:
        self._last: WarmRecord | ReinforceRecord | None = None
        self._step = 0
        self._executed = self._infra = 0
        self._worked = 0.0
        self._recent: deque[tuple[float, float, float]] = deque(maxlen=_RECENT)
        self._history: deque[float] = deque(maxlen=400)
        self._described: deque[str] = deque(maxlen=50)
        self._start, self._stopped = StartEvent(), False
        self._best: tuple[str, str] | None = None

    def _take_step(self, record: WarmRecord | ReinforceRecord) -> None:
        self._last = record
        seconds = record.seconds or StepSeconds()
        total = (seconds.rollout or 0.0) + (seconds.execute or 0.0) + (seconds.learn or 0.0)
        self._worked += total
        if isinstance(record, WarmRecord):
            return
        self._step = record.step
        rollouts = record.rollouts or 0
        self._recent.append((total, seconds.execute or 0.0, rollouts))
        self._executed += rollouts
        self._infra += record.infra or 0
        if record.pass_rate is not None:
            self._history.append(record.pass_rate)

    def _take_event(self, event: Event) -> None:
        if isinstance(event, StartEvent):  # of this sitting: a resumed run starts again
            self._start, self._stopped = event, False
        if isinstance(event, StoppedEvent):
            self._stopped = True
        if isinstance(event, BestEvent):
            self._best = (event.target or "", event.program or "")
        elif not isinstance(event, SAMPLES):
            self._described.append(describe(event))

    def _snapshot(self) -> Snapshot:
        steps = read_value(int, dig(self._config, "training", "steps")) or 0
        total = self._summary.seconds.total if self._summary is not None and self.done else None
        seconds = self._worked if total is None else total
        pace = sum(t for t, _, _ in self._recent) / len(self._recent) if self._recent else None
        return Snapshot(
            name=self.run_dir.resolve().name,
            state=self._state(),
            step=self._step,
            steps=steps,
            seconds=seconds,
            eta_seconds=None if pace is None or self.done else pace * max(0, steps - self._step),
            model=self._start.model or str(dig(self._config, "model", "name") or ""),
            engine=self._start.engine or str(self._config.get("engine") or ""),
            sandbox=self._sandbox(),
            target=read_value(float, dig(self._config, "controller", "target")) or 0.5,
            metrics=self._last,
            history=tuple(self._history),
            events=tuple(self._described),
            best=self._best,
        )

    def _state(self) -> str:
        if self._stopped:
            return "stopped"
        if self.done:
            return "done"
        path = self.run_dir / METRICS
        silent = time.time() - path.stat().st_mtime if path.exists() else 0.0
        if silent > _SILENCE:
            return f"no news for {duration(silent)}"
        if self._last is None:
            return "starting"
        return "warm start" if isinstance(self._last, WarmRecord) else "training"

    def _sandbox(self) -> SummarySandbox:
        execute = sum(e for _, e, _ in self._recent)
        summed = (self._summary or Summary()).sandbox
        backend = self._start.sandbox or summed.backend or dig(self._config, "sandbox", "backend")
        return SummarySandbox(
            backend=None if backend is None else str(backend),
            executed=self._executed,
            infra=self._infra,
            programs_per_second=sum(r for _, _, r in self._recent) / execute if execute else None,
        )
