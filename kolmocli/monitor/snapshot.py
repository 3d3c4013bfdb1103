"""The state of a run at one moment: all that a view needs, and nothing that it could change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kolmocli.monitor.records import BucketRecord, ReinforceRecord, WarmRecord
from kolmocli.monitor.summary import SummarySandbox
from kolmocli.pace import Reached


@dataclass(frozen=True, slots=True)
class Snapshot:
    """State of a run now. Views are pure functions of it."""

    name: str
    """The run's name, as the user knows it."""
    state: str
    """Current activity, in a word or two: "warm start", "rollout", "execute", "learn", "evaluate", "done"."""
    step: int
    steps: int
    """Steps of the whole run; 0 when unknown."""
    seconds: float
    """Since the run began."""
    reached: Reached | None = None
    """Progress of that, where it is counted."""
    eta_seconds: float | None = None
    """Until it ends, when that is known."""
    model: str = ""
    engine: str = ""
    sandbox: SummarySandbox = field(default_factory=SummarySandbox)
    """So far."""
    target: float = 0.5
    """The pass rate to hold."""
    metrics: WarmRecord | ReinforceRecord | None = None
    """The latest step."""
    history: tuple[float, ...] = ()
    """Pass rate of every step, oldest first."""
    events: tuple[str, ...] = ()
    """Newest last, one line each."""
    best: tuple[str, str] | None = None
    """A target and the shortest program found for it, as texts."""

    @property
    def buckets(self) -> Mapping[str, BucketRecord]:
        """The families of the latest step; none before the first of REINFORCE."""
        return (self.metrics.buckets or {}) if isinstance(self.metrics, ReinforceRecord) else {}
