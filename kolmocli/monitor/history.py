"""A run as its files tell it: all that figures and pages are drawn from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import TypeVar

from kolmocli.monitor.events import EvaluationEvent, Event
from kolmocli.monitor.reader import read_events, read_metrics, read_summary, require_run
from kolmocli.monitor.records import BucketRecord, ReinforceRecord, StepRecord, WarmRecord
from kolmocli.monitor.summary import Summary

SomeEvent = TypeVar("SomeEvent", bound=Event)
SomeRecord = TypeVar("SomeRecord", bound=StepRecord)


@dataclass(frozen=True, slots=True)
class History:
    """The files of a run, read. `name` is that of its folder."""

    warmup: list[WarmRecord]
    rl: list[ReinforceRecord]
    events: list[Event]
    summary: Summary = field(default_factory=Summary)
    name: str = ""

    @property
    def evaluations(self) -> list[EvaluationEvent]:
        """Those with an accuracy, in order of steps."""
        return sorted((e for e in self.of_kind(EvaluationEvent) if e.accuracy is not None), key=lambda e: e.step)

    @property
    def target(self) -> float:
        target = self.summary.pass_rate.target
        return 0.5 if target is None else target

    @property
    def families(self) -> list[str]:
        """In the order in which the steps name them."""
        return list(dict.fromkeys(name for record in self.rl for name in record.buckets or {}))

    def of_kind(self, kind: type[SomeEvent]) -> list[SomeEvent]:
        return [event for event in self.events if isinstance(event, kind)]

    def of_family(self, name: str) -> list[tuple[int, BucketRecord]]:
        """The entries of one family, each with its step."""
        return [(r.step, r.buckets[name]) for r in self.rl if r.buckets and name in r.buckets]


def read_history(run_dir: Path) -> History:
    """Everything that a run has written so far. Raises UsageError when the folder is not there or holds no run."""
    run_dir = Path(run_dir)
    require_run(run_dir)
    steps = read_metrics(run_dir)
    return History(
        [step for step in steps if isinstance(step, WarmRecord)],
        [step for step in steps if isinstance(step, ReinforceRecord)],
        read_events(run_dir),
        read_summary(run_dir) or Summary(),
        run_dir.resolve().name,
    )


def series(
    records: Sequence[SomeRecord], value: Callable[[SomeRecord], float | None]
) -> tuple[list[float], list[float]]:
    """(steps, values) of the records that have the number."""
    known = [(float(r.step), found) for r in records if (found := value(r)) is not None]
    return [step for step, _ in known], [found for _, found in known]


def running_total(values: Sequence[float]) -> list[float]:
    """Cumulative sums."""
    return list(accumulate(values))
