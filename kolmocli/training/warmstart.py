"""Supervised warm start: reference programs of the easiest levels, until a stated share of samples passes.

Easy first is not a detail: a small model on a uniform mix learns next to nothing.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import asdict

from kolmocli.config.training import Warmup
from kolmocli.curriculum.base import Bucket
from kolmocli.engine.base import Engine, Request
from kolmocli.learning.batches import Weighted
from kolmocli.learning.learner import Learner
from kolmocli.learning.report import StepReport
from kolmocli.tasks.base import Task, TaskSource
from kolmocli.training.run import Run
from kolmocli.training.transcripts import Transcripts

_RAMP_STEPS = 20
CHECK_TASKS = 128
"""Tasks whose samples say whether the warm start is done."""
_NEW = 0.5
"""The share of the references that are of the newest level, while levels open."""


def warm_start(run: Run, engine: Engine, learner: Learner, settings: Warmup, transcripts: Transcripts) -> None:
    """Teach until `until` passes, or `max_steps`, or until the run is asked to stop."""
    source, state = run.source, run.state
    buckets = taught_buckets(source, settings)
    with run.pace.counting(settings.max_steps, "steps", done=state.warm_steps) as done:
        while buckets and (state.unmeasured or state.warm_steps < settings.max_steps):
            run.recorder.doing("warm start")
            began = time.perf_counter()
            report = _step(run, learner, buckets, settings, transcripts)
            if report is None:
                break  # a data set without reference programs: nothing to imitate
            step, pass_rate = state.warm_steps, None
            if step % settings.check_every == 0:
                with run.all_or_nothing():
                    pass_rate = measure(run, engine, buckets, step)
            state.unmeasured = None
            run.recorder.warm_step(step, report, pass_rate, time.perf_counter() - began)
            run.divergence.observe(step, report)
            if pass_rate is not None and pass_rate >= settings.until:
                break
            if step < settings.max_steps:  # after the last one it is saved in any case
                run.save_where_due(step)
            run.check_stop()
            done(1)


def _step(
    run: Run, learner: Learner, buckets: Sequence[Bucket], settings: Warmup, transcripts: Transcripts
) -> StepReport | None:
    """Take the next step; or where a stop came in the middle of measuring what passes after it, the report of that one."""
    state = run.state
    if state.unmeasured is not None:
        return StepReport(**state.unmeasured)
    step, began = state.warm_steps + 1, time.perf_counter()
    with run.all_or_nothing():
        rng = run.rng("warm start", step)
        drawn = [run.draw(bucket) for bucket in choose(buckets, settings, step, rng)]
        tasks = transcripts.among(drawn, rng)
        report = teach(learner, tasks, settings.learning_rate * ramp(step, step / (settings.max_steps + 1)))
    if report is not None:
        run.recorder.spend("warmup", time.perf_counter() - began)
        state.warm_steps, state.unmeasured = step, asdict(report)
    return report


def taught_buckets(source: TaskSource, settings: Warmup) -> list[Bucket]:
    """Those of the easiest levels that have references."""
    return [b for b in source.buckets() if b.level <= settings.levels and source.taught(b)]


def choose(buckets: Sequence[Bucket], settings: Warmup, step: int, rng: random.Random) -> list[Bucket]:
    """The buckets of one step's references. While levels open, the newest has half of them, and so it is with the hardest
    from then on; without easing all have alike many."""
    if not settings.easing:
        return [rng.choice(buckets) for _ in range(settings.batch_size)]
    levels = sorted({bucket.level for bucket in buckets})
    opening = int(len(levels) * (step - 1) / (settings.easing * settings.max_steps))
    newest = levels[min(opening, len(levels) - 1)]
    opened = [bucket for bucket in buckets if bucket.level <= newest]
    new = [bucket for bucket in opened if bucket.level == newest]
    return [rng.choice(new if rng.random() < _NEW else opened) for _ in range(settings.batch_size)]


def teach(learner: Learner, tasks: Sequence[Task], learning_rate: float) -> StepReport | None:
    """One step towards the references of these tasks, by the mean over their tokens; None where no task has one."""
    taught = learner.policy.answers(tasks)
    if not taught:
        return None
    batch = [Weighted(answer, [1.0] * len(answer.tokens)) for answer in taught]
    return learner.step(batch, learning_rate, denominator=sum(len(answer.tokens) for answer in taught))


def ramp(step: int, done: float) -> float:
    """The share of the learning rate that step 1, 2, … has: up over the first, and down to 0 where `done`, the share of
    what was planned, is 1."""
    return min(1.0, step / _RAMP_STEPS) * (1.0 - done)


def measure(run: Run, engine: Engine, buckets: list[Bucket], step: int) -> float:
    """Share of sampled programs that pass on fresh tasks of the warm-up buckets."""
    began = time.perf_counter()
    tasks = [run.draw(buckets[i % len(buckets)]) for i in range(CHECK_TASKS)]
    groups = engine.sample(Request(tasks, 1, run.seed("warm check", step))).groups
    judged = [o for g in groups for o in g.outcomes if o.reward is not None]
    run.recorder.spend("warmup", time.perf_counter() - began)
    return sum(o.passed for o in judged) / len(judged) if judged else 0.0
