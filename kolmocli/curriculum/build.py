"""From the configuration to a controller."""

from __future__ import annotations

from collections.abc import Callable

from kolmocli.config import Config, RaschSettings
from kolmocli.curriculum.base import Bucket, Controller, Ladder
from kolmocli.curriculum.controllers.integral import IntegralLevel
from kolmocli.curriculum.controllers.pool import PoolLevel
from kolmocli.curriculum.controllers.rasch import RaschLevel
from kolmocli.curriculum.controllers.sequential import SequentialLevel
from kolmocli.curriculum.controllers.staircase import StaircaseLevel
from kolmocli.curriculum.controllers.thompson import ThompsonLevel
from kolmocli.curriculum.controllers.uniform import UniformLevel
from kolmocli.curriculum.families import FamilyController
from kolmocli.curriculum.levels import LevelController
from kolmocli.curriculum.mixture import Mixture
from kolmocli.curriculum.tracker import Tracker
from kolmocli.errors import UsageError


def build_controller(config: Config, buckets: list[Bucket]) -> Controller:
    """The controller that the configuration asks for, over the buckets that the tasks really have."""
    ladders = ladders_of(config, buckets)
    make = _level_maker(config)
    try:
        mixture = Mixture(_floors(config.controller.kind, ladders))
    except ValueError as error:
        raise UsageError(str(error)) from None
    return FamilyController(config.controller.kind, {f: make(ladder) for f, ladder in ladders.items()}, mixture)


def ladders_of(config: Config, buckets: list[Bucket]) -> dict[str, Ladder]:
    """What is asked of each family. Targets are kept off 0 and 1, where no level is meant."""
    tops: dict[str, int] = {}
    for bucket in buckets:
        tops[bucket.family] = max(tops.get(bucket.family, 0), bucket.level)
    ladders = {}
    for name, top in tops.items():
        family, usual = config.families.get(name), config.controller
        low, high = (family and family.bounds) or (1, top)
        target = usual.target if family is None or family.target is None else family.target
        floor = usual.floor if family is None or family.floor is None else family.floor
        ladders[name] = Ladder(min(high, top), min(low, top), min(max(target, 0.01), 0.99), floor)
    return ladders


def _level_maker(config: Config) -> Callable[[Ladder], LevelController]:
    settings = config.controller
    steps = max(1, settings.sequential.steps or config.training.steps)
    makers: dict[str, Callable[[Ladder], LevelController]] = {
        "rasch": lambda ladder: RaschLevel(ladder, settings.probes, _tracker(ladder, settings.rasch)),
        "integral": lambda ladder: IntegralLevel(ladder, **settings.integral.model_dump()),
        "staircase": lambda ladder: StaircaseLevel(ladder, **settings.staircase.model_dump()),
        "pool": lambda ladder: PoolLevel(ladder, **settings.pool.model_dump()),
        "thompson": lambda ladder: ThompsonLevel(ladder, **settings.thompson.model_dump()),
        "uniform": UniformLevel,
        "sequential": lambda ladder: SequentialLevel(ladder, steps),
    }
    return makers[settings.kind]


def _tracker(ladder: Ladder, settings: RaschSettings) -> Tracker:
    return Tracker(ladder.top, ladder.bottom, slope=settings.slope, drift=settings.drift, slew=settings.slew)


def _floors(kind: str, ladders: dict[str, Ladder]) -> dict[str, float]:
    """Baselines look at no signal: every bucket, or every family, the same share. They add to 1, so that
    nothing is left to be given by signal."""
    if kind == "uniform":
        sizes = {family: ladder.top - ladder.bottom + 1 for family, ladder in ladders.items()}
        return {family: size / sum(sizes.values()) for family, size in sizes.items()}
    if kind == "sequential":
        return dict.fromkeys(ladders, 1.0 / len(ladders))
    return {family: ladder.floor for family, ladder in ladders.items()}
