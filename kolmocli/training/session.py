"""A run in progress: its engine, controller, tasks and state, and everything that is written down of it."""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import mean
from typing import Any

from kolmocli.config import Config
from kolmocli.curriculum.base import Bucket, Controller, FamilyMetrics
from kolmocli.engine.base import Collected, Engine, Group
from kolmocli.errors import KolmoError
from kolmocli.learning.learner import StepReport
from kolmocli.monitor.events import describe
from kolmocli.monitor.live import Eyes
from kolmocli.monitor.snapshot import Snapshot
from kolmocli.monitor.writer import RunLog
from kolmocli.seeds import derived_seed
from kolmocli.tasks.base import Task, TaskSource
from kolmocli.training.hints import Hints
from kolmocli.training.records import answers_record, failing, gradient_record, shown, step_record
from kolmocli.training.self_play import SelfPlay
from kolmocli.training.signals import StopRequest
from kolmocli.training.state import RunState, in_band


class Stopped(KolmoError):
    """The run was asked to stop, and has saved a complete checkpoint."""

    def __init__(self, exit_code: int, message: str) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class ReachedStop(Exception):
    """`--stop-at` was reached: a normal end of this sitting."""


@dataclass
class Session:
    config: Config
    run_dir: Path
    engine: Engine
    controller: Controller
    tasks: TaskSource
    held_out: list[Task]
    log: RunLog
    eyes: Eyes
    stop: StopRequest
    model: str
    parameters: int
    state: RunState = field(default_factory=RunState)
    hints: Hints = field(kw_only=True)
    self_play: SelfPlay = field(kw_only=True)
    data: dict[str, str] = field(default_factory=dict)
    """Digests of the data files, as they were when they were read."""
    stop_at: int | None = None
    verbose: bool = False
    checkpoint: Path | None = None
    started: float = field(default_factory=time.monotonic)
    earlier_seconds: float = field(init=False)
    metrics: dict[str, Any] | None = None
    events: deque[str] = field(default_factory=lambda: deque(maxlen=5))
    best: tuple[int, str, str] | None = None

    def __post_init__(self) -> None:
        self.earlier_seconds = self.state.seconds.get("total", 0.0)

    # --- randomness: derived from the seed, the purpose and the step; nothing to save
    def seed(self, purpose: str, step: int) -> int:
        return derived_seed(self.config.seed, purpose, step)

    def rng(self, purpose: str, step: int) -> random.Random:
        return random.Random(self.seed(purpose, step))

    def draw(self, bucket: Bucket) -> Task:
        """The next task of this bucket."""
        index = self.state.drawn.get(str(bucket), 0)
        self.state.drawn[str(bucket)] = index + 1
        return self.tasks.task(bucket, index)

    # --- writing down
    def families(self, groups: Sequence[Group]) -> dict[str, FamilyMetrics]:
        """What the controller holds, with the hints of each family, and self-play beside it."""
        own = self.self_play.families([group.task for group in groups])
        left = 1.0 - sum(family.weight for family in own.values())
        held = {
            name: replace(family, weight=left * family.weight, hint=self.hints.shares.get(name))
            for name, family in self.controller.metrics().items()
        }
        return {**held, **own}

    def record(
        self, step: int, collected: Collected, report: StepReport, learn_seconds: float, news: Sequence[str]
    ) -> None:
        """Write one REINFORCE step to metrics.jsonl, and move the counters on."""
        state, groups = self.state, collected.groups
        flops = self.parameters * (2.0 * collected.tokens + 6.0 * report.work)
        record = step_record(groups, self.families(groups), tokens=collected.tokens, flops=flops)
        record.update(answers_record(report, state.hindsight_bits))
        if generators := self.engine.generators():
            record["generators"] = generators
            record["staleness"] = {"mean": mean(g.age for g in groups), "most": max(g.age for g in groups)}
        if report.noise is not None:
            record["gradient"] = gradient_record(report.noise, groups)
        if report.value is not None:
            record |= {"value_loss": report.value.loss, "value_explained": report.value.explained}
        if self.self_play.metrics is not None:
            record["self_play"] = self.self_play.metrics
            state.executed += self.self_play.metrics["proposals"]
        state.step = step
        state.rollouts += record["rollouts"]
        state.infra += record["infra"]
        state.executed += sum(len(g.outcomes) for g in collected.groups if g.task.language != "text")
        state.bits += record["bits_per_rollout"] * record["rollouts"]
        if record["pass_rate"] is not None:
            state.pass_rates.append(record["pass_rate"])
        state.hindsight_answers += report.answers
        state.hindsight_bits = record["answer_bits_total"]
        state.flops += flops
        seconds = {"rollout": collected.rollout_seconds, "execute": collected.execute_seconds, "learn": learn_seconds}
        for what, spent in seconds.items():
            state.spend(what, spent)
        self.write(
            {
                "step": step, "phase": "rl", **record, "loss": report.loss, "grad_norm": report.grad_norm,
                "entropy": report.entropy, "bits_total": state.bits, "tokens": collected.tokens, "flops": flops,
                "in_band": in_band(state.pass_rates, self.config.controller.target),
                "seconds": {k: round(v, 4) for k, v in seconds.items()},
            }
        )  # fmt: skip
        self._remember_best(groups)
        if (failure := failing(groups, step)) is not None:
            self.log.event("failing", step, **failure)
        for text in news:
            self.event("controller", text=text)
        if self.verbose:
            self._show_samples(collected.groups)

    def _tell_of_the_engine(self) -> None:
        for text in self.engine.news():
            self.event("engine", text=text)

    def record_warm(self, step: int, report: StepReport, pass_rate: float | None, seconds: float) -> None:
        """Write one supervised step to metrics.jsonl."""
        state, flops = self.state, 6.0 * self.parameters * report.work
        answers = answers_record(report, state.answer_bits, flops)
        state.flops += flops
        state.warm_flops += flops
        state.answers += report.answers
        state.answer_bits = answers["answer_bits_total"]
        self.write(
            {
                "step": step, "phase": "warmup", "pass_rate": pass_rate, "loss": report.loss,
                "grad_norm": report.grad_norm, "entropy": report.entropy, **answers, "tokens": report.tokens,
                "flops": flops, "seconds": {"learn": round(seconds, 4)},
            }
        )  # fmt: skip

    def write(self, record: dict[str, Any]) -> None:
        self.metrics = record
        self.log.step(record)

    def event(self, kind: str, **fields: Any) -> None:
        self.log.event(kind, self.state.step, **fields)
        self.events.append(describe({"kind": kind, "step": self.state.step, **fields}))

    # --- saving and stopping
    def note_time(self) -> None:
        """Bring the total up to now: what earlier sittings took, and this one."""
        self.state.seconds["total"] = self.earlier_seconds + time.monotonic() - self.started

    def save(self) -> Path:
        self.note_time()
        self.log.flush()  # a checkpoint may not outlive the steps that led to it
        trainer = {
            "run": self.state.to_json(),
            "controller": self.controller.state_dict(),
            "config": self.config.model_dump(mode="json"),
            "data": self.data,
        }
        self.checkpoint = self.engine.save(self.run_dir, self.state.step, trainer)
        self.event("checkpoint", text=f"checkpoint {self.checkpoint.name}", path=self.checkpoint.name)
        return self.checkpoint

    def after_step(self, step: int) -> None:
        """Checkpoint when due; end the sitting when a signal asks for it."""
        every = self.config.checkpoint_every
        if every and step % every == 0 and step < self.config.training.steps:
            self.save()
        self.check_stop()

    def before_step(self) -> None:
        """End the sitting, saved, where `--stop-at` says."""
        if self.stop_at is not None and self.state.step >= self.stop_at:
            self.save()
            raise ReachedStop

    def check_stop(self) -> None:
        """Raises Stopped, after saving, when a signal has asked for it."""
        self._tell_of_the_engine()
        if self.stop.signal is not None:
            folder = self.save()
            raise Stopped(
                128 + self.stop.signal,
                f"stopped by {self.stop.name}; saved {folder}; go on with --resume --run-dir {self.run_dir}",
            )

    # --- showing
    def show(self, doing: str) -> None:
        self.eyes.update(self.snapshot(doing))

    def snapshot(self, doing: str) -> Snapshot:
        state, health = self.state, self.engine.health()
        warm = state.phase == "warmup"
        return Snapshot(
            name=self.run_dir.name,
            state=doing,
            step=state.warm_steps if warm else state.step,
            steps=self.config.warmup.max_steps if warm else self.config.training.steps,
            seconds=time.monotonic() - self.started,
            eta_seconds=None if warm else self._time_left(),
            model=self.model,
            engine=self.config.engine.kind,
            sandbox={
                "backend": health.backend, "executed": health.executed, "infra": health.infra,
                "programs_per_second": health.programs_per_second,
            },
            target=self.config.controller.target,
            metrics=self.metrics,
            history=tuple(state.pass_rates),
            events=tuple(self.events),
            best=self.best[1:] if self.best else None,
        )  # fmt: skip

    def _time_left(self) -> float | None:
        spent = sum(self.state.seconds.get(k, 0.0) for k in ("rollout", "execute", "learn"))
        step = self.state.step
        return spent / step * (self.config.training.steps - step) if step else None

    def _remember_best(self, groups: Sequence[Group]) -> None:
        """The program that saves the most bits against its literal, of the whole sitting."""
        for group in groups:
            for outcome in group.outcomes:
                bits, literal = outcome.bits, outcome.literal_bits
                if bits is None or literal is None:
                    continue
                if self.best is None or literal - bits > self.best[0]:
                    target = group.task.asked.shortest
                    self.best = (literal - bits, target, outcome.text)
                    self.log.event(
                        "best", self.state.step, family=group.task.bucket.family, bits=bits,
                        literal_bits=literal, target=target, program=outcome.text,
                    )  # fmt: skip

    def _show_samples(self, groups: Sequence[Group]) -> None:
        for group in groups[:2]:
            outcome = group.outcomes[0]
            verdict = "pass" if outcome.passed else outcome.status.value
            self.eyes.note(f"{group.task.bucket} {shown(group.task)} [{verdict}]\n{outcome.text}")
