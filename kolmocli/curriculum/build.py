"""From the configuration to a controller."""

from __future__ import annotations

from collections.abc import Mapping

from kolmocli.config import Config
from kolmocli.curriculum.base import Controller
from kolmocli.curriculum.rasch import RaschController
from kolmocli.curriculum.uniform import UniformController
from kolmocli.errors import UsageError
from kolmocli.tasks.base import Bucket


def build_controller(config: Config, buckets: list[Bucket]) -> Controller:
    """The controller that the configuration asks for, over the buckets that the tasks really have."""
    levels: dict[str, int] = {}
    for bucket in buckets:
        levels[bucket.family] = max(levels.get(bucket.family, 0), bucket.level)
    if config.controller.kind == "uniform":
        return UniformController(levels)
    try:
        return RaschController(levels, _targets(config, levels), config.controller.floor, config.controller.probes)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _targets(config: Config, levels: Mapping[str, int]) -> dict[str, float]:
    """The target of each family, its own or the controller's, kept off 0 and 1, where no level is meant."""
    targets = {}
    for family in levels:
        own = config.families[family].target if family in config.families else None
        targets[family] = min(max(config.controller.target if own is None else own, 0.01), 0.99)
    return targets
