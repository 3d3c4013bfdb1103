"""The settings of the methods that are contributed. They are checked where a file is read, without torch."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from kolmocli.config.methods import METHOD_SETTINGS, MethodSettings
from kolmocli.section import MOST, Positive, Share


class RefillSettings(MethodSettings):
    """More tasks in the place of those whose rollouts all passed or all failed."""

    chooses = True
    most: float = Field(2.0, ge=1.0, description="a step has at most this many times its rollouts; 1: no refill")

    @property
    def is_on(self) -> bool:
        return self.most > 1


class PilotSettings(MethodSettings):
    """A few rollouts of more tasks than are needed, and the others of those that passed and failed."""

    chooses = True
    draws: Positive = Field(4, description="try this many times as many tasks as are needed; 1: no pilots")
    rollouts: Annotated[int, Field(ge=2, le=MOST)] = Field(2, description="rollouts of a task to begin with")

    @property
    def is_on(self) -> bool:
        return self.draws > 1


class ScreeningSettings(MethodSettings):
    """More tasks are drawn than are needed, and those are asked that are expected to tell the most."""

    chooses = True
    draws: Positive = Field(4, description="draw this many times as many tasks as are needed; 1: no screening")
    probes: Share = Field(0.1, description="share of the groups that are asked as drawn, whatever is expected of them")
    visits: Positive = Field(4, description="how often a task is asked at most, while its group tells something")

    @property
    def is_on(self) -> bool:
        return self.draws > 1


class HintsSettings(MethodSettings):
    """The beginning of the reference program, given where a family passes too seldom at its lowest level."""

    of_sequences = "gives the beginning of a program"
    most: Share = Field(0.9, description="share of a program that is given at most, never all of it; 0: no hints")
    start: Share = Field(0.0, description="share that is given at first; then the pass rate moves it")
    gain: float = Field(0.1, gt=0, description="the share moves by gain * (target - pass rate) a step")

    @property
    def is_on(self) -> bool:
        return self.most > 0


class SelfPlaySettings(MethodSettings):
    """Programs that the policy makes up become targets for it."""

    of_sequences = "is for targets that a program makes"
    share: Share = Field(0.25, description="share of the groups for targets that the policy made up; 0: no self-play")
    proposals: Annotated[int, Field(ge=2, le=MOST)] = Field(16, description="programs that are made up per step")
    band: Share = Field(0.25, description="a target is kept while it passes so near to the controller's target")
    slots: Positive = Field(1, description="targets that are kept of one coded length")
    weight: float = Field(1.0, ge=0.0, description="of the proposer's reward min(p, 1 - p); 0: it learns nothing")

    @property
    def is_on(self) -> bool:
        return self.share > 0


class ShapingSettings(MethodSettings):
    """A potential per line, the share of the target explained. It leaves the optimum as it is."""

    of_sequences = "is paid for pieces of a sequence"
    weight: float = Field(0.5, ge=0.0, description="of the potential; 0: no shaping")

    @property
    def is_on(self) -> bool:
        return self.weight > 0


METHOD_SETTINGS.add("refill", RefillSettings)
METHOD_SETTINGS.add("pilot", PilotSettings)
METHOD_SETTINGS.add("screening", ScreeningSettings)
METHOD_SETTINGS.add("hints", HintsSettings)
METHOD_SETTINGS.add("self_play", SelfPlaySettings)
METHOD_SETTINGS.add("shaping", ShapingSettings)
