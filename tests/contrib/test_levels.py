"""The rule of each of the other controllers that a ladder has one of, as its source has it."""

from __future__ import annotations

import pytest

from kolmocli.contrib.controllers.pool import PoolLevel
from kolmocli.contrib.controllers.sequential import SequentialLevel
from kolmocli.contrib.controllers.thompson import ThompsonLevel
from kolmocli.contrib.controllers.window import WindowLevel
from kolmocli.curriculum.base import Bucket, Ladder, Result
from kolmocli.curriculum.mixture import freshness
from tests.curriculum.controllers import controller, family_controller
from tests.curriculum.test_kinds import drawn, seen


def test_pool_draws_levels_near_the_target_and_unseen_ones_more_often() -> None:
    level = PoolLevel(Ladder(4), band=0.25, weight=0.2)
    level.observe([*seen(1, 10), *seen(2, 6), *seen(3, 1)])
    counts = drawn(level, 12_000)
    total = 0.2 + 1 + 0.2 + 1
    for number, weight in {1: 0.2, 2: 1, 3: 0.2, 4: 1}.items():
        assert counts[number] / 12_000 == pytest.approx(weight / total, abs=0.02)


def test_pool_goes_by_the_latest_step() -> None:
    level = PoolLevel(Ladder(2), band=0.25, weight=0.2)
    level.observe(seen(1, 10, 10))
    level.observe(seen(1, 4, 6))
    assert level.rates == [0.5, None]
    level.observe(seen(1, 10, age=3))
    assert level.rates[0] == pytest.approx(0.5 + freshness(3) * 0.5)


def test_thompson_counts_as_its_source_does() -> None:
    level = ThompsonLevel(Ladder(2), memory=0.8)
    level.observe(seen(2, 7))
    level.observe(seen(2, 1))
    assert level.counts[0] == pytest.approx([1.0, 1.0])
    assert level.counts[1] == pytest.approx([0.8 * (0.8 + 0.2 + 7) + 0.2 + 1, 0.8 * (0.8 + 0.2 + 3) + 0.2 + 9])


def test_thompson_prefers_the_level_that_passes_at_the_target() -> None:
    level = ThompsonLevel(Ladder(3, target=0.8), memory=1.0)
    for _ in range(20):
        level.observe([*seen(1, 10), *seen(2, 8), *seen(3, 1)])
    assert level.level == 2
    assert drawn(level)[2] > 1900


def test_sequential_climbs_by_the_clock_alone() -> None:
    level = SequentialLevel(Ladder(6, bottom=3), steps=8)
    climbed = []
    for _ in range(10):
        climbed.append(level.level)
        level.observe(seen(3, 0))
    assert climbed == [3, 3, 4, 4, 5, 5, 6, 6, 6, 6]


def test_sequential_takes_the_steps_of_the_training_unless_told() -> None:
    assert family_controller("sequential", sequential={"steps": 7}).levels["a"].steps == 7  # type: ignore[attr-defined]
    assert family_controller("sequential").levels["a"].steps == 100  # type: ignore[attr-defined]


def test_a_window_climbs_when_its_upper_level_is_nearly_mastered_and_never_goes_down() -> None:
    level = WindowLevel(Ladder(6), size=2, groups=3)
    assert set(drawn(level)) == {1}
    level.observe(seen(1, 10, 9))
    assert level.at == 1  # two groups are not three
    level.observe(seen(1, 8))
    assert level.at == 2  # 27 of 30
    level.observe(seen(1, 10, 10, 10, 10) + seen(2, 9, 9, 8))
    assert level.at == 2  # 26 of 30; groups of the lower level do not count
    level.observe(seen(2, 9, 9))
    level.observe(seen(2, 9))
    assert level.at == 3  # the count had started again
    counts = drawn(level)
    assert set(counts) == {2, 3}
    assert counts[2] / 2000 == pytest.approx(0.5, abs=0.04)
    level.observe(seen(3, *[0] * 30))
    assert level.at == 3


def test_a_window_stops_at_the_top_and_draws_families_equally() -> None:
    level = WindowLevel(Ladder(2), groups=1)
    for _ in range(5):
        level.observe(seen(level.at, 10))
    assert level.at == 2
    assert WindowLevel.floors({"a": Ladder(9), "b": Ladder(1)}) == {"a": 0.5, "b": 0.5}


def test_thompson_tells_the_ends_of_the_ladder() -> None:
    made = controller("thompson")
    for _ in range(200):
        made.observe([Result(Bucket("a", level), 8, 8) for level in range(1, 7)])
        made.observe([Result(Bucket("c", level), 0, 8) for level in range(1, 13)])
    states = {family: metrics.state for family, metrics in made.metrics().items()}
    assert (states["a"], states["c"]) == ("mastered", "out of reach")
