"""Everything in one process, but for the sandbox where programs run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import torch

from kolmocli.engine.background import BackgroundJudge
from kolmocli.engine.base import Choose, Experience, Group, Request
from kolmocli.engine.report import Cost, GeneratorReport
from kolmocli.learning.limits import ROWS_AT_ONCE
from kolmocli.pace import Pace
from kolmocli.policy.policy import Policy
from kolmocli.policy.rollout import Rollout
from kolmocli.policy.vllm import VllmSampler
from kolmocli.sandbox.base import Health
from kolmocli.tasks.base import Task
from kolmocli.tasks.chat import program_in
from kolmocli.tasks.judging import Judge
from kolmocli.tasks.outcome import Outcome


class LocalEngine:
    def __init__(
        self, policy: Policy, judge: Judge, max_new_tokens: int, temperature: float = 1.0, pace: Pace | None = None
    ) -> None:
        self.policy, self.pace = policy, pace or Pace()
        self._judge, self._max_new_tokens, self.temperature = judge, max_new_tokens, temperature

    def rollout(self, choose: Choose, step: int) -> Experience:
        request = choose(step)
        assert request is not None, f"step {step} is after the last"
        return self.sample(request)

    def sample(self, request: Request, first: int = 0) -> Experience:
        """With `first`, as the part of a larger request after its first `first` tasks."""
        tasks, samples, seed = request.tasks, request.samples, request.seed
        generator = None if seed is None else torch.Generator(self.policy.model.device).manual_seed(seed)
        if generator is not None:  # each rollout draws its numbers from the start
            torch.rand(first * samples, self._max_new_tokens, generator=generator, device=generator.device)
        rollouts: list[Rollout] = []
        per_chunk = max(1, ROWS_AT_ONCE // samples)
        began = time.perf_counter()

        def judge(numbers: Sequence[int], texts: Sequence[str]) -> list[Outcome]:
            return self._judge([tasks[number // samples] for number in numbers], texts)

        with BackgroundJudge(judge) as judging, self.pace.counting(len(tasks) * samples, "rollouts") as written:
            for start in range(0, len(tasks), per_chunk):
                chunk = tasks[start : start + per_chunk]

                def finished(row: int, rollout: Rollout, before: int = len(rollouts)) -> None:
                    judging.take(before + row, self._answer(tasks[(before + row) // samples], rollout))
                    written(1)

                rollouts += self.policy.rollout(
                    [task.asked for task in chunk],
                    prefixes=[task.prefix for task in chunk],
                    samples=samples,
                    max_new_tokens=self._max_new_tokens,
                    generator=generator,
                    temperature=self.temperature,
                    finished=finished,
                    look=self.pace.look,
                )
            sampled = time.perf_counter()
            outcomes = [
                outcome if rollout.finished else replace(outcome, cut_off=True)
                for rollout, outcome in zip(rollouts, judging.outcomes(self.pace.look), strict=True)
            ]
            judged = time.perf_counter()
        groups = [
            Group(task, rollouts[i : i + samples], outcomes[i : i + samples])
            for i, task in zip(range(0, len(rollouts), samples), tasks, strict=True)
        ]
        return Experience(groups, Cost(sum(len(r.tokens) for r in rollouts), sampled - began, judged - sampled))

    def _answer(self, task: Task, rollout: Rollout) -> str:
        """The text to judge. Presets write nothing around a program; the rest of other models' answers is removed."""
        whole = task.language == "text" or self.policy.is_preset
        return rollout.text if whole else program_in(task, rollout.text).in_place

    def health(self) -> Health:
        return self._judge.health()

    def events(self) -> list[str]:
        return []

    def generators(self) -> dict[str, GeneratorReport]:
        return {}

    def close(self) -> None:
        self._judge.close()
        if isinstance(self.policy.sampler, VllmSampler):
            self.policy.sampler.close()
