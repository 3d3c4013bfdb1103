"""What goes between the trainer and a generator: small, and light to import."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kolmocli.policy.rollout import Rollout
    from kolmocli.sandbox.base import Health
    from kolmocli.tasks.base import Task
    from kolmocli.tasks.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Ready:
    """What a generator says of itself when it can begin; or with `error` the exit code and the line why it cannot."""

    pid: int
    health: Health | None = None
    warnings: Sequence[str] = ()
    error: tuple[int, str] | None = None


@dataclass(frozen=True, slots=True)
class Share:
    """Some neighbouring tasks of a batch. `first` is how many came before them: their random numbers go on from there."""

    tasks: Sequence[Task]
    samples: int
    seed: int | None
    first: int


@dataclass(frozen=True, slots=True)
class Written:
    """The rollouts and outcomes of a share, a pair of lists per task, by a policy after `version` updates."""

    groups: Sequence[tuple[Sequence[Rollout], Sequence[Outcome]]]
    version: int
    tokens: int
    rollout_seconds: float
    execute_seconds: float
    health: Health
