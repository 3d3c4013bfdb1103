"""Messages between the trainer and a generator: small, and light to import."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kolmocli.config import Training
    from kolmocli.config.machine import Model, SandboxSection
    from kolmocli.engine.report import Cost
    from kolmocli.policy.presets import Alphabet
    from kolmocli.policy.rollout import Rollout
    from kolmocli.sandbox.base import Health, Limits
    from kolmocli.tasks.base import Task
    from kolmocli.tasks.outcome import Outcome
    from kolmocli.tasks.reward import Reward


@dataclass(frozen=True, slots=True)
class GeneratorSettings:
    """Sections of a configuration from which a generator builds itself in its own process."""

    seed: int
    model: Model
    training: Training
    reward: Reward
    sandbox: SandboxSection | None
    """None where nothing is run."""
    adapter_rank: int
    alphabet: Alphabet
    most: Limits | None = None
    """Largest limits that a task may grant its programs; None: those of the section for all."""


@dataclass(frozen=True, slots=True)
class Startup:
    """A generator's first message when it can begin; or with `error` the exit code and the line why it cannot."""

    pid: int
    health: Health | None = None
    warnings: Sequence[str] = ()
    error: tuple[int, str] | None = None


@dataclass(frozen=True, slots=True)
class Shard:
    """Some neighbouring tasks of a batch. `first` is how many came before them: their random numbers go on from there.
    `temperature` is that of the trainer when it asked."""

    tasks: Sequence[Task]
    samples: int
    seed: int | None
    first: int
    temperature: float


@dataclass(frozen=True, slots=True)
class ShardResult:
    """The rollouts and outcomes of a shard, a pair of lists per task, by a policy after `version` updates."""

    groups: Sequence[tuple[Sequence[Rollout], Sequence[Outcome]]]
    version: int
    cost: Cost
    health: Health
