"""Players of the simulator: every registered kind of controller, and an oracle."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kolmocli.curriculum.base import Bucket, Controller, FamilyMetrics, Ladder, Result
from kolmocli.curriculum.build import guarded, make_controller
from kolmocli.curriculum.kinds import KINDS
from kolmocli.curriculum.mixture import Weigh
from kolmocli.curriculum.simulator.learner import Learner
from kolmocli.curriculum.simulator.loop import Maker
from kolmocli.curriculum.simulator.scenarios import LEVELS, SLOPE, STEPS

ORACLE = "oracle"
REFILL = "refill"
"""Uniform draws, and more of them in place of dead groups (DAPO): no kind of controller, but a rule to compare with."""
LADDER = range(1, LEVELS + 1)
_REACH = 0.2
"""The oracle skips a family whose best level is this much further from the target than another's."""
TOLD = {"rasch": {"slope": SLOPE}}
"""Settings by kind that fit the simulated ladder."""

Settings = Mapping[str, Mapping[str, Any]]
"""By kind and by name."""


@dataclass(frozen=True, slots=True)
class Player:
    """A kind with settings of its own, as one row of the table. `settings` are those of the kind."""

    kind: str
    target: float = 0.5
    settings: Mapping[str, Any] = field(default_factory=dict)
    guard: float = 0.0
    weigh: Weigh = "signal"

    def maker(self, steps: int) -> Maker:
        return maker(
            self.kind,
            target=self.target,
            steps=steps,
            settings={self.kind: self.settings},
            guard=self.guard,
            weigh=self.weigh,
        )


def players() -> list[str]:
    """The controllers by name, the default first."""
    return KINDS.names()


def maker(
    kind: str,
    *,
    target: float = 0.5,
    steps: int = STEPS,
    settings: Settings | None = None,
    guard: float = 0.0,
    weigh: Weigh = "signal",
) -> Maker:
    """Maker of this controller for a run of `steps` steps. Targets are kept off 0 and 1, which name no level."""
    kind = "uniform" if kind == REFILL else kind
    if kind == ORACLE:
        return lambda learner: Oracle(learner, target)
    ladder = Ladder(LEVELS, target=min(max(target, 0.01), 0.99))
    given = {**TOLD.get(kind, {}), **(settings or {}).get(kind, {})}

    def make(learner: Learner) -> Controller:
        ladders = dict.fromkeys(learner.abilities, ladder)
        return guarded(make_controller(kind, ladders, given, horizon=steps, weigh=weigh), ladders, guard)

    return make


class Oracle:
    """Knows the learner, and always takes the level whose pass rate is nearest to the target, of the families in turn. No
    `Controller` can do better or know as much: its errors are those of the ladder and of chance. Where one family is in reach, it
    gets all groups; a level that teaches the wrong thing gets none."""

    def __init__(self, learner: Learner, target: float) -> None:
        self.learner = learner
        self.target = target

    def _best(self, family: str) -> tuple[float, int]:
        """The best level, and the distance of its pass rate from the target."""
        levels = [level for level in LADDER if level != self.learner.scenario.wrong_key]
        return min((abs(self.learner.pass_rate(level, family) - self.target), level) for level in levels)

    def propose(self, groups: int, rng: random.Random) -> list[Bucket]:
        best = {family: self._best(family) for family in self.learner.abilities}
        off = min(best.values())[0]
        turn = [Bucket(family, level) for family, (away, level) in best.items() if away <= off + _REACH]
        return [turn[i % len(turn)] for i in range(groups)]

    def observe(self, results: Sequence[Result]) -> list[str]:
        return []

    def metrics(self) -> dict[str, FamilyMetrics]:
        best = {family: self._best(family)[1] for family in self.learner.abilities}
        return {family: FamilyMetrics(level, LEVELS, 1.0 / len(best), ORACLE) for family, level in best.items()}

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        raise ValueError("an oracle has no state")
