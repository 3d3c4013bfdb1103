"""How buckets are chosen."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kolmocli.section import Positive, Section, Share


class RaschSettings(Section):
    slope: float = Field(1.0, gt=0, description="logits per level")
    drift: float = Field(0.1, gt=0, description="logits that the ability may move in a step, as a standard deviation")
    slew: float = Field(1.5, gt=0, description="logits that the estimate moves in a step at most")


class IntegralSettings(Section):
    gain: float = Field(0.03, gt=0, description="share of the ladder that the level moves in a step at most")
    sensitivity: float = Field(2.0, gt=0, description="of the step to what the pass rate is off the target")


class StaircaseSettings(Section):
    window: Positive = Field(20, description="rollouts that are averaged")
    above: float = Field(0.2, gt=0, description="so far above the target it goes one level up")
    below: float = Field(0.4, gt=0, description="so far below the target it goes one level down")


class PoolSettings(Section):
    band: Share = Field(0.25, description="levels that last passed so near the target are drawn with weight 1")
    weight: float = Field(0.2, gt=0, description="of the other levels")


class ThompsonSettings(Section):
    memory: Share = Field(0.9, description="of the counts, per step")


class SequentialSettings(Section):
    steps: Annotated[int, Field(ge=0)] = Field(0, description="of the whole climb; 0: training.steps")


class Controller(Section):
    """`kind` chooses; a section named after a kind is what that kind goes by."""

    kind: Literal["rasch", "integral", "staircase", "pool", "thompson", "uniform", "sequential"] = Field(
        "rasch", description="how buckets are chosen"
    )
    target: Share = Field(0.5, description="pass rate to hold in every family")
    floor: Share = Field(0.05, description="least share of the groups that a family gets")
    probes: Share = Field(0.05, description="rasch: share of groups one level beyond the bracket")
    rasch: RaschSettings = Field(default_factory=RaschSettings)
    integral: IntegralSettings = Field(default_factory=IntegralSettings)
    staircase: StaircaseSettings = Field(default_factory=StaircaseSettings)
    pool: PoolSettings = Field(default_factory=PoolSettings)
    thompson: ThompsonSettings = Field(default_factory=ThompsonSettings)
    sequential: SequentialSettings = Field(default_factory=SequentialSettings)
