from __future__ import annotations

import pytest

from kolmocli.config import Config
from kolmocli.curriculum.build import build_controller
from kolmocli.curriculum.rasch import RaschController
from kolmocli.curriculum.uniform import UniformController
from kolmocli.errors import UsageError
from kolmocli.tasks.base import Bucket

BUCKETS = [Bucket("a", 1), Bucket("a", 2), Bucket("b", 1)]


def config(**controller: object) -> Config:
    families = {"a": {"levels": [{}, {}], "target": 0.7}, "b": {"levels": [{}]}}
    return Config.model_validate({"families": families, "controller": controller})


def test_the_kind_is_that_of_the_configuration() -> None:
    assert isinstance(build_controller(config(), BUCKETS), RaschController)
    assert isinstance(build_controller(config(kind="uniform"), BUCKETS), UniformController)


def test_the_ladders_are_those_of_the_tasks() -> None:
    metrics = build_controller(config(), [*BUCKETS, Bucket("new", 5)]).metrics()
    assert {family: m.top for family, m in metrics.items()} == {"a": 2, "b": 1, "new": 5}


def test_a_family_may_have_its_own_target() -> None:
    controller = build_controller(config(target=0.4), BUCKETS)
    assert isinstance(controller, RaschController)
    assert controller.targets == {"a": 0.7, "b": 0.4}


@pytest.mark.parametrize(("target", "kept"), [(0.0, 0.01), (1.0, 0.99)])
def test_targets_that_no_level_meets_are_kept_off_the_ends(target: float, kept: float) -> None:
    controller = build_controller(config(target=target), BUCKETS)
    assert isinstance(controller, RaschController)
    assert controller.targets["b"] == kept


def test_a_floor_that_does_not_fit_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="floor"):
        build_controller(config(floor=0.6), BUCKETS)
