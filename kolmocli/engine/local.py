"""Everything in one process, programs in the sandbox."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from kolmocli.config import Config
from kolmocli.engine.base import Collected, Group
from kolmocli.engine.referee import Referee
from kolmocli.environment import Outcome, judge
from kolmocli.policy.policy import Policy
from kolmocli.policy.reference import open_reference
from kolmocli.policy.rollout import Rollout
from kolmocli.reward import reward_rule
from kolmocli.sandbox import open_sandbox
from kolmocli.sandbox.base import Health, Limits, Sandbox
from kolmocli.tasks.base import Task
from kolmocli.training.checkpoint import save_checkpoint
from kolmocli.training.learner import Learner, StepReport, Weighted
from kolmocli.training.limits import ROWS_AT_ONCE


def open_engine(config: Config, policy: Policy, backend: str, warn: Callable[[str], None]) -> LocalEngine:
    """The engine of a run or an evaluation, with a sandbox of `backend` that is its own to close.

    Raises:
        EnvironmentMissing: the sandbox that was asked for is not there.
    """
    asked = config.sandbox
    sandbox = open_sandbox(
        backend,
        limits=Limits(asked.cpu_ms, asked.wall_ms, asked.memory_mb),
        workers=asked.workers or None,
        warn=warn,
        runtime=asked.runtime,
    )
    return LocalEngine(config, policy, sandbox)


class LocalEngine:
    def __init__(self, config: Config, policy: Policy, sandbox: Sandbox) -> None:
        self.policy = policy
        self.sandbox = sandbox
        self._config = config
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
            kl=self._training.kl,
            reference=open_reference(self._config, self.policy),
            ratio_cap=self._training.ratio_cap,
            recompute=self._training.gradient_checkpointing,
        )

    def collect(self, tasks: Sequence[Task], *, samples: int, seed: int | None) -> Collected:
        generator = None if seed is None else torch.Generator(self.policy.model.device).manual_seed(seed)
        rollouts: list[Rollout] = []
        per_chunk = max(1, ROWS_AT_ONCE // samples)
        began = time.perf_counter()

        def judged_now(numbers: Sequence[int], texts: Sequence[str]) -> list[Outcome]:
            rows = [tasks[number // samples] for number in numbers]
            return judge(rows, texts, self.sandbox, self._rule, self._training.max_lines)

        with Referee(judged_now) as referee:
            for start in range(0, len(tasks), per_chunk):
                chunk = tasks[start : start + per_chunk]

                def finished(row: int, rollout: Rollout, before: int = len(rollouts)) -> None:
                    referee.take(before + row, rollout.text)

                rollouts += self.policy.rollout(
                    [t.target for t in chunk],
                    given=[t.hint for t in chunk],
                    samples=samples,
                    max_new_tokens=self._training.max_new_tokens,
                    generator=generator,
                    finished=finished,
                )
            sampled = time.perf_counter()
            outcomes = referee.outcomes()
            judged = time.perf_counter()
        groups = [
            Group(task, rollouts[i : i + samples], outcomes[i : i + samples])
            for i, task in zip(range(0, len(rollouts), samples), tasks, strict=True)
        ]
        return Collected(groups, sum(len(r.tokens) for r in rollouts), sampled - began, judged - sampled)

    def answers(self, tasks: Sequence[Task]) -> list[Rollout]:
        return [self.policy.answer(t.target, t.reference) for t in tasks if t.reference is not None]

    def learn(
        self, batch: Sequence[Weighted], denominator: float, learning_rate: float, *, noise: bool = False
    ) -> StepReport:
        self._learner.set_learning_rate(learning_rate)
        return self._learner.step(batch, denominator, noise=noise)

    def notes(self) -> list[str]:
        """What training this model costs more than it would another."""
        return self._learner.scorer.notes

    def health(self) -> Health:
        return self.sandbox.health()

    def save(self, run_dir: Path, step: int, state: dict[str, Any]) -> Path:
        return save_checkpoint(run_dir, step, self.policy, self._learner.state_dict(), state)

    def load(self, optimiser: dict[str, Any]) -> None:
        self._learner.load_state_dict(optimiser)

    def close(self) -> None:
        self.sandbox.close()
