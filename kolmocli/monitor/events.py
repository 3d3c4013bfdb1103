"""The lines of events.jsonl as typed records, and each of them in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kolmocli.console import printable
from kolmocli.monitor.record import Record, key


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Record):
    """One line of events.jsonl; each kind adds fields of its own."""

    kind: str = key("word", "what happened, below", default="event")
    step: int = key("count", "REINFORCE steps done; 0 before and during the warm start", default=0)
    time: float | None = key("s", "Unix time")


@dataclass(frozen=True, slots=True, kw_only=True)
class StartEvent(Event):
    """a sitting began: `model`, `engine`, `sandbox` (with `auto` resolved), `text`"""

    kind: str = "start"
    model: str | None = None
    engine: str | None = None
    sandbox: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerEvent(Event):
    """`text`: what the controller noticed"""

    kind: str = "controller"
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderEvent(Event):
    """a grader seems broken, or works again: `family`, `level`, `why` as in `grader`, or `repaired`; `text`"""

    kind: str = "grader"
    family: str | None = None
    level: int | None = None
    why: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerEvent(Event):
    """`text`: the sitting's first update skipped for a gradient that is not finite"""

    kind: str = "learner"
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineEvent(Event):
    """`text`: a generator was lost, replaced or given up, and why"""

    kind: str = "engine"
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationEvent(Event):
    """`name` (`before`, `step N`, `after`), `n`, `accuracy`, `accuracy_ci`, `compression_rate`, `text`"""

    kind: str = "eval"
    name: str | None = None
    accuracy: float | None = None
    accuracy_ci: tuple[float, float] | None = None
    n: int | None = None
    compression_rate: float | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BestEvent(Event):
    """the program that saved most bits so far (without a literal: that passed where fewest do): `family`, `bits`, `literal_bits`, `target`, `program`"""

    kind: str = "best"
    family: str | None = None
    bits: int | None = None
    literal_bits: int | None = None
    target: str | None = None
    program: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingEvent(Event):
    """every fifth step, and where a grader seems broken, a failed program: `family`, `level`, `verdict`, `target`, `made` (its value, 64 items at most), `program`"""

    kind: str = "failing"
    family: str | None = None
    level: int | None = None
    verdict: str | None = None
    target: str | None = None
    made: str | None = None
    program: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointEvent(Event):
    """`path` of the folder, `text`"""

    kind: str = "checkpoint"
    text: str | None = None
    path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppedEvent(Event):
    """saved before the run was done; `text` names the signal, error or `--stop-at`"""

    kind: str = "stopped"
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherEvent(Event):
    """A kind that is not known here, as a newer run may write it."""

    fields: Mapping[str, Any] = field(default_factory=dict)


KINDS: dict[str, type[Event]] = {
    "start": StartEvent,
    "controller": ControllerEvent,
    "grader": GraderEvent,
    "learner": LearnerEvent,
    "engine": EngineEvent,
    "eval": EvaluationEvent,
    "best": BestEvent,
    "failing": FailingEvent,
    "checkpoint": CheckpointEvent,
    "stopped": StoppedEvent,
}
SAMPLES = (BestEvent, FailingEvent)
"""They show a program: nothing for a list of what happened."""
_COMMON = ("kind", "step", "time")


def read_event(data: Mapping[str, Any]) -> Event:
    """One line of events.jsonl."""
    known = KINDS.get(str(data.get("kind")))
    if known is not None:
        return known.from_json(data)
    rest = {name: value for name, value in data.items() if name not in _COMMON}
    return OtherEvent.from_json({**data, "fields": rest})


def describe(event: Event) -> str:
    """One line: the step, and what happened in the event's own words (`text`), else its kind and fields."""
    return printable(f"step {event.step}: {getattr(event, 'text', None) or _fields(event)}")


def _fields(event: Event) -> str:
    found = event.fields if isinstance(event, OtherEvent) else event.to_json()
    listed = ", ".join(f"{name} {value}" for name, value in found.items() if name not in _COMMON)
    return f"{event.kind} {listed}".rstrip()
