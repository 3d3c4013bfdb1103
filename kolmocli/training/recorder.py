"""Writes the records of a run and shows them. It changes nothing that drives the run."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from statistics import mean
from typing import Any

from kolmocli.curriculum.base import Bucket, Controller
from kolmocli.curriculum.room import Room, room_line
from kolmocli.engine.base import Engine, Experience, Group
from kolmocli.learning.batches import Batch
from kolmocli.learning.report import StepReport
from kolmocli.monitor.display import Display
from kolmocli.monitor.events import SAMPLES, BestEvent, ControllerEvent, EngineEvent, Event, GraderEvent, describe
from kolmocli.monitor.records import (
    GeneratorRecord,
    ReinforceRecord,
    RoomRecord,
    StalenessRecord,
    StepSeconds,
    WarmRecord,
)
from kolmocli.monitor.snapshot import Snapshot
from kolmocli.monitor.summary import SummarySandbox
from kolmocli.monitor.writer import RunLog
from kolmocli.pace import Reached
from kolmocli.training.graders import GraderWatch
from kolmocli.training.methods.base import Method
from kolmocli.training.records import Worth, answer_fields, failing, gradient_record, shown, step_record, worth
from kolmocli.training.standing import ENDS, WINDOW, controlled_rate, in_band, room_of, rows
from kolmocli.training.state import RunState, Totals

_SHOWN_EVERY = 0.25
"""Seconds between two pictures of what is under way."""


class Recorder:
    """Reads `state`, and keeps the totals of what it has written."""

    def __init__(
        self,
        log: RunLog,
        display: Display,
        engine: Engine,
        controller: Controller,
        methods: Method,
        state: RunState,
        totals: Totals,
        *,
        about: Snapshot,
        warm_steps: int,
        parameters: int,
        references: Mapping[Bucket, str] | None = None,
        verbose: bool = False,
    ) -> None:
        """`about` is what is shown of the run before it begins: its name, its steps, its model, engine and target. `references`
        are buckets whose reference answers fail, and why."""
        self._log, self._display, self._engine = log, display, engine
        self._controller, self._methods, self._state = controller, methods, state
        self.totals, self._about, self._warm_steps = totals, about, warm_steps
        self._parameters, self._verbose = parameters, verbose
        self._began = self._since = self._shown = time.monotonic()
        self._doing = ""
        self._references = references or {}
        self._earlier = totals.seconds.get("total", 0.0)
        self._latest: WarmRecord | ReinforceRecord | None = None
        self._events: deque[str] = deque(maxlen=5)
        self._best: tuple[Worth, str, str] | None = None

    # --- steps
    def step(
        self, step: int, experience: Experience, batch: Batch, report: StepReport, noticed: Sequence[str] = ()
    ) -> None:
        """Write one REINFORCE step. `noticed` is what the controller has to say of it. The time since the last call
        of `doing` was learning."""
        totals, groups = self.totals, experience.groups
        cost = experience.cost + self._methods.cost()
        seconds = {"rollout": cost.rollout_seconds, "execute": cost.execute_seconds, "learn": self._elapsed()}
        flops = self._parameters * (2.0 * (cost.tokens + cost.read) + 6.0 * report.work)
        record = step_record(groups, self._controller.metrics(), batch, step=step, tokens=cost.tokens, flops=flops)
        record = self._methods.metrics(record, groups)
        rollouts = record.rollouts or 0
        totals.rollouts += rollouts
        totals.infra += record.infra or 0
        totals.executed += sum(len(g.outcomes) for g in groups if g.task.language != "text")
        totals.executed += (record.self_play.proposals or 0) if record.self_play else 0
        totals.bits += (record.bits_per_rollout or 0.0) * rollouts
        if record.pass_rate is not None:
            totals.pass_rates.append(record.pass_rate)
        answers = answer_fields(report, totals.hindsight_bits)
        totals.hindsight_answers += report.answers
        totals.hindsight_bits = answers["answer_bits_total"]
        totals.flops += flops
        for what, spent in seconds.items():
            totals.spend(what, spent)
        self._note_standing(record, groups)
        about_graders = self._graders.observe(step, groups)
        suspected, buckets = self._graders.of_families(), record.buckets or {}
        found = self.room() if step % WINDOW == 0 else None
        record = replace(
            record,
            **answers,
            **self._of_generators(groups),
            buckets={name: replace(bucket, grader=suspected.get(name)) for name, bucket in buckets.items()},
            room=None if found is None else RoomRecord(**asdict(found)),
            gradient=None if report.noise is None else gradient_record(report.noise, groups),
            loss=report.loss,
            grad_norm=report.grad_norm,
            skipped=report.skipped or None,
            entropy=report.entropy,
            bits_total=totals.bits,
            in_band=in_band(totals.pass_rates, self._about.target),
            in_band_controlled=in_band(totals.controlled, self._about.target),
            seconds=StepSeconds(**seconds),
        )
        self._write(record)
        self._remember_best(step, groups)
        if (failure := failing(groups, step)) is not None:
            self.event(failure)
        if step == WINDOW and found is not None:
            self.event(ControllerEvent(step=step, text=room_line(asdict(found))))
        for text in noticed:
            self.event(ControllerEvent(step=step, text=text))
        for event in about_graders:
            self.event(event)
            if isinstance(event, GraderEvent) and event.why == "broken":
                self.note(describe(event))
        if self._verbose:
            self._show_samples(groups)

    @property
    def _graders(self) -> GraderWatch:
        """The watch over the current totals, which change when a step is interrupted."""
        return GraderWatch(self.totals.graders, self._references, self._log.run_dir)

    def note_references(self) -> None:
        """Say which reference answers fail, where a sitting begins."""
        for event in self._graders.before(self._state.step):
            self.event(event)

    def _note_standing(self, record: ReinforceRecord, groups: Sequence[Group]) -> None:
        totals, buckets = self.totals, record.buckets or {}
        totals.controlled.append(controlled_rate(buckets))
        totals.recent = [*totals.recent, rows(group.result() for group in groups)][-WINDOW:]
        done = bool(buckets) and all(bucket.state in (None, "mastered") for bucket in buckets.values())
        totals.mastered_steps = totals.mastered_steps + 1 if done else 0

    def room(self) -> Room | None:
        """The room that control has left, by the last steps."""
        return room_of(self.totals.recent, self._controller.metrics())

    def ends(self) -> dict[str, str]:
        """The families that are at an end of their ladder, and at which."""
        return {name: m.state for name, m in self._controller.metrics().items() if m.state in ENDS}

    def warm_step(self, step: int, report: StepReport, pass_rate: float | None, seconds: float) -> None:
        """Write one supervised step."""
        totals, flops = self.totals, 6.0 * self._parameters * report.work
        answers = answer_fields(report, totals.answer_bits, flops)
        totals.flops += flops
        totals.warm_flops += flops
        totals.answers += report.answers
        totals.answer_bits = answers["answer_bits_total"]
        self._write(
            WarmRecord(
                step=step,
                pass_rate=pass_rate,
                loss=report.loss,
                grad_norm=report.grad_norm,
                skipped=report.skipped or None,
                entropy=report.entropy,
                **answers,
                tokens=report.tokens,
                flops=flops,
                seconds=StepSeconds(learn=seconds),
            )
        )

    def _of_generators(self, groups: Sequence[Group]) -> dict[str, Any]:
        generators = self._engine.generators()
        if not generators:
            return {}
        ages = [group.age for group in groups]
        return {
            "generators": {number: GeneratorRecord(**asdict(report)) for number, report in generators.items()},
            "staleness": StalenessRecord(mean=mean(ages), most=max(ages)),
        }

    def _write(self, record: WarmRecord | ReinforceRecord) -> None:
        self._latest = record
        self._log.step(record)

    # --- events
    def event(self, event: Event) -> None:
        self._log.event(event)
        if not isinstance(event, SAMPLES):
            self._events.append(describe(event))

    def engine_events(self) -> None:
        """Write down what happened to the engine."""
        for text in self._engine.events():
            self.event(EngineEvent(step=self._state.step, text=text))

    def _remember_best(self, step: int, groups: Sequence[Group]) -> None:
        """The program that is worth the most, of the whole sitting."""
        for group in groups:
            for outcome in group.outcomes:
                found = worth(group, outcome)
                if found is None or (self._best is not None and found <= self._best[0]):
                    continue
                target = group.task.asked.shortest
                self._best = (found, target, outcome.text)
                self.event(
                    BestEvent(
                        step=step, family=group.task.bucket.family, bits=outcome.bits,
                        literal_bits=outcome.literal_bits, target=target, program=outcome.text,
                    )
                )  # fmt: skip

    # --- showing
    def doing(self, what: str) -> None:
        """Show that this begins."""
        self._doing = what
        self._display.update(self._snapshot())
        self._since = self._shown = time.monotonic()

    def reached(self, reached: Reached | None) -> None:
        """Show how far it is, as often as an eye can follow."""
        now = time.monotonic()
        if now - self._shown >= _SHOWN_EVERY:
            self._shown = now
            self._display.update(self._snapshot(reached))

    def note(self, text: str) -> None:
        """Show a line that stays."""
        self._display.note(text)

    def _elapsed(self) -> float:
        return time.monotonic() - self._since

    def _snapshot(self, reached: Reached | None = None) -> Snapshot:
        state, health = self._state, self._engine.health()
        warm = state.phase == "warmup"
        return replace(
            self._about,
            state=self._doing,
            reached=reached,
            step=state.warm_steps if warm else state.step,
            steps=self._warm_steps if warm else self._about.steps,
            seconds=time.monotonic() - self._began,
            eta_seconds=None if warm else self._time_left(),
            sandbox=SummarySandbox(
                backend=health.backend,
                executed=health.executed,
                infra=health.infra,
                programs_per_second=health.programs_per_second,
            ),
            metrics=self._latest,
            history=tuple(self.totals.pass_rates),
            events=tuple(self._events),
            best=self._best[1:] if self._best else None,
        )

    def _time_left(self) -> float | None:
        spent = sum(self.totals.seconds.get(k, 0.0) for k in ("rollout", "execute", "learn"))
        step = self._state.step
        return spent / step * (self._about.steps - step) if step else None

    def _show_samples(self, groups: Sequence[Group]) -> None:
        for group in groups[:2]:
            outcome = group.outcomes[0]
            verdict = "pass" if outcome.passed else outcome.status.value
            self.note(f"{group.task.bucket} {shown(group.task)} [{verdict}]\n{outcome.text}")

    # --- time
    def spend(self, what: str, seconds: float) -> None:
        """Count time that went into something other than the steps."""
        self.totals.spend(what, seconds)

    def flush(self) -> None:
        """Wait until what was written is on the disk, and bring the total time up to now."""
        self.note_time()
        self._log.flush()

    def note_time(self) -> None:
        self.totals.seconds["total"] = self._earlier + time.monotonic() - self._began
