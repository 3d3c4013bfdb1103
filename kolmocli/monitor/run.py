"""A run as its files tell it: all that figures and pages are drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

from kolmocli.monitor.reader import read_events, read_metrics, read_summary, require_run
from kolmocli.monitor.words import number

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """The files of a run, read. `name` is that of its folder."""

    metrics: list[Record]
    events: list[Record]
    summary: Record = field(default_factory=dict)
    name: str = ""

    @property
    def rl(self) -> list[Record]:
        """The steps after the warm start."""
        return [record for record in self.metrics if record.get("phase") != "warmup"]

    @property
    def warmup(self) -> list[Record]:
        return [record for record in self.metrics if record.get("phase") == "warmup"]

    @property
    def evaluations(self) -> list[Record]:
        """Evaluation events in order of steps, each with an accuracy."""
        found = [e for e in self.of_kind("eval") if number(e, "accuracy") is not None]
        return sorted(found, key=lambda e: int(e["step"]))

    @property
    def target(self) -> float:
        target = number(self.summary.get("pass_rate"), "target")
        return 0.5 if target is None else target

    @property
    def families(self) -> list[str]:
        """In the order in which the steps name them."""
        return list(dict.fromkeys(name for r in self.rl for name in r.get("buckets") or {}))

    def of_kind(self, kind: str) -> list[Record]:
        return [event for event in self.events if event.get("kind") == kind]

    def of_family(self, name: str) -> list[Record]:
        """The entries of one family, each with its step."""
        return [{"step": r["step"], **r["buckets"][name]} for r in self.rl if name in (r.get("buckets") or {})]


def read_run(run_dir: Path) -> Run:
    """Everything that a run has written so far. Raises UsageError when the folder is not there or holds no run."""
    run_dir = Path(run_dir)
    require_run(run_dir)
    return Run(read_metrics(run_dir), read_events(run_dir), read_summary(run_dir) or {}, run_dir.resolve().name)


def series(records: Sequence[Record], key: str) -> tuple[list[float], list[float]]:
    """(steps, values) of the records that have the number."""
    found = [(float(r["step"]), number(r, key)) for r in records]
    kept = [(step, value) for step, value in found if value is not None]
    return [step for step, _ in kept], [value for _, value in kept]


def running_total(values: Sequence[float]) -> list[float]:
    """Cumulative sums."""
    return list(accumulate(values))
