"""The contract of an engine, which writes and judges rollouts. The loop does not know where it does so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from kolmocli.curriculum.base import Result
from kolmocli.engine.report import Cost, GeneratorReport
from kolmocli.pace import Pace
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
        """The group as the controller sees it: passes among the rollouts that the sandbox could judge."""
        judged = [o for o in self.outcomes if o.reward is not None]
        return Result(
            self.task.bucket, sum(o.passed for o in judged), len(judged), self.age, sum(o.unread for o in judged)
        )


@dataclass(frozen=True, slots=True)
class Experience:
    """Rollouts of several tasks, judged, and what they cost."""

    groups: list[Group]
    cost: Cost


@dataclass(frozen=True, slots=True)
class Request:
    """`samples` rollouts for each task. `seed` None decodes greedily."""

    tasks: Sequence[Task]
    samples: int
    seed: int | None = None


Choose = Callable[[int], Request | None]
"""Gives the request of a step; None after the last one."""


class Engine(Protocol):
    pace: Pace
    """Counts rollouts, and is looked at while they are written and judged."""
    temperature: float
    """Of what is sampled from now on; each rollout has its own with it."""

    def rollout(self, choose: Choose, step: int) -> Experience:
        """The step's rollouts, written by the policy and judged. An engine that works ahead asks `choose` for
        later steps too, before their turn has come."""
        ...

    def sample(self, request: Request) -> Experience:
        """The same for something else than a step, by the newest policy."""
        ...

    def health(self) -> Health:
        """The sandbox's health."""
        ...

    def events(self) -> list[str]:
        """Events of the engine since the last call, a line each."""
        ...

    def generators(self) -> dict[str, GeneratorReport]:
        """The processes that write programs, by number; empty where this one does."""
        ...

    def close(self) -> None: ...
