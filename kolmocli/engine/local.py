"""Everything in one process, programs in the sandbox."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from kolmocli.config import Config
from kolmocli.engine.base import Collected, Group
from kolmocli.environment import judge
from kolmocli.policy.policy import Policy
from kolmocli.policy.rollout import Rollout
from kolmocli.reward import reward_rule
from kolmocli.sandbox.base import Health, Sandbox
from kolmocli.tasks.base import Task
from kolmocli.training.checkpoint import save_checkpoint
from kolmocli.training.learner import Learner, StepReport, Weighted
from kolmocli.training.limits import ROWS_AT_ONCE


class LocalEngine:
    def __init__(self, config: Config, policy: Policy, sandbox: Sandbox) -> None:
        self.policy = policy
        self.sandbox = sandbox
        self._training = config.training
        self._rule = reward_rule(config.reward)

    @cached_property
    def _learner(self) -> Learner:
        """Made when it is needed: a policy that is only evaluated may have nothing to train."""
        return Learner(
            self.policy,
            learning_rate=self._training.learning_rate,
            max_grad_norm=self._training.max_grad_norm,
            entropy_bonus=self._training.entropy_bonus,
            optimiser=self._training.optimizer,
        )

    def collect(self, tasks: Sequence[Task], *, samples: int, seed: int | None) -> Collected:
        generator = None if seed is None else torch.Generator(self.policy.model.device).manual_seed(seed)
        groups: list[Group] = []
        rollout_seconds = execute_seconds = 0.0
        per_chunk = max(1, ROWS_AT_ONCE // samples)
        for start in range(0, len(tasks), per_chunk):
            chunk = tasks[start : start + per_chunk]
            began = time.perf_counter()
            rollouts = self.policy.rollout(
                [t.target for t in chunk],
                samples=samples,
                max_new_tokens=self._training.max_new_tokens,
                generator=generator,
            )
            sampled = time.perf_counter()
            rows = [t for t in chunk for _ in range(samples)]
            outcomes = judge(rows, [r.text for r in rollouts], self.sandbox, self._rule, self._training.max_lines)
            judged = time.perf_counter()
            rollout_seconds += sampled - began
            execute_seconds += judged - sampled
            for i, task in enumerate(chunk):
                mine = slice(i * samples, (i + 1) * samples)
                groups.append(Group(task, rollouts[mine], outcomes[mine]))
        tokens = sum(len(r.tokens) for g in groups for r in g.rollouts)
        return Collected(groups, tokens, rollout_seconds, execute_seconds)

    def answers(self, tasks: Sequence[Task]) -> list[Rollout]:
        return [self.policy.answer(t.target, t.reference) for t in tasks if t.reference is not None]

    def learn(self, batch: Sequence[Weighted], denominator: float, learning_rate: float) -> StepReport:
        self._learner.set_learning_rate(learning_rate)
        return self._learner.step(batch, denominator)

    def health(self) -> Health:
        return self.sandbox.health()

    def save(self, run_dir: Path, step: int, state: dict[str, Any]) -> Path:
        return save_checkpoint(run_dir, step, self.policy, self._learner.state_dict(), state)

    def load(self, optimiser: dict[str, Any]) -> None:
        self._learner.load_state_dict(optimiser)

    def close(self) -> None:
        self.sandbox.close()
