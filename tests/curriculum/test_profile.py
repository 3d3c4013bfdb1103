"""What a calibration measured is the first belief of a controller."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kolmocli.config.controller import build_controller
from kolmocli.curriculum.base import Bucket, Controller
from kolmocli.curriculum.simulator.learner import Learner
from kolmocli.curriculum.simulator.scenarios import FAMILY, LEVELS, SCENARIOS
from kolmocli.errors import UsageError
from tests.curriculum.controllers import KINDS

BUCKETS = [Bucket(family, level) for family, top in (("a", 6), ("b", 3)) for level in range(1, top + 1)]


def report(**families: list[float | None]) -> dict[str, Any]:
    """As `calibrate` prints it, 64 rollouts a level."""
    return {
        "families": {
            name: {"levels": [{"level": i, "pass_rate": rate, "n": 64} for i, rate in enumerate(rates, 1)]}
            for name, rates in families.items()
        }
    }


@pytest.fixture
def made(tmp_path: Path) -> Any:
    def build(profile: Any = None, kind: str = "rasch", **families: Any) -> Controller:
        from kolmocli.config import Config

        tops = {"a": 6, "b": 3}
        data = {f: {"levels": [{}] * top, **families.get(f, {})} for f, top in tops.items()}
        path = tmp_path / "p.json"
        if profile is not None:
            path.write_text(profile if isinstance(profile, str) else json.dumps(profile))
        controller = {"kind": kind, "prior": str(path)} if profile is not None else {"kind": kind}
        config = Config.model_validate({"families": data, "controller": controller})
        return build_controller(config.controller, config.families, BUCKETS, 100)

    return build


STEEP: list[float | None] = [1.0, 0.98, 0.9, 0.5, 0.1, 0.0]


@pytest.mark.parametrize("kind", ["rasch", "integral", "staircase"])
def test_it_begins_where_the_profile_crosses_the_target(made: Any, kind: str) -> None:
    assert made(kind=kind).metrics()["a"].level <= 2
    begun = made(report(a=STEEP), kind).metrics()
    assert begun["a"].level == pytest.approx(4.0, abs=0.3)
    assert begun["b"].level == made(kind=kind).metrics()["b"].level, "what was not measured begins as ever"


def test_the_interval_stays_wide_and_holds_what_was_measured(made: Any) -> None:
    belief = made(report(a=STEEP)).metrics()["a"].belief
    assert belief.low < 0.5 < belief.high
    assert belief.high - belief.low > 0.3


def test_a_family_that_cannot_teach_begins_with_less(made: Any) -> None:
    weights = {f: m.weight for f, m in made(report(a=STEEP, b=[0.01, 0.0, 0.0])).metrics().items()}
    assert weights["a"] > 5 * weights["b"]


def test_lines_of_a_levelled_file_are_averaged(made: Any) -> None:
    rates = [(1, 1.0), (2, 1.0), (3, 0.75), (3, 1.0), (4, 0.0), (4, 1.0), (5, 0.0), (6, 0.0)]
    rows = [json.dumps({"family": "a", "level": level, "pass_rate": rate}) for level, rate in rates]
    lost = json.dumps({"family": "a", "level": 1, "pass_rate": None})
    assert made("\n".join([*rows, lost, ""]), "integral").metrics()["a"].level == pytest.approx(4.0)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("uniform", "sequential")])
def test_every_kind_that_goes_by_passes_takes_it(made: Any, kind: str) -> None:
    assert made(report(a=STEEP, b=[0.9, 0.5, 0.1]), kind).state_dict() != made(kind=kind).state_dict()


@pytest.mark.parametrize("kind", ["uniform", "sequential"])
def test_a_kind_that_goes_by_no_pass_rate_refuses_it(made: Any, kind: str) -> None:
    with pytest.raises(UsageError, match=f"controller.prior: {kind} uses no pass rates; remove it"):
        made(report(a=STEEP), kind)


def test_levels_beyond_the_bounds_are_left_out(made: Any) -> None:
    bounded = made(report(a=STEEP), a={"bounds": [1, 3]})
    assert bounded.metrics()["a"].level == 3.0


@pytest.mark.parametrize(
    ("profile", "said"),
    [
        (report(c=[0.5]), r"p\.json: c: it measured the family c, and this curriculum has a, b; calibrate this"),
        (report(b=[0.9, 0.8, 0.5, 0.1]), r"p\.json measured level 4 of b, which has 3 here; calibrate this curriculum"),
        (report(a=[1.5]), r"p\.json: a: a pass rate lies between 0 and 1, got 1\.5"),
        ('{"family": "a", "level": 1, "pass_rate": -1}', r"p\.json:1: a pass rate lies between 0 and 1, got -1"),
        ('{"family": "a", "level": 0.5, "pass_rate": 0}', r"p\.json:1: a level is a whole number from 1, got 0\.5"),
        ('{"level": 1, "pass_rate": 0.5}', r"p\.json:1: it names no family, and there are a, b"),
        ('\n{"level": 1,', r"p\.json:2: .*; it needs JSON, as calibrate -o writes it"),
        ("[1]", r"p\.json:1: it needs an object, as calibrate -o writes it"),
        ({"families": [1]}, r"p\.json: it needs families with levels, as calibrate -o writes them"),
        (report(a=[None]), r"p\.json has no pass rate in it; make it with kolmo curriculum calibrate -o"),
        ("", r"p\.json has no pass rate in it"),
    ],
)
def test_what_does_not_fit_is_one_line(made: Any, profile: Any, said: str) -> None:
    with pytest.raises(UsageError, match=r"^controller\.prior: .*" + said) as refused:
        made(profile)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_there(made: Any, tmp_path: Path) -> None:
    made(report(a=STEEP))
    (tmp_path / "p.json").unlink()
    from kolmocli.config import Config

    config = Config.model_validate(
        {"families": {"a": {"levels": [{}]}}, "controller": {"prior": str(tmp_path / "p.json")}}
    )
    with pytest.raises(UsageError, match=r"p\.json: No such file or directory; make it with"):
        build_controller(config.controller, config.families, [Bucket("a", 1)], 100)


def test_a_learner_that_was_measured_is_at_the_target_at_once(made: Any) -> None:
    """On a learner whose pass rates are known exactly."""
    from kolmocli.curriculum.base import Ladder
    from kolmocli.curriculum.build import make_controller
    from kolmocli.curriculum.families import FamilyController

    learner = Learner(SCENARIOS["constant"])
    controller = make_controller("rasch", {FAMILY: Ladder(LEVELS)}, {"slope": 0.5})
    assert isinstance(controller, FamilyController)
    controller.begin({FAMILY: {level: (learner.pass_rate(level), 64) for level in range(1, LEVELS + 1)}})
    level = round(controller.metrics()[FAMILY].level)
    assert learner.pass_rate(level) == pytest.approx(0.5, abs=0.1)
