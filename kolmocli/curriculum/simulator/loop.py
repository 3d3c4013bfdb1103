"""The loop closed over a synthetic learner: propose, sample, wait for late results, observe."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from statistics import fmean

from kolmocli.curriculum.base import Bucket, Controller, Result
from kolmocli.curriculum.simulator.learner import Learner
from kolmocli.curriculum.simulator.scenarios import FAMILY, LEVELS, STEPS, Scenario

GROUP_SIZE = 8
GROUPS = 2
"""Per step and family, as many as one family of four gets in a small run."""
_SPARE = 8
"""Proposals per step and family that are only looked at, to see more of what the controller does than two groups show."""

Maker = Callable[[Learner], Controller]


@dataclass(slots=True)
class Trace:
    """One run, one entry per step. `off` and `square` are the mean distance, and its mean square, between the
    target and the true pass rates of the levels that the controller would sample. `abilities` are those at the end."""

    off: list[float] = field(default_factory=list)
    square: list[float] = field(default_factory=list)
    level: list[float] = field(default_factory=list)
    covered: list[bool] = field(default_factory=list)
    dead: int = 0
    groups: int = 0
    abilities: dict[str, float] = field(default_factory=dict)


def simulate(
    make: Maker,
    scenario: Scenario,
    *,
    lag: int,
    seed: int,
    steps: int = STEPS,
    target: float = 0.5,
    refills: bool = False,
) -> Trace:
    """One run. Results come `lag` steps late, and later and out of order where the scenario says so. With `refills` the learner
    learns only when enough groups have a pass and a failure, and from those: what was thrown away has been paid for.

    The same seed gives the same luck to every controller, as far as they do the same things.
    """
    learner = Learner(scenario)
    controller = make(learner)
    proposing, spare, luck = (random.Random(f"{seed} {what}") for what in ("propose", "spare", "luck"))
    arrivals: dict[int, list[Result]] = defaultdict(list)
    trace, families, kept = Trace(), len(scenario.families), list[Bucket]()
    for step in range(steps):
        learner.at(step)
        _look(trace, controller, learner, target, spare)
        buckets = controller.propose(GROUPS * families, proposing)
        for bucket in buckets:
            group = learner.group(bucket, GROUP_SIZE, luck)
            trace.groups += 1
            is_dead = group.passes in (0, group.rollouts)
            trace.dead += is_dead
            kept += [] if is_dead else [bucket]
            age = lag + (luck.randint(0, scenario.jitter) if scenario.jitter else 0)
            if not scenario.missing or luck.random() >= scenario.missing:
                arrivals[step + age].append(replace(group, age=age))
        if not refills:
            learner.learn(buckets)
        elif len(kept) >= len(buckets):
            learner.learn(kept[: len(buckets)])
            kept = kept[len(buckets) :]
        controller.observe(arrivals.pop(step, []))
    trace.abilities = learner.abilities
    return trace


def _look(trace: Trace, controller: Controller, learner: Learner, target: float, rng: random.Random) -> None:
    """Write down what the controller would sample now, and whether its belief of the first family holds."""
    proposed = controller.propose(_SPARE * len(learner.abilities), rng)
    off = [learner.pass_rate(bucket.level, bucket.family) - target for bucket in proposed]
    trace.off.append(fmean([abs(x) for x in off]))
    trace.square.append(fmean([x * x for x in off]))
    metrics = controller.metrics()[FAMILY]
    trace.level.append(metrics.level)
    if metrics.belief is not None:
        low = min(math.floor(metrics.level), LEVELS - 1)
        share = metrics.level - low
        truth = (1.0 - share) * learner.pass_rate(low) + share * learner.pass_rate(low + 1)
        trace.covered.append(metrics.belief.low <= truth <= metrics.belief.high)
