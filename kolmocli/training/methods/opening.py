"""The methods that a curriculum asks for, in the order in which they have their say."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence

from kolmocli.config import Config
from kolmocli.config.methods import METHODS
from kolmocli.engine.base import Engine
from kolmocli.learning.value import ValueHead
from kolmocli.policy.policy import Policy
from kolmocli.seeds import derived_seed
from kolmocli.tasks.base import TaskSource
from kolmocli.tasks.reward import reward_rule
from kolmocli.training.methods.base import Method, MethodContext, Methods, Shaped, make_method
from kolmocli.training.methods.hindsight import Hindsight
from kolmocli.training.methods.replay import Replay
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

    def made(names: Iterable[str]) -> dict[str, Method]:
        return {
            name: make_method(
                name, MethodContext(source, engine, policy, rng(name), config, seed), dict(config.methods[name])
            )
            for name in names
            if name in config.methods
        }

    found = made(METHODS.ours)
    if training.hindsight:
        found["hindsight"] = Hindsight(training.hindsight, source, policy.answers)
    if config.warmup.replay:
        count = max(1, round(config.warmup.replay * training.batch_size))
        found["replay"] = Replay(count, taught_buckets(source, config.warmup), source, policy.answers, rng("replay"))
    found |= made(name for name in config.methods if name not in METHODS.ours)
    value: Value | None = None
    baseline: Baseline
    if isinstance(policy.value, ValueHead):
        found["value"] = baseline = value = Value(policy.value.regression, training.gamma)
    else:
        failure = reward_rule(config.reward).failure
        found["baseline"] = baseline = GroupBaseline(training.baseline, training.gamma, failure)
    shapes = [method.shaped for method in found.values() if method.shaped is not None]
    return Methods(found), Weigh(baseline, training.group_size, rng("keep"), _together(shapes)), value


def _together(shapes: Sequence[Shaped]) -> Shaped | None:
    """The sum of all shapings; None where there are none."""
    if len(shapes) < 2:
        return shapes[0] if shapes else None
    return lambda outcome, task: [sum(line) for line in zip(*(shaped(outcome, task) for shaped in shapes), strict=True)]
