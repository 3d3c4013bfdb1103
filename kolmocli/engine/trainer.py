"""The half of an engine that learns: the policy with its optimiser, in this process whatever the engine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from kolmocli.config import Config
from kolmocli.learning.learner import Learner, StepReport, Weighted
from kolmocli.learning.saving import save_checkpoint
from kolmocli.policy.policy import Policy
from kolmocli.policy.reference import open_reference
from kolmocli.policy.rollout import Rollout
from kolmocli.tasks.base import Task


class Trainer:
    def __init__(self, config: Config, policy: Policy) -> None:
        self.policy = policy
        self._config = config
        self._training = config.training

    @cached_property
    def _learner(self) -> Learner:
        """Made when it is needed: a policy that is only evaluated may have nothing to train."""
        return Learner(
            self.policy,
            learning_rate=self._training.learning_rate,
            max_grad_norm=self._training.max_grad_norm,
            entropy_bonus=self._training.entropy_bonus,
            optimiser=self._training.optimizer,
            kl=self._training.kl,
            reference=open_reference(self._config, self.policy),
            ratio_cap=self._config.ratio_cap,
            temperature=self._training.temperature,
            recompute=self._training.gradient_checkpointing,
        )

    def answers(self, tasks: Sequence[Task]) -> list[Rollout]:
        return [self.policy.answer(t.asked, t.reference) for t in tasks if t.reference is not None]

    def learn(
        self, batch: Sequence[Weighted], denominator: float, learning_rate: float, *, noise: bool = False
    ) -> StepReport:
        self._learner.set_learning_rate(learning_rate)
        return self._learner.step(batch, denominator, noise=noise)

    def notes(self) -> list[str]:
        """What training this model costs more than it would another."""
        return self._learner.scorer.notes

    def save(self, run_dir: Path, step: int, state: dict[str, Any]) -> Path:
        return save_checkpoint(run_dir, step, self.policy, self._learner.state_dict(), state)

    def load(self, optimiser: dict[str, Any]) -> None:
        self._learner.load_state_dict(optimiser)
