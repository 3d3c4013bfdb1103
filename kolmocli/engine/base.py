"""What an engine is: where rollouts are made, programs run and weights change. The loop does not know which."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from kolmocli.curriculum.base import Result
from kolmocli.learning.learner import StepReport, Weighted
from kolmocli.policy.rollout import Rollout
from kolmocli.sandbox.base import Health
from kolmocli.tasks.base import Task
from kolmocli.tasks.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Group:
    """The G rollouts of one task with their outcomes. `age`: policy updates since it was sampled."""

    task: Task
    rollouts: Sequence[Rollout]
    outcomes: Sequence[Outcome]
    age: int = 0

    def result(self) -> Result:
        """What the controller sees: passes among the rollouts that the sandbox could judge."""
        judged = [o for o in self.outcomes if o.reward is not None]
        return Result(self.task.bucket, sum(o.passed for o in judged), len(judged), self.age)


@dataclass(frozen=True, slots=True)
class Collected:
    """`tokens` were sampled; the seconds are wall time."""

    groups: list[Group]
    tokens: int
    rollout_seconds: float
    execute_seconds: float


class Engine(Protocol):
    lead: int
    """How many batches may be begun before the one that is learnt from next, and so how many updates old it can be."""

    def begin(self, tasks: Sequence[Task], *, samples: int, seed: int) -> Callable[[], Collected]:
        """As `collect`, but what comes back is a call that waits: an engine with other processes is at work meanwhile."""
        ...

    def collect(self, tasks: Sequence[Task], *, samples: int, seed: int | None) -> Collected:
        """Sample `samples` programs per task and run them. `seed` None decodes greedily."""
        ...

    def answers(self, tasks: Sequence[Task]) -> list[Rollout]:
        """The reference programs of the tasks as supervised answers."""
        ...

    def learn(
        self, batch: Sequence[Weighted], denominator: float, learning_rate: float, *, noise: bool = False
    ) -> StepReport:
        """One update; with `noise` its report says how much the gradients of the groups differed."""
        ...

    def health(self) -> Health: ...

    def news(self) -> list[str]:
        """What happened to the engine since it was last asked, a line each."""
        ...

    def generators(self) -> dict[str, dict[str, Any]]:
        """What each process that writes programs did since this was last asked; empty where this one does."""
        ...

    def save(self, run_dir: Path, step: int, state: dict[str, Any]) -> Path:
        """A complete checkpoint of policy, optimiser and `state`."""
        ...

    def load(self, optimiser: dict[str, Any]) -> None: ...

    def close(self) -> None: ...
