"""REINFORCE with a curriculum, from top to bottom.

What differs from the textbook, and why:
1. The baseline is leave-one-out within a group and is not divided by a standard deviation.
2. Groups whose advantages are all zero are left out of the denominator, and counted.
3. A fault of the sandbox masks the rollout; it is never a reward.
4. Programs that ran and missed can also teach, as answers to what they really make (`hindsight`).
5. Buckets come from a controller that sees passes and nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from kolmocli.engine.base import Group
from kolmocli.training.hindsight import relabel
from kolmocli.training.learner import Weighted
from kolmocli.training.returns import EmaBaseline, advantages, is_dead, token_weights
from kolmocli.training.session import Session

_RAMP_STEPS = 5
"""The learning rate rises over the first steps: AdamW knows no second moments of this loss yet."""


def reinforce(session: Session, evaluate: Callable[[str], None]) -> None:
    """Train until the configured number of steps, or until the session is asked to stop.

    `evaluate(name)` is called every `evaluation.every` steps, the last one aside.
    """
    config, state, every = session.config.training, session.state, session.config.evaluation.every
    while state.step < config.steps:
        session.before_step()
        step = state.step + 1
        session.show("rollout")
        buckets = session.controller.propose(config.batch_size // config.group_size, session.rng("propose", step))
        tasks = [session.draw(bucket) for bucket in buckets]

        collected = session.engine.collect(tasks, samples=config.group_size, seed=session.seed("rollout", step))

        session.show("learn")
        began = time.perf_counter()
        batch = weigh(session, collected.groups)
        learning_rate = config.learning_rate * schedule(step, config.steps)
        report = session.engine.learn(batch, denominator=len(batch), learning_rate=learning_rate)
        learn_seconds = time.perf_counter() - began

        news = session.controller.observe([group.result() for group in collected.groups])
        session.record(step, collected, report, learn_seconds, news)
        if every and step % every == 0 and step < config.steps:
            evaluate(f"step {step}")
        session.after_step(step)


def schedule(step: int, steps: int) -> float:
    """A short rise, then a straight fall to zero: the last steps average out what the first ones tried."""
    return min(1.0, step / _RAMP_STEPS) * (1.0 - (step - 1) / steps)


def weigh(session: Session, groups: list[Group]) -> list[Weighted]:
    """The rollouts that teach something, each token with its discounted return less the baseline.

    The denominator of the loss is their number: a constant per batch, so that long programs are neither
    favoured nor punished except by the reward.
    """
    config = session.config.training
    baseline = EmaBaseline(session.state.baseline)
    batch = []
    for group in groups:
        rewards = [outcome.reward for outcome in group.outcomes]
        values = advantages(rewards, config.baseline, baseline.value)
        if is_dead(values):
            continue
        for rollout, outcome, advantage in zip(group.rollouts, group.outcomes, values, strict=True):
            if outcome.reward is not None:
                weights = token_weights(advantage, rollout.lines, outcome.end, config.gamma)
                batch.append(Weighted(rollout, weights))
    if config.hindsight:
        answers = session.engine.answers(relabel(groups, session.tasks))
        batch += [Weighted(answer, [config.hindsight] * len(answer.tokens)) for answer in answers]
    baseline.update([o.reward for g in groups for o in g.outcomes if o.reward is not None])
    session.state.baseline = baseline.value
    return batch
