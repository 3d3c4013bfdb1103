"""The loop closed over a synthetic learner: propose, sample, wait for late results, observe."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import fmean

from kolmocli.curriculum.base import Bucket, Controller, Result
from kolmocli.curriculum.simulator.learner import Learner
from kolmocli.curriculum.simulator.scenarios import LEVELS, STEPS, Scenario

FAMILY = "family"
GROUP_SIZE = 8
GROUPS = 2
"""Per step, as many as one family of four gets in a small run."""
_SPARE = 8
"""Proposals per step that are only looked at, to see more of what the controller does than two groups show."""

Maker = Callable[[Learner], Controller]


@dataclass(slots=True)
class Trace:
    """One run, one entry per step. `off` and `square` are the mean distance, and its mean square, between the
    target and the true pass rates of the levels that the controller would sample."""

    off: list[float] = field(default_factory=list)
    square: list[float] = field(default_factory=list)
    level: list[float] = field(default_factory=list)
    covered: list[bool] = field(default_factory=list)
    dead: int = 0
    groups: int = 0
    ability: float = 0.0


def simulate(make: Maker, scenario: Scenario, *, lag: int, seed: int, steps: int = STEPS, target: float = 0.5) -> Trace:
    """One run. Results come `lag` steps late, and later and out of order where the scenario says so.

    The same seed gives the same luck to every controller, as far as they do the same things.
    """
    learner = Learner(scenario)
    controller = make(learner)
    proposing, spare, luck = (random.Random(f"{seed} {what}") for what in ("propose", "spare", "luck"))
    arrivals: dict[int, list[Result]] = defaultdict(list)
    trace = Trace()
    for step in range(steps):
        learner.at(step)
        _look(trace, controller, learner, target, spare)
        levels = [bucket.level for bucket in controller.propose(GROUPS, proposing)]
        for level in levels:
            passes, rollouts = learner.group(level, GROUP_SIZE, luck)
            trace.groups += 1
            trace.dead += passes in (0, rollouts)
            age = lag + (luck.randint(0, scenario.jitter) if scenario.jitter else 0)
            if not scenario.missing or luck.random() >= scenario.missing:
                arrivals[step + age].append(Result(Bucket(FAMILY, level), passes, rollouts, age))
        learner.learn(levels)
        controller.observe(arrivals.pop(step, []))
    trace.ability = learner.ability
    return trace


def _look(trace: Trace, controller: Controller, learner: Learner, target: float, rng: random.Random) -> None:
    """Write down what the controller would sample now, and whether its belief holds."""
    off = [learner.pass_rate(bucket.level) - target for bucket in controller.propose(_SPARE, rng)]
    trace.off.append(fmean(map(abs, off)))
    trace.square.append(fmean(x * x for x in off))
    metrics = controller.metrics()[FAMILY]
    trace.level.append(metrics.level)
    if metrics.belief is not None:
        low = min(math.floor(metrics.level), LEVELS - 1)
        share = metrics.level - low
        truth = (1.0 - share) * learner.pass_rate(low) + share * learner.pass_rate(low + 1)
        trace.covered.append(metrics.belief.low <= truth <= metrics.belief.high)
