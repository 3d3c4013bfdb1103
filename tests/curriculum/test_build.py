from __future__ import annotations

import pytest
from pydantic import ValidationError

from kolmocli.config import Config
from kolmocli.config.controller import build_controller as build, ladders_of
from kolmocli.curriculum.base import Bucket, Controller, Ladder
from kolmocli.curriculum.controllers.integral import IntegralLevel
from kolmocli.curriculum.controllers.rasch import RaschLevel
from kolmocli.curriculum.families import FamilyController
from kolmocli.errors import UsageError
from tests.curriculum.controllers import KINDS

BUCKETS = [Bucket("a", 1), Bucket("a", 2), Bucket("b", 1)]


def config(family: dict[str, object] | None = None, **controller: object) -> Config:
    families = {"a": {"levels": [{}, {}], **(family or {})}, "b": {"levels": [{}]}}
    return Config.model_validate({"families": families, "controller": controller})


def build_controller(made: Config, buckets: list[Bucket]) -> Controller:
    return build(made.controller, made.families, buckets, made.training.steps)


@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_is_that_of_the_configuration(kind: str) -> None:
    made = build_controller(config(kind=kind), BUCKETS)
    assert made.state_dict()["kind"] == kind


def test_the_default_is_rasch() -> None:
    made = build_controller(config(), BUCKETS)
    assert isinstance(made, FamilyController)
    assert all(isinstance(level, RaschLevel) for level in made.levels.values())


def test_the_ladders_are_those_of_the_tasks() -> None:
    metrics = build_controller(config(), [*BUCKETS, Bucket("new", 5)]).metrics()
    assert {family: m.top for family, m in metrics.items()} == {"a": 2, "b": 1, "new": 5}


def test_target_floor_and_bounds_may_be_of_a_family() -> None:
    asked = config({"target": 0.7, "floor": 0.2, "bounds": [2, 2]}, target=0.4, floor=0.1)
    assert ladders_of(asked.controller, asked.families, BUCKETS) == {
        "a": Ladder(top=2, bottom=2, target=0.7, floor=0.2),
        "b": Ladder(top=1, bottom=1, target=0.4, floor=0.1),
    }


@pytest.mark.parametrize(("target", "kept"), [(0.0, 0.01), (1.0, 0.99)])
def test_targets_that_no_level_meets_are_kept_off_the_ends(target: float, kept: float) -> None:
    made = config(target=target)
    assert ladders_of(made.controller, made.families, BUCKETS)["b"].target == kept


def test_parameters_reach_the_controller() -> None:
    rasch = build_controller(config(rasch={"slope": 2, "drift": 0.3, "slew": 0.5}, probes=0.2), BUCKETS)
    assert isinstance(rasch, FamilyController)
    level = rasch.levels["a"]
    assert isinstance(level, RaschLevel)
    assert (level.probes, level.tracker.slope, level.tracker.drift, level.tracker.slew) == (0.2, 2, 0.3, 0.5)
    integral = build_controller(config(kind="integral", integral={"gain": 0.2, "sensitivity": 1}), BUCKETS)
    assert isinstance(integral, FamilyController)
    moved = integral.levels["a"]
    assert isinstance(moved, IntegralLevel)
    assert (moved.gain, moved.sensitivity) == (0.2, 1)


def test_floors_that_do_not_fit_are_a_usage_error() -> None:
    with pytest.raises(UsageError, match="floor"):
        build_controller(config(floor=0.6), BUCKETS)


@pytest.mark.parametrize("bounds", [[2, 1], [1, 3], [0, 1]])
def test_bounds_that_are_not_on_the_ladder_are_refused(bounds: list[int]) -> None:
    with pytest.raises(ValidationError, match="bounds"):
        config({"bounds": bounds})
