"""`rasch`, the default: the tracker says where the target is, and the two levels around it are mixed."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from kolmocli.curriculum.base import Belief, Ladder, Result
from kolmocli.curriculum.kinds import built_in
from kolmocli.curriculum.levels import LevelBase, between, measured, standing
from kolmocli.curriculum.settings import Setting
from kolmocli.curriculum.tracker import Tracker


@built_in("rasch")
class RaschLevel(LevelBase):
    """The two levels around the one that passes at the target, in proportion, and a few probes beyond.

    Without probes a belief that is wrong about what lies beyond would never be put to the test. The policy may forget levels that are not asked
    for a while: a share of the groups, the review, is of any level of the family.
    """

    def __init__(
        self,
        ladder: Ladder,
        *,
        probes: Annotated[
            float, Setting("share of groups that are moved one level up or down", least=0.0, most=1.0)
        ] = 0.05,
        review: Annotated[
            float, Setting("share of groups at any level, evenly, so that nothing is forgotten", least=0.0, most=1.0)
        ] = 0.0,
        slope: Annotated[float, Setting("logits per level", above=0)] = 1.0,
        drift: Annotated[
            float, Setting("logits that the ability may move in a step, as a standard deviation", above=0)
        ] = 0.1,
        slew: Annotated[float, Setting("logits that the estimate moves in a step at most", above=0)] = 1.5,
    ) -> None:
        super().__init__(ladder)
        self.probes, self.review = probes, review
        self.tracker = Tracker(ladder.top, ladder.bottom, slope=slope, drift=drift, slew=slew)

    @property
    def level(self) -> float:
        return self.tracker.level_for(self.ladder.target)

    def draw(self, rng: random.Random) -> int:
        if self.review and rng.random() < self.review:
            return rng.randint(self.ladder.bottom, self.ladder.top)
        level = between(self.level, rng)
        if rng.random() < self.probes:
            level += rng.choice((-1, 1))
        return int(self.ladder.clamp(level))

    def begin(self, rates: Mapping[int, tuple[float, int]]) -> None:
        self.tracker.begin(measured(rates))

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
