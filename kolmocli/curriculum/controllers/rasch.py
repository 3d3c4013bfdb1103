"""`rasch`, the default: the tracker says where the target is, and the two levels around it are mixed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from kolmocli.curriculum.base import Belief, Ladder, Result
from kolmocli.curriculum.levels import between, standing
from kolmocli.curriculum.tracker import Tracker


class RaschLevel:
    """The two levels around the one that passes at the target, in proportion, and a few probes beyond.

    Args:
        probes: share of groups one level outside the bracket: without them a belief that is wrong about what
            lies beyond would never be put to the test.
    """

    def __init__(self, ladder: Ladder, probes: float, tracker: Tracker) -> None:
        self.ladder = ladder
        self.probes = probes
        self.tracker = tracker

    @property
    def level(self) -> float:
        return self.tracker.level_for(self.ladder.target)

    def draw(self, rng: random.Random) -> int:
        level = between(self.level, rng)
        if rng.random() < self.probes:
            level += rng.choice((-1, 1))
        return int(self.ladder.clamp(level))

    def observe(self, results: Sequence[Result]) -> list[str]:
        shock = self.tracker.observe(results)
        return ["pass rate jumped; level is searched again"] if shock else []

    def state(self) -> str:
        tracker = self.tracker
        return standing(self.ladder, tracker.pass_rate(self.ladder.bottom), tracker.pass_rate(self.ladder.top))

    def belief(self) -> Belief:
        return self.tracker.belief(self.level)

    def state_dict(self) -> dict[str, Any]:
        return self.tracker.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.tracker.load_state_dict(state)
