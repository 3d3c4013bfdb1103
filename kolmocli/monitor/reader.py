"""Reading a run's files, during the run and after it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kolmocli.errors import KolmoError, UsageError
from kolmocli.monitor.events import Event, read_event
from kolmocli.monitor.records import StepRecord, read_step
from kolmocli.monitor.summary import Summary

METRICS = "metrics.jsonl"
EVENTS = "events.jsonl"
SUMMARY = "summary.json"


def require_run(run_dir: Path) -> None:
    """Raise UsageError when the folder is not there, or holds nothing that a run writes."""
    if not run_dir.is_dir():
        raise UsageError(f"{run_dir}: no such run folder")
    if not any((run_dir / file).exists() for file in (METRICS, EVENTS, "config.yaml")):
        raise UsageError(f"{run_dir}: holds no run (no {METRICS}); name the folder that `kolmo train` made")


def read_metrics(run_dir: Path) -> list[StepRecord]:
    """All steps so far, in order. A half-written last line is left out; no file yet gives no steps.

    Raises UsageError when there is no such folder, KolmoError naming the line when one is damaged.
    """
    return [read_step(line) for line in Follower(Path(run_dir) / METRICS).read()]


def read_events(run_dir: Path) -> list[Event]:
    """All events so far; as `read_metrics`."""
    return [read_event(line) for line in Follower(Path(run_dir) / EVENTS).read()]


def read_summary(run_dir: Path) -> Summary | None:
    """summary.json, or None while the run goes on."""
    path = Path(run_dir) / SUMMARY
    if not path.exists():
        return None
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise KolmoError(f"{path}: not JSON ({error}); it is written anew when the run ends") from None
    if not isinstance(summary, dict):
        raise KolmoError(f"{path}: expected an object")
    return Summary.from_json(summary)


class Follower:
    """Reads what was added to a JSONL file since the last look, whole lines only.

    When the file became shorter (the run was resumed from an earlier step) it starts again: `restarted`
    tells, and `read` gives all lines.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.restarted = False
        self._offset = 0
        self._line = 0

    def read(self) -> list[dict[str, Any]]:
        """The new records, oldest first."""
        if not self.path.parent.is_dir():
            raise UsageError(f"{self.path.parent}: no such run folder")
        if not self.path.exists():
            return []
        self.restarted = self.path.stat().st_size < self._offset
        if self.restarted:
            self._offset = self._line = 0
        with open(self.path, "rb") as file:
            file.seek(self._offset)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        records = []
        for line in whole.splitlines():
            self._line += 1
            records.append(self._record(line))
        self._offset += len(whole)
        return records

    def _record(self, line: bytes) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except ValueError as error:
            raise KolmoError(f"{self.path}, line {self._line}: not JSON ({error})") from None
        if not isinstance(record, dict):
            raise KolmoError(f"{self.path}, line {self._line}: expected an object")
        return record
