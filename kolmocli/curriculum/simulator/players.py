"""Who is compared: every kind of controller that is registered, and an oracle."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from kolmocli.curriculum.base import Bucket, FamilyMetrics, Ladder, Result
from kolmocli.curriculum.build import make_controller
from kolmocli.curriculum.kinds import KINDS
from kolmocli.curriculum.simulator.learner import Learner
from kolmocli.curriculum.simulator.loop import FAMILY, Maker
from kolmocli.curriculum.simulator.scenarios import LEVELS, SLOPE, STEPS

ORACLE = "oracle"
LADDER = range(1, LEVELS + 1)
TOLD = {"rasch": {"slope": SLOPE}}
"""Settings by kind that the simulated ladder asks for."""

Settings = Mapping[str, Mapping[str, Any]]
"""By kind and by name."""


def players() -> list[str]:
    """The controllers by name, the default first."""
    return KINDS.names()


def maker(kind: str, *, target: float = 0.5, steps: int = STEPS, settings: Settings | None = None) -> Maker:
    """Makes this controller for a run of so many steps. Targets are kept off 0 and 1, where no level is meant."""
    if kind == ORACLE:
        return lambda learner: Oracle(learner, target)
    ladder = Ladder(LEVELS, target=min(max(target, 0.01), 0.99))
    given = {**TOLD.get(kind, {}), **(settings or {}).get(kind, {})}
    return lambda _learner: make_controller(kind, {FAMILY: ladder}, given, horizon=steps)


class Oracle:
    """Knows the learner, and always takes the level whose pass rate is nearest to the target. No `Controller` can
    do better, and none could be this: what it leaves is what the ladder and chance leave."""

    def __init__(self, learner: Learner, target: float) -> None:
        self.learner = learner
        self.target = target

    def _level(self) -> int:
        return min(LADDER, key=lambda level: abs(self.learner.pass_rate(level) - self.target))

    def propose(self, groups: int, rng: random.Random) -> list[Bucket]:
        return [Bucket(FAMILY, self._level())] * groups

    def observe(self, results: Sequence[Result]) -> list[str]:
        return []

    def metrics(self) -> dict[str, FamilyMetrics]:
        return {FAMILY: FamilyMetrics(self._level(), LEVELS, 1.0, ORACLE)}

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        raise ValueError("an oracle has no state")
