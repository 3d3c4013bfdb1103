"""The state of a run at one moment: all that a view needs, and nothing that it could change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What is known of a run now. Views are pure functions of it."""

    name: str
    """Of the run, as the user knows it."""
    state: str
    """What happens now, in a word or two: "warm start", "rollout", "execute", "learn", "evaluate", "done"."""
    step: int
    steps: int
    """Steps of the whole run; 0 when unknown."""
    seconds: float
    """Since the run began."""
    eta_seconds: float | None = None
    """Until it ends, when that can be told."""
    model: str = ""
    engine: str = ""
    sandbox: Mapping[str, Any] = field(default_factory=dict)
    """`backend`, `executed`, `infra`, `programs_per_second`."""
    target: float = 0.5
    """The pass rate to hold."""
    metrics: Mapping[str, Any] | None = None
    """The latest line of metrics.jsonl."""
    history: tuple[float, ...] = ()
    """Pass rate of every step, oldest first."""
    events: tuple[str, ...] = ()
    """Newest last, one line each."""
    best: tuple[str, str] | None = None
    """A target and the shortest program found for it, as texts."""
