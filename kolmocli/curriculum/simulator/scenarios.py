"""Learners whose ability is known: what a controller may meet, one difficulty at a time.

A task at level d is passed with probability sigma(steepness · (ability − difficulty(d)) + ease of the task), in
logits. The ladder has 24 levels half a logit apart, from 0.5 to 12, and the tracker is told so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from statistics import NormalDist

LEVELS = 24
SLOPE = 0.5
"""Logits per level, as far as the tracker knows."""
STEPS = 300
CHANGE = 150
"""The step at which the ability of the shock jumps."""

FAMILY = "family"
ODD = 10
"""The level with the odd grader; a learner that begins at `start` meets it after some steps."""

Ability = Callable[[int], float]
Accepts = Callable[[int, str, int], bool]


def spread(deviation: float, count: int = 16) -> tuple[float, ...]:
    """Quantiles of a normal distribution: tasks of one level that differ by so much, each equally likely."""
    if deviation == 0:
        return (0.0,)
    return tuple(NormalDist(0.0, deviation).inv_cdf((i + 0.5) / count) for i in range(count))


@dataclass(frozen=True, slots=True)
class Scenario:
    """`ability` of a step, or None for a learner that grows with the signal it is given, from `start`.

    Args:
        ease: how much easier than their level its tasks are; a task is one of them, equally likely.
        steepness: times what the tracker is told, the levels lie apart.
        bumps: levels that are harder than their place on the ladder, and by how much.
        missing: share of groups whose results never come.
        faults: share of rollouts that the sandbox loses.
        jitter: most steps that a result is late, in any order.
        change: the step of a sudden change, from which recovery is counted.
        families: by name, how far above `start` a learner that grows begins in each.
        accepts: of a step, a family and a level: whether its grader works. One that does not fails every answer.
        form: the first level whose answers need a form that the learner has yet to learn (None: no level). Until then they never
            reach the check.
        wrong_key: a level whose answer key is wrong: one answer in twenty hits it, and what passes there is unlearnt.
        teaches: how much of what the first family gains the others gain too.
    """

    name: str
    about: str
    ability: Ability | None = None
    start: float = 4.0
    ease: tuple[float, ...] = field(default_factory=lambda: spread(1.0))
    steepness: float = 1.0
    bumps: dict[int, float] = field(default_factory=dict)
    missing: float = 0.0
    faults: float = 0.0
    jitter: int = 0
    change: int | None = None
    families: dict[str, float] = field(default_factory=lambda: {FAMILY: 0.0})
    accepts: Accepts | None = None
    form: int | None = None
    wrong_key: int | None = None
    teaches: float = 0.0

    @property
    def sound(self) -> bool:
        """All graders work, and nothing but the level decides how hard a task is."""
        return self.accepts is None and self.form is None and self.wrong_key is None and len(self.families) == 1

    def difficulty(self, level: int) -> float:
        return SLOPE * level + self.bumps.get(level, 0.0)


_BASE = Scenario("base", "ability grows with the signal it gets; tasks of a level differ by 1 logit")


def _constant(_step: int) -> float:
    return 6.3


def _ramp(step: int) -> float:
    return 1.5 + 0.03 * step


def _shock(step: int) -> float:
    return 8.5 if step < CHANGE else 5.5


def _sinusoid(step: int) -> float:
    return 6.5 + 2.0 * math.sin(2.0 * math.pi * step / 150)


def _forgetting(step: int) -> float:
    """Every 100 steps three logits are lost, and regained in the next 60."""
    return 7.5 - max(0.0, 3.0 - 0.05 * (step % 100)) * (step >= 100)


def _broken(_step: int, _family: str, level: int) -> bool:
    return level != ODD


def _repaired(step: int, _family: str, level: int) -> bool:
    return level != ODD or step >= CHANGE


def _one_works(_step: int, family: str, _level: int) -> bool:
    return family == FAMILY


SCENARIOS = {
    s.name: s
    for s in (
        _BASE,
        replace(_BASE, name="constant", about="ability stays the same", ability=_constant),
        replace(_BASE, name="ramp", about="ability rises by 0.03 logits a step", ability=_ramp),
        replace(_BASE, name="shock", about="ability falls by three logits at once", ability=_shock, change=CHANGE),
        replace(_BASE, name="sinusoid", about="ability swings by two logits in 150 steps", ability=_sinusoid),
        replace(
            _BASE, name="forgetting", about="three logits are lost and regained, twice", ability=_forgetting, change=100
        ),
        replace(_BASE, name="bimodal", about="half the tasks are 3 logits easier, half 3 harder", ease=(-3.0, 3.0)),
        replace(_BASE, name="steep", about="four times as steep as the tracker believes", steepness=4.0),
        replace(_BASE, name="noisy", about="tasks of a level differ by 2 logits", ease=spread(2.0)),
        replace(_BASE, name="half-slope", about="levels lie half as far apart as the tracker believes", steepness=0.5),
        replace(
            _BASE, name="double-slope", about="levels lie twice as far apart as the tracker believes", steepness=2.0
        ),
        replace(
            _BASE,
            name="non-monotone",
            about="every fourth level is 1.5 logits harder, harder than the two after it",
            bumps=dict.fromkeys(range(4, LEVELS, 4), 1.5),
        ),
        replace(
            _BASE,
            name="missing",
            about="a quarter of the groups and a tenth of the rollouts are lost, the rest comes out of order",
            missing=0.25,
            faults=0.1,
            jitter=8,
        ),
        replace(_BASE, name="broken", about=f"the grader of level {ODD} fails everything, for ever", accepts=_broken),
        replace(_BASE, name="repaired", about=f"it fails everything until step {CHANGE}", accepts=_repaired),
        replace(
            _BASE, name="form", about=f"levels from {ODD} on ask for a form that is learnt by passing there", form=ODD
        ),
        replace(
            _BASE, name="wrong-key", about=f"the answer key of level {ODD} is wrong, and teaches it", wrong_key=ODD
        ),
        replace(
            _BASE,
            name="broken-family",
            about="two families, and the grader of one fails everything",
            families={FAMILY: 0.0, "broken": 0.0},
            accepts=_one_works,
        ),
        replace(
            _BASE,
            name="transfer",
            about="two families; what the first gains, the second, which is out of reach, gains by half",
            families={FAMILY: 0.0, "pupil": -6.0},
            teaches=0.5,
        ),
    )
}
