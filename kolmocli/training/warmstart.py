"""Supervised warm start: reference programs of the easiest levels, until a stated share of samples passes.

Easy first is not a detail: a small model on a uniform mix learns next to nothing (docs/decisions.md).
"""

from __future__ import annotations

import time

from kolmocli.curriculum.base import Bucket
from kolmocli.learning.learner import Weighted
from kolmocli.training.session import Session

_RAMP_STEPS = 20
_CHECK_TASKS = 128


def warm_start(session: Session) -> None:
    """Teach until `warmup.until`, or `warmup.max_steps`, or until the session is asked to stop."""
    config, state = session.config.warmup, session.state
    buckets = [b for b in session.tasks.buckets() if b.level <= config.levels and session.tasks.taught(b)]
    while buckets and state.warm_steps < config.max_steps:
        step = state.warm_steps + 1
        session.show("warm start")
        began = time.perf_counter()
        rng = session.rng("warm start", step)
        answers = session.engine.answers([session.draw(rng.choice(buckets)) for _ in range(config.batch_size)])
        if not answers:
            break  # a data set without reference programs: nothing to imitate
        batch = [Weighted(answer, [1.0] * len(answer.tokens), answer=True) for answer in answers]
        learning_rate = config.learning_rate * min(1.0, step / _RAMP_STEPS) * (1.0 - step / (config.max_steps + 1))
        report = session.engine.learn(batch, sum(len(a.tokens) for a in answers), learning_rate)
        state.spend("warmup", time.perf_counter() - began)
        state.warm_steps = step
        pass_rate = measure(session, buckets, step) if step % config.check_every == 0 else None
        session.record_warm(step, report, pass_rate, time.perf_counter() - began)
        if pass_rate is not None and pass_rate >= config.until:
            break
        session.check_stop()


def measure(session: Session, buckets: list[Bucket], step: int) -> float:
    """Share of sampled programs that pass on fresh tasks of the warm-up buckets."""
    began = time.perf_counter()
    tasks = [session.draw(buckets[i % len(buckets)]) for i in range(_CHECK_TASKS)]
    groups = session.engine.collect(tasks, samples=1, seed=session.seed("warm check", step)).groups
    judged = [o for g in groups for o in g.outcomes if o.reward is not None]
    session.state.spend("warmup", time.perf_counter() - began)
    return sum(o.passed for o in judged) / len(judged) if judged else 0.0
