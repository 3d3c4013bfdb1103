"""The loop closed over learners whose ability is known: does it settle, track, and stand late results?

Pass rates are those of what the controller proposes, the bracket of two levels, under the true ability.
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Callable
from functools import cache
from statistics import fmean

import pytest

from kolmocli.curriculum.base import GroupResult
from kolmocli.curriculum.rasch import RaschController
from kolmocli.curriculum.tracker import sigmoid

STEPS, SEEDS, TOP, G, GROUPS = 300, 8, 12, 8, 2
SHOCK_AT = 150

ABILITY: dict[str, Callable[[int], float]] = {
    "constant": lambda step: 6.3,
    "ramp": lambda step: 1.5 + 0.04 * min(step, 220),
    "shock": lambda step: 8.5 if step < SHOCK_AT else 5.0,
}


def track(ability: Callable[[int], float], seed: int, lag: int) -> list[float]:
    """The expected pass rate of what is proposed at every step; results arrive `lag` steps late."""
    controller = RaschController({"f": TOP}, {"f": 0.5}, floor=0.05, probes=0.05)
    rng, waiting, rates = random.Random(seed), deque[list[GroupResult]](), []
    for step in range(STEPS):
        level = controller.metrics()["f"].level
        low, share = math.floor(level), level % 1
        rates.append((1 - share) * sigmoid(ability(step) - low) + share * sigmoid(ability(step) - low - 1))
        groups = []
        for bucket in controller.propose(GROUPS, rng):
            passes = sum(rng.random() < sigmoid(ability(step) - bucket.level) for _ in range(G))
            groups.append(GroupResult(bucket, passes, G, lag))
        waiting.append(groups)
        if len(waiting) > lag:
            controller.observe(waiting.popleft())
    return rates


@cache
def runs(scenario: str, lag: int) -> list[list[float]]:
    return [track(ABILITY[scenario], seed, lag) for seed in range(SEEDS)]


def rmse(rates: list[list[float]], start: int = 60) -> float:
    return math.sqrt(fmean((p - 0.5) ** 2 for run in rates for p in run[start:]))


def settled(rates: list[list[float]], start: int = 0) -> int:
    """Steps until the mean over the seeds lies within 0.5 ± 0.1 for ten steps on end."""
    means = [fmean(at) for at in zip(*rates, strict=True)][start:]
    return next(i for i in range(len(means)) if all(abs(m - 0.5) <= 0.1 for m in means[i : i + 10]))


@pytest.mark.parametrize("scenario", ABILITY)
def test_it_settles_within_ten_steps(scenario: str) -> None:
    assert settled(runs(scenario, 0)) <= 10


@pytest.mark.parametrize(("lag", "most"), [(0, 0.10), (6, 0.12)])
@pytest.mark.parametrize("scenario", ABILITY)
def test_it_holds_the_target(scenario: str, lag: int, most: float) -> None:
    assert rmse(runs(scenario, lag)) <= most


def test_it_recovers_from_a_shock_within_ten_steps() -> None:
    assert settled(runs("shock", 0), SHOCK_AT) <= 10


@pytest.mark.parametrize("lag", [0, 6])
def test_it_does_not_swing_around_a_constant_ability(lag: int) -> None:
    """In a limit cycle the pass rate would stay on one side for about as long as the lag, then on the other."""
    for run in runs("constant", lag):
        late = [p - 0.5 for p in run[100:]]
        half_cycle = fmean(a * b for a, b in zip(late, late[lag + 4 :], strict=False)) / fmean(a * a for a in late)
        assert half_cycle > -0.5
