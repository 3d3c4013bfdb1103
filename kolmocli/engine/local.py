"""Everything in one process, but for the sandbox where programs run."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from kolmocli.config import Config, Training
from kolmocli.engine.base import Collected, Group
from kolmocli.engine.judging import open_judge
from kolmocli.engine.referee import Referee
from kolmocli.engine.trainer import Trainer
from kolmocli.language.answers import program_in_place
from kolmocli.learning.limits import ROWS_AT_ONCE
from kolmocli.policy.policy import Policy
from kolmocli.policy.rollout import Rollout
from kolmocli.policy.roulette import numbers_per_row
from kolmocli.policy.vllm import VllmSampler, open_vllm
from kolmocli.sandbox.base import Health
from kolmocli.sandbox.opening import Backend
from kolmocli.tasks.base import Task
from kolmocli.tasks.judging import Judge
from kolmocli.tasks.outcome import Outcome


def open_engine(config: Config, policy: Policy, backend: Backend, warn: Callable[[str], None]) -> LocalEngine:
    """The engine of a run or an evaluation, with a judge that is its own to close.

    Raises:
        EnvironmentMissing: the sandbox that was asked for is not there.
        UsageError: a sandbox was asked for where nothing is run.

    And what `open_vllm` raises, where vLLM was asked for.
    """
    judge = open_judge(config, backend, warn)
    if config.model.sampler == "vllm":
        try:
            policy.sampler = open_vllm(policy, config.model.sampler_memory)
        except BaseException:
            judge.close()
            raise
    return LocalEngine(config, policy, judge)


class LocalEngine(Trainer):
    lead = 0

    def __init__(self, config: Config, policy: Policy, judge: Judge) -> None:
        super().__init__(config, policy)
        self._judge = judge

    def begin(self, tasks: Sequence[Task], *, samples: int, seed: int) -> Callable[[], Collected]:
        return partial(self.collect, tasks, samples=samples, seed=seed)

    def collect(self, tasks: Sequence[Task], *, samples: int, seed: int | None, first: int = 0) -> Collected:
        """With `first`, as the part of a larger batch that so many tasks come before in."""
        generator = None if seed is None else torch.Generator(self.policy.model.device).manual_seed(seed)
        if generator is not None:
            _skip(generator, first * samples, self._training)
        rollouts: list[Rollout] = []
        per_chunk = max(1, ROWS_AT_ONCE // samples)
        began = time.perf_counter()

        def judged_now(numbers: Sequence[int], texts: Sequence[str]) -> list[Outcome]:
            rows = [tasks[number // samples] for number in numbers]
            return self._judge(rows, texts)

        with Referee(judged_now) as referee:
            for start in range(0, len(tasks), per_chunk):
                chunk = tasks[start : start + per_chunk]

                def finished(row: int, rollout: Rollout, before: int = len(rollouts)) -> None:
                    referee.take(before + row, self._answer(tasks[(before + row) // samples], rollout))

                rollouts += self.policy.rollout(
                    [t.asked for t in chunk],
                    prefixes=[t.prefix for t in chunk],
                    samples=samples,
                    max_new_tokens=self._training.max_new_tokens,
                    generator=generator,
                    temperature=self._training.temperature,
                    stop_below=self._training.stop_hopeless,
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

    def _answer(self, task: Task, rollout: Rollout) -> str:
        """What is judged. Presets write nothing around a program; what other models do is taken away."""
        whole = task.language == "text" or self.policy.is_preset
        return rollout.text if whole else program_in_place(rollout.text)

    def health(self) -> Health:
        return self._judge.health()

    def news(self) -> list[str]:
        return []

    def generators(self) -> dict[str, dict[str, Any]]:
        return {}

    def close(self) -> None:
        self._judge.close()
        if isinstance(self.policy.sampler, VllmSampler):
            self.policy.sampler.close()


def _skip(generator: torch.Generator, rows: int, training: Training) -> None:
    """Move the random numbers on by what so many rollouts draw, each its own from the start."""
    width = numbers_per_row(training.max_new_tokens, training.stop_hopeless is not None)
    torch.rand(rows, width, generator=generator, device=generator.device)
