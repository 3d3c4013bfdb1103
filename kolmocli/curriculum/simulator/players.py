"""Who is compared: every controller that a curriculum file can name, and an oracle."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from kolmocli.config import Config
from kolmocli.config.overrides import apply_override
from kolmocli.config.problems import problems_of
from kolmocli.config.schema import choices, field
from kolmocli.curriculum.base import Bucket, FamilyMetrics, Result
from kolmocli.curriculum.build import build_controller
from kolmocli.curriculum.simulator.learner import Learner
from kolmocli.curriculum.simulator.loop import FAMILY, Maker
from kolmocli.curriculum.simulator.scenarios import LEVELS, SLOPE, STEPS
from kolmocli.errors import UsageError

ORACLE = "oracle"
LADDER = range(1, LEVELS + 1)


def players() -> list[str]:
    """The controllers by name, the default first."""
    return list(choices(field("controller.kind").annotation))


def configure(steps: int = STEPS, settings: Mapping[str, Any] | None = None) -> Config:
    """A curriculum of the one simulated family. `settings` by dotted key, such as `controller.integral.gain`.

    Raises UsageError for a setting that the schema does not have, or that simulates nothing.
    """
    data: Any = {
        "families": {FAMILY: {"levels": [{}] * LEVELS}},
        "controller": {"rasch": {"slope": SLOPE}},
        "training": {"steps": steps},
    }
    for key, value in (settings or {}).items():
        label = f"--set {key}={value}"
        if not key.startswith("controller.") or key == "controller.kind":
            raise UsageError(f"{label}: only what is below controller can be set here, and --controller is the kind")
        data, _ = apply_override(data, key, value, label)
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        raise UsageError(f"--set {problems_of(error, data)[0]}") from None


def maker(kind: str, config: Config) -> Maker:
    """Makes this controller as a curriculum file with these settings would."""
    if kind == ORACLE:
        return lambda learner: Oracle(learner, config.controller.target)
    config = config.model_copy(update={"controller": config.controller.model_copy(update={"kind": kind})})
    return lambda _learner: build_controller(config, [Bucket(FAMILY, level) for level in LADDER])


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
