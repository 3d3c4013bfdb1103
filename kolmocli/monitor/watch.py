"""`kolmo watch`: the live view of a run from its files, in another terminal, during the run or after it.

It only reads. Each look reads what was added since the last one, so a long run costs no more than a short one.
"""

from __future__ import annotations

import time
from collections import deque
from pathlib import Path
from typing import Any

from kolmocli.errors import KolmoError
from kolmocli.monitor.events import SAMPLES, describe
from kolmocli.monitor.live import Eyes
from kolmocli.monitor.reader import EVENTS, METRICS, SUMMARY, Follower, read_summary, require_run
from kolmocli.monitor.snapshot import Snapshot
from kolmocli.monitor.words import duration, number

_RECENT = 10
"""Steps that speed and time left are told from."""
_SILENCE = 60.0
"""Seconds without news after which the view says so: the run may have died."""


def watch(run_dir: Path, eyes: Eyes, once: bool = False, interval: float = 0.5) -> None:
    """Show a run until it ends, or once. Raises UsageError when there is no such folder.

    `eyes` is open already; `interval` is the time between two looks, in seconds.
    """
    run = WatchedRun(run_dir)
    while True:
        eyes.update(run.look())
        if once or run.done:
            return
        time.sleep(interval)


class WatchedRun:
    """Turns the files of a run into snapshots. Keeps totals, not lines."""

    def __init__(self, run_dir: Path) -> None:
        self.run_dir = Path(run_dir)
        require_run(self.run_dir)
        self._config = _read_config(self.run_dir)
        self._metrics = Follower(self.run_dir / METRICS)
        self._events = Follower(self.run_dir / EVENTS)
        self._summary: dict[str, Any] | None = None
        self._forget()

    def look(self) -> Snapshot:
        """Read what is new and return the state now."""
        metrics, events = self._metrics.read(), self._events.read()
        if self._metrics.restarted or self._events.restarted:  # resumed from an earlier step: the files were cut
            self._forget()
            self._metrics, self._events = Follower(self._metrics.path), Follower(self._events.path)
            metrics, events = self._metrics.read(), self._events.read()
        for record in metrics:
            self._take_step(record)
        for event in events:
            self._take_event(event)
        self._summary = read_summary(self.run_dir)
        return self._snapshot()

    @property
    def done(self) -> bool:
        """The summary is of the last step, and the run was not taken up again since."""
        if self._summary is None:
            return False
        resumed = (number(self._start, "time") or 0.0) > (self.run_dir / SUMMARY).stat().st_mtime
        return int(self._summary.get("steps") or 0) >= self._step and not resumed

    def _forget(self) -> None:
        self._last: dict[str, Any] | None = None
        self._step = 0
        self._executed = self._infra = 0
        self._worked = 0.0
        self._recent: deque[tuple[float, float, float]] = deque(maxlen=_RECENT)
        self._history: deque[float] = deque(maxlen=400)
        self._told: deque[str] = deque(maxlen=50)
        self._start: dict[str, Any] = {}
        self._best: tuple[str, str] | None = None

    def _take_step(self, record: dict[str, Any]) -> None:
        self._last = record
        seconds = {key: value or 0.0 for key, value in (record.get("seconds") or {}).items()}
        total = sum(seconds.values())
        self._worked += total
        if record.get("phase") == "warmup":
            return
        self._step = int(record["step"])
        rollouts = number(record, "rollouts") or 0.0
        self._recent.append((total, seconds.get("execute", 0.0), rollouts))
        self._executed += int(rollouts)
        self._infra += int(number(record, "infra") or 0)
        rate = number(record, "pass_rate")
        if rate is not None:
            self._history.append(rate)

    def _take_event(self, event: dict[str, Any]) -> None:
        if event.get("kind") == "start":  # of this sitting: a resumed run starts again
            self._start = event
        if event.get("kind") == "best":
            self._best = (str(event.get("target", "")), str(event.get("program", "")))
        elif event.get("kind") not in SAMPLES:
            self._told.append(describe(event))

    def _snapshot(self) -> Snapshot:
        steps = int(_dig(self._config, "training", "steps") or 0)
        total = number((self._summary or {}).get("seconds"), "total") if self.done else None
        seconds = self._worked if total is None else total
        pace = sum(t for t, _, _ in self._recent) / len(self._recent) if self._recent else None
        return Snapshot(
            name=self.run_dir.resolve().name,
            state=self._state(),
            step=self._step,
            steps=steps,
            seconds=seconds,
            eta_seconds=None if pace is None or self.done else pace * max(0, steps - self._step),
            model=str(self._start.get("model") or _dig(self._config, "model", "name") or ""),
            engine=str(self._start.get("engine") or self._config.get("engine") or ""),
            sandbox=self._sandbox(),
            target=float(_dig(self._config, "controller", "target") or 0.5),
            metrics=self._last,
            history=tuple(self._history),
            events=tuple(self._told),
            best=self._best,
        )

    def _state(self) -> str:
        if self.done:
            return "done"
        path = self.run_dir / METRICS
        silent = time.time() - path.stat().st_mtime if path.exists() else 0.0
        if silent > _SILENCE:
            return f"no news for {duration(silent)}"
        if self._last is None:
            return "starting"
        return "warm start" if self._last.get("phase") == "warmup" else "training"

    def _sandbox(self) -> dict[str, Any]:
        execute = sum(e for _, e, _ in self._recent)
        told = (self._summary or {}).get("sandbox") or {}
        return {
            "backend": self._start.get("sandbox") or told.get("backend") or _dig(self._config, "sandbox", "backend"),
            "executed": self._executed,
            "infra": self._infra,
            "programs_per_second": sum(r for _, _, r in self._recent) / execute if execute else None,
        }


def _read_config(run_dir: Path) -> dict[str, Any]:
    """The run's resolved config.yaml, as plain data: an old run stays readable when the schema grows."""
    import yaml

    path = run_dir / "config.yaml"
    if not path.exists():
        return {}
    try:
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise KolmoError(f"{path}: not YAML ({' '.join(str(error).split())})") from None
    return config if isinstance(config, dict) else {}


def _dig(config: dict[str, Any], section: str, key: str) -> Any:
    inner = config.get(section)
    return inner.get(key) if isinstance(inner, dict) else None
