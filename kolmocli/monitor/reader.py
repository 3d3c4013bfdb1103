"""Reading a run's files, during the run and after it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kolmocli.errors import KolmoError, UsageError
from kolmocli.files import read_regular, require_regular
from kolmocli.monitor.events import CheckpointEvent, EvaluationEvent, Event, read_event
from kolmocli.monitor.records import ReinforceRecord, StepRecord, read_step
from kolmocli.monitor.summary import Summary
from kolmocli.plain import parsed

CONFIG = "config.yaml"
METRICS = "metrics.jsonl"
EVENTS = "events.jsonl"
SUMMARY = "summary.json"
_SHOWN = (("model", "name"), ("training", "steps"), ("controller", "target"))
"""Keys of the configuration that views show: every complete one has them."""
_LAST = "checkpoint_every"
"""The key that it ends with."""


def require_run(run_dir: Path) -> None:
    """Raise UsageError when the folder is not there, or holds nothing that a run writes."""
    if not run_dir.is_dir():
        raise UsageError(f"{run_dir}: no such run folder")
    if not any((run_dir / file).exists() for file in (METRICS, EVENTS, CONFIG)):
        raise UsageError(f"{run_dir}: holds no run (no {METRICS}); name the folder that `kolmo train` made")
    for file in (METRICS, EVENTS, CONFIG, SUMMARY):
        require_regular(run_dir / file)


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
        summary = parsed(read_regular(path).decode("utf-8"))
    except ValueError as error:
        raise KolmoError(f"{path}: not JSON ({error}); it is written anew when the run ends") from None
    if not isinstance(summary, dict):
        raise KolmoError(f"{path}: expected an object")
    return Summary.from_json(summary)


def read_config(run_dir: Path) -> dict[str, Any]:
    """The run's resolved config.yaml, as plain data: an old run stays readable when the schema grows. Empty where there is
    none. Raises KolmoError when it is not YAML."""
    import yaml

    from kolmocli.documents import Loader

    path = run_dir / CONFIG
    if not path.exists():
        return {}
    try:
        config = yaml.load(read_regular(path).decode("utf-8"), Loader=Loader)
    except RecursionError:
        raise KolmoError(f"{path}: not YAML (nested too deeply)") from None
    except (yaml.YAMLError, ValueError) as error:
        raise KolmoError(f"{path}: not YAML ({' '.join(str(error).split())})") from None
    return config if isinstance(config, dict) else {}


def dig(config: Mapping[str, Any], section: str, key: str) -> Any:
    inner = config.get(section)
    return inner.get(key) if isinstance(inner, dict) else None


def troubles(run_dir: Path) -> list[str]:
    """Faults of a run's files, a line for each missing or broken one: the views then show less than there was."""
    found = [f"{run_dir / name}: {wrong}" for name in (CONFIG, METRICS, EVENTS) if (wrong := _cut(run_dir / name))]
    if not any(line.startswith(str(run_dir / CONFIG)) for line in found):
        try:
            config = read_config(run_dir)
            lost = [f"{section}.{key}" for section, key in _SHOWN if dig(config, section, key) is None]
            lost += [_LAST] if _LAST not in config else []
            found += [f"{run_dir / CONFIG}: cut short: no {', '.join(lost)} in it"] if lost else []
        except KolmoError as error:
            found.append(str(error))
    # Events before steps: a run that goes on writes them in the other order.
    events, summary = read_events(run_dir), read_summary(run_dir) or Summary()
    told = {event.name for event in events if isinstance(event, EvaluationEvent)}
    lost = [name for name in ("before", "after") if getattr(summary.eval, name) and name not in told]
    if lost and events:
        found.append(f"{run_dir / EVENTS}: cut short: no evaluation {', '.join(lost)} in it")
    done = max([summary.steps or 0, *(event.step for event in events if isinstance(event, CheckpointEvent))])
    steps = [step for step in read_metrics(run_dir) if isinstance(step, ReinforceRecord)]
    if steps and len(steps) < done:
        found.append(f"{run_dir / METRICS}: cut short: {len(steps):,} of the {done:,} steps that were done")
    return found


def _cut(path: Path) -> str:
    """Fault at the end of a file that is written line by line."""
    if not path.exists():
        return "missing"
    require_regular(path)
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 1))
        return "empty" if not size else "" if file.read() == b"\n" else "its last line is cut short"


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
        require_regular(self.path)
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
            record = parsed(line)
        except ValueError as error:
            raise KolmoError(f"{self.path}, line {self._line}: not JSON ({error})") from None
        if not isinstance(record, dict):
            raise KolmoError(f"{self.path}, line {self._line}: expected an object")
        return record
