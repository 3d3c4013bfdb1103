"""The methods that a curriculum asks for, in the order in which they have their say."""

from __future__ import annotations

import random
from collections.abc import Callable

from kolmocli.config import Config
from kolmocli.config.controller import ladders_of
from kolmocli.engine.base import Engine
from kolmocli.learning.value import ValueHead
from kolmocli.policy.policy import Policy
from kolmocli.seeds import derived_seed
from kolmocli.tasks.base import TaskSource
from kolmocli.tasks.reward import reward_rule
from kolmocli.training.methods.base import Method, MethodContext, Methods, make_method
from kolmocli.training.methods.hindsight import Hindsight
from kolmocli.training.methods.hints import Hints
from kolmocli.training.methods.pilot import Pilot
from kolmocli.training.methods.refill import Refill
from kolmocli.training.methods.replay import Replay
from kolmocli.training.methods.screening import Screening
from kolmocli.training.methods.self_play import SelfPlay
from kolmocli.training.methods.shaping import Shaping
from kolmocli.training.methods.value import Value
from kolmocli.training.warmstart import taught_buckets
from kolmocli.training.weigh import Baseline, GroupBaseline, Weigh


def open_methods(
    config: Config, source: TaskSource, engine: Engine, policy: Policy
) -> tuple[Methods, Weigh, Value | None]:
    """The methods that the curriculum asks for, how rollouts are weighed, and the value head where there is one."""
    training = config.training

    def seed(purpose: str, step: int) -> int:
        return derived_seed(config.seed, purpose, step)

    def rng(purpose: str) -> Callable[[int], random.Random]:
        return lambda step: random.Random(seed(purpose, step))

    found: dict[str, Method] = {}  # what chooses tasks comes before hints, which begin those that were chosen
    if config.refill.most > 1:
        samples = training.group_size * training.best_of
        found["refill"] = Refill(
            config.refill, samples, engine.sample, lambda step, again: seed(f"refill {again}", step)
        )
    if config.pilot.draws > 1:
        found["pilot"] = Pilot(config.pilot, engine.sample, lambda step: seed("pilot", step))
    if config.screening.draws > 1:
        found["screening"] = Screening(config.screening, source, policy, rng("screening"))
    if config.hints.most:
        ladders = ladders_of(config.controller, config.families, source.buckets())
        found["hints"] = Hints(config.hints, ladders, training.max_lines, rng("hints"))
    if config.self_play.share:
        groups = max(1, round(config.self_play.share * training.batch_size / training.group_size))
        found["self_play"] = SelfPlay(
            config.self_play, source, groups=groups, target=config.controller.target, sample=engine.sample,
            seed=lambda step: seed("self-play", step),
        )  # fmt: skip
    if training.hindsight:
        found["hindsight"] = Hindsight(training.hindsight, source, policy.answers)
    if config.warmup.replay:
        count = max(1, round(config.warmup.replay * training.batch_size))
        found["replay"] = Replay(count, taught_buckets(source, config.warmup), source, policy.answers, rng("replay"))
    for name, settings in config.methods.items():
        found[name] = make_method(name, MethodContext(source, engine, policy, rng(name)), settings)
    value: Value | None = None
    baseline: Baseline
    if isinstance(policy.value, ValueHead):
        found["value"] = baseline = value = Value(policy.value.regression, training.gamma)
    else:
        assert training.baseline != "value"
        failure = reward_rule(config.reward).failure
        found["baseline"] = baseline = GroupBaseline(training.baseline, training.gamma, failure)
    shaped = Shaping(training.shaping, training.gamma) if training.shaping else None
    return Methods(found), Weigh(baseline, training.group_size, rng("keep"), shaped), value
