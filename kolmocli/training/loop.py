"""REINFORCE with a curriculum, from top to bottom.

What differs from the textbook, and why:
1. The baseline is leave-one-out within a group and is not divided by a standard deviation; or a value head's (`valued`).
2. Groups whose advantages are all zero are left out of the denominator, and counted.
3. A fault of the sandbox masks the rollout; it is never a reward.
4. Programs that ran and missed can also teach, as answers to what they really make (`hindsight`).
5. Buckets come from a controller that sees passes and nothing else.
6. Where the curriculum asks for it: tasks begun for the policy (`hints`), tasks of its own making (`self_play`), more
   rollouts than are learnt from (`keep`), and rewards for lines (`shaping`).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from itertools import chain

from kolmocli.engine.base import Collected, Group
from kolmocli.learning.batches import Weighted, per_token
from kolmocli.learning.returns import EmaBaseline, is_dead, line_advantages, line_returns, token_weights
from kolmocli.training.hindsight import relabel
from kolmocli.training.keep import keep
from kolmocli.training.schedule import learning_rate
from kolmocli.training.self_play import Play
from kolmocli.training.session import Session
from kolmocli.training.shaping import line_rewards
from kolmocli.training.valued import valued_group


def reinforce(session: Session, evaluate: Callable[[str], None]) -> None:
    """Train until the configured number of steps, or until the session is asked to stop.

    `evaluate(name)` is called every `evaluation.every` steps, the last one aside.
    """
    config, state, every = session.config.training, session.state, session.config.evaluation.every
    under_way: deque[tuple[Play, Callable[[], Collected]]] = deque()
    while state.step < config.steps:
        session.before_step()
        step = state.step + 1
        session.show("rollout")
        while len(under_way) <= min(session.engine.lead, config.steps - step):
            under_way.append(begin(session, step + len(under_way)))
        play, finish = under_way.popleft()
        collected = finish()

        session.show("learn")
        began = time.perf_counter()
        batch = weigh(session, collected.groups) + session.self_play.settle(play, collected.groups)
        batch = per_token(batch) if config.per_token else batch
        noise = config.noise_every > 0 and (step - 1) % config.noise_every == 0
        report = session.engine.learn(batch, len(batch), learning_rate(step, config), noise=noise)
        learn_seconds = time.perf_counter() - began

        news = session.controller.observe([group.result() for group in collected.groups])
        session.hints.observe(collected.groups)
        session.record(step, play.with_cost(collected), report, learn_seconds, news)
        if every and step % every == 0 and step < config.steps:
            evaluate(f"step {step}")
        session.after_step(step)


def begin(session: Session, step: int) -> tuple[Play, Callable[[], Collected]]:
    """Choose the tasks of this step and have them begun. An engine with a lead is asked before their turn has come."""
    config = session.config.training
    play = session.self_play.propose(session.engine, session.seed("self-play", step))
    groups = config.batch_size // config.group_size - len(play.tasks)
    buckets = session.controller.propose(groups, session.rng("propose", step))
    drawn = [session.draw(bucket) for bucket in buckets]
    tasks = [*session.hints.give(drawn, session.rng("hints", step)), *play.tasks]
    samples = config.group_size * config.best_of
    return play, session.engine.begin(tasks, samples=samples, seed=session.seed("rollout", step))


def weigh(session: Session, groups: list[Group]) -> list[Weighted]:
    """The rollouts that teach something, each token with its discounted return less the baseline.

    The denominator of the loss is their number: a constant per batch, so that long programs are neither
    favoured nor punished except by the reward.
    """
    config, rng = session.config.training, session.rng("keep", session.state.step + 1)
    baseline = EmaBaseline(session.state.baseline)
    batch = []
    for index, group in enumerate(groups):
        rewards = [line_rewards(outcome, group.task, config) for outcome in group.outcomes]
        learnt: list[list[float]] = [[] for _ in rewards]
        if config.baseline == "value":
            learnt, values = valued_group(rewards, config.gamma, group.rollouts)
        else:
            returns = [None if r is None else line_returns(r, config.gamma) for r in rewards]
            values = line_advantages(returns, config.baseline, baseline.value)
            if is_dead([*chain(*values)]):
                continue
        judged = [None if outcome.reward is None else outcome.passed for outcome in group.outcomes]
        for i, stands_for in keep(judged, config.group_size, rng):
            weights = [stands_for * w for w in token_weights(values[i], group.rollouts[i].lines)]
            batch.append(Weighted(group.rollouts[i], weights, index, returns=learnt[i], stands_for=stands_for))
    if config.hindsight:
        answers = session.engine.answers(relabel(groups, session.tasks))
        batch += [Weighted(answer, [config.hindsight] * len(answer.tokens), answer=True) for answer in answers]
    baseline.update([o.reward for g in groups for o in g.outcomes if o.reward is not None])
    session.state.baseline = baseline.value
    return batch
