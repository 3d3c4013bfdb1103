"""A controller of one's own: registered, made by name, steered like any other, refused in one line."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import pytest

from kolmocli.curriculum import (
    KINDS,
    Bucket,
    Controller,
    FamilyMetrics,
    Ladder,
    LevelBase,
    Result,
    Setting,
    controller,
    make_controller,
    register_controller,
)
from kolmocli.curriculum.families import FamilyController
from kolmocli.curriculum.simulator.compare import compare
from kolmocli.errors import UsageError
from tests.curriculum.controllers import KINDS as ALL_KINDS

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def nothing_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_things", "_owners"):
        monkeypatch.setattr(KINDS, name, dict(getattr(KINDS, name)))


class Climber(LevelBase):
    """Up by `gain` after every step that passed at the target."""

    saved = ("level",)

    def __init__(
        self,
        ladder: Ladder,
        *,
        gain: Annotated[float, Setting("levels per step", above=0)] = 0.5,
        patience: Annotated[int, Setting("steps", least=1, most=9)] = 1,
        word: str = "up",
        horizon: int | None = None,
    ) -> None:
        super().__init__(ladder)
        self.gain, self.patience, self.word, self.horizon = gain, patience, word, horizon
        self.level = float(ladder.bottom)

    def observe(self, results: Sequence[Result]) -> list[str]:
        if results and sum(r.passes for r in results) >= self.ladder.target * sum(r.rollouts for r in results):
            self.level = self.ladder.clamp(self.level + self.gain)
            return [self.word]
        return []


class Everywhere:
    """A whole controller: the families in turn, at their lowest levels."""

    def __init__(self, ladders: Mapping[str, Ladder], *, first: int = 0) -> None:
        self.ladders, self.turn = dict(ladders), first

    def propose(self, groups: int, rng: random.Random) -> list[Bucket]:
        names = list(self.ladders)
        return [Bucket(names[(self.turn + i) % len(names)], 1) for i in range(groups)]

    def observe(self, results: Sequence[Result]) -> list[str]:
        self.turn += len(results)
        return []

    def metrics(self) -> dict[str, FamilyMetrics]:
        share = 1.0 / len(self.ladders)
        return {name: FamilyMetrics(1.0, ladder.top, share, "turn") for name, ladder in self.ladders.items()}

    def state_dict(self) -> dict[str, Any]:
        return {"turn": self.turn}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.turn = state["turn"]


def level_of(made: Controller) -> Climber:
    assert isinstance(made, FamilyController)
    level = made.levels["a"]
    assert isinstance(level, Climber)
    return level


def test_the_readme_example() -> None:
    made = controller("rasch", {"easy": 6, "hard": 9}, target=0.5)
    buckets = made.propose(16, random.Random(0))
    assert {bucket.family for bucket in buckets} == {"easy", "hard"}
    made.observe([Result(bucket, passes=3, rollouts=8) for bucket in buckets])
    assert {family: metrics.top for family, metrics in made.metrics().items()} == {"easy": 6, "hard": 9}


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_every_kind_is_made_from_python(kind: str) -> None:
    made = controller(kind, {"a": 6, "b": Ladder(9, 2, 0.7, 0.1)}, **({"steps": 20} if kind == "sequential" else {}))
    for step in range(20):
        proposed = made.propose(8, random.Random(step))
        assert all(1 <= b.level <= 6 if b.family == "a" else 2 <= b.level <= 9 for b in proposed)
        made.observe([Result(bucket, 5, 8) for bucket in proposed])


def test_what_is_registered_is_made_by_name_with_its_settings() -> None:
    assert register_controller("climber")(Climber) is Climber
    made = controller("climber", {"a": 6}, gain=2)
    assert made.observe([Result(Bucket("a", 1), 5, 8)]) == ["a: up"]
    assert made.metrics()["a"] == FamilyMetrics(3.0, 6, 1.0, "tracking")
    assert made.propose(2, random.Random(0)) == [Bucket("a", 3)] * 2
    assert (level_of(made).patience, level_of(made).horizon) == (1, None)
    assert level_of(make_controller("climber", {"a": Ladder(6)}, {}, horizon=40)).horizon == 40


def test_its_state_is_what_it_lists_and_goes_on_exactly() -> None:
    register_controller("climber")(Climber)
    made, loaded = controller("climber", {"a": 6}), controller("climber", {"a": 6})
    made.observe([Result(Bucket("a", 1), 8, 8)])
    state = json.loads(json.dumps(made.state_dict()))
    assert state["families"]["a"]["state"] == {"level": 1.5}
    loaded.load_state_dict(state)
    assert loaded.metrics() == made.metrics()
    with pytest.raises(ValueError, match="gain"):
        loaded.load_state_dict({**state, "families": {"a": {"levels": [1, 6], "state": {"gain": 1}}}})


def test_a_level_off_the_ladder_is_signal_and_says_nothing_of_the_level() -> None:
    """Level 0 is a task that was begun for the policy."""
    register_controller("climber")(Climber)
    made = controller("climber", {"a": Ladder(6, bottom=2)})
    before = made.state_dict()
    made.observe([Result(Bucket("a", level), 8, 8) for level in (0, 1, 7)])
    assert made.state_dict()["families"] == before["families"]
    assert made.state_dict()["signal"]["a"] < before["signal"]["a"]


def test_a_whole_controller_replaces_the_mixture_too() -> None:
    register_controller("everywhere")(Everywhere)
    made = controller("everywhere", {"a": 6, "b": 2}, first=1)
    assert isinstance(made, Everywhere)
    assert made.propose(3, random.Random(0)) == [Bucket("b", 1), Bucket("a", 1), Bucket("b", 1)]


def test_the_simulator_plays_what_is_registered() -> None:
    register_controller("climber")(Climber)
    register_controller("everywhere")(Everywhere)
    report = compare(["climber", "everywhere", "uniform"], ["ramp"], lag=0, seeds=1, steps=100)
    rows = report["controllers"]
    assert rows["climber"]["rmse"] < rows["uniform"]["rmse"] < rows["everywhere"]["rmse"]


class Half(LevelBase):
    level = 1.0


class Bare:
    def draw(self, rng: random.Random) -> int:
        return 1


class Needy(Climber):
    def __init__(self, ladder: Ladder, gain: float) -> None:
        super().__init__(ladder, gain=gain)


class Unreadable(Climber):
    def __init__(self, ladder: Ladder, gain: NoSuchType = 1) -> None:  # type: ignore[name-defined]  # noqa: F821
        super().__init__(ladder, gain=gain)


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("rasch", Climber, "the controller rasch comes with kolmo; choose another name"),
        ("target", Climber, "a controller cannot be called 'target'; choose"),
        ("my-own", Climber, "a controller cannot be called 'my-own'; choose"),
        ("mine", Half, "the controller mine has no observe; deriving it from LevelBase"),
        ("mine", Bare, "the controller mine has no observe, state, belief, state_dict, load_state_dict, floors; deriving"),
        ("mine", Ladder, "the controller mine must be a class with `draw` (inside one family) or `propose` (of all)"),
        ("mine", len, "the controller mine must be a class with `draw`"),
        ("mine", Needy, "the controller mine: the setting gain has no default"),
        ("mine", Unreadable, "the controller mine: an annotation of its constructor cannot be read: name 'NoSuchType'"),
    ],
)  # fmt: skip
def test_what_cannot_be_registered_is_refused_in_one_line(name: str, kind: Any, said: str) -> None:
    with pytest.raises(UsageError) as error:
        register_controller(name)(kind)
    assert str(error.value).startswith(said)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("kind", "families", "settings", "said"),
    [
        ("rash", {"a": 6}, {}, "no controller rash; did you mean rasch?"),
        ("rasch", {7: 3}, {}, "the family 7: a name is a text"),
        ("rasch", {}, {}, "a controller needs at least one family, such as {'easy': 6}"),
        ("rasch", {"a": 0}, {}, "the family a: levels 1 to 0 are no ladder; they count from 1, easy to hard"),
        ("rasch", {"a": "six"}, {}, "the family a: "),
        ("rasch", {"a": 6}, {"target": 1.0}, "the family a: a target must lie between 0 and 1, got 1.0"),
        ("rasch", {"a": 6}, {"floor": -1}, "the family a: a floor is a share, from 0 to 1, got -1"),
        ("rasch", {"a": 6, "b": 6}, {"floor": 0.6}, "the floors of 2 families add to 1.2, which is above 1; lower"),
        ("rasch", {"a": 6}, {"slop": 1}, "the controller rasch has no setting slop; did you mean slope?"),
        ("rasch", {"a": 6}, {"slope": 0}, "the setting slope of the controller rasch must be > 0, got 0"),
        ("rasch", {"a": 6}, {"slope": "1"}, "the setting slope of the controller rasch must be a number, got '1'"),
        ("rasch", {"a": 6}, {"slope": math.inf}, "the setting slope of the controller rasch must be a finite number, got inf"),
        ("rasch", {"a": 6}, {"probes": 2}, "the setting probes of the controller rasch must be <= 1, got 2"),
        ("rasch", {"a": 6}, {"slope": float("nan")}, "the setting slope of the controller rasch must be > 0, got nan"),
        ("staircase", {"a": 6}, {"window": 1.5}, "the setting window of the controller staircase must be a whole number"),
        ("uniform", {"a": 6}, {"slope": 1}, "the controller uniform has no setting slope; it has none"),
        ("sequential", {"a": 6}, {}, "sequential follows the clock and needs the number of steps"),
    ],
)  # fmt: skip
def test_what_does_not_fit_together_is_refused_in_one_line(
    kind: str, families: Any, settings: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError) as error:
        controller(kind, families, **settings)
    assert str(error.value).startswith(said)
    assert "\n" not in str(error.value)


def test_the_room_is_pure_python() -> None:
    """Also where a controller is made and steered: it is used in trainers of others."""
    code = (
        "import random, sys\n"
        "from kolmocli.curriculum import Result, controller\n"
        "made = controller('rasch', {'a': 6}, slope=0.5)\n"
        "made.observe([Result(bucket, 3, 8) for bucket in made.propose(4, random.Random(0))])\n"
        "assert not {'numpy', 'torch', 'pydantic', 'yaml'} & {*sys.modules}, sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
