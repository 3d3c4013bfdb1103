"""The rule of each of the other kinds, as its source has it."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest

from kolmocli.curriculum.base import Bucket, Ladder, Result
from kolmocli.curriculum.controllers.integral import IntegralLevel
from kolmocli.curriculum.controllers.staircase import StaircaseLevel
from kolmocli.curriculum.levels import LevelController
from kolmocli.curriculum.mixture import freshness
from tests.curriculum.controllers import controller

G = 10


def seen(level: int, *passes: int, age: int = 0) -> list[Result]:
    return [Result(Bucket("f", level), k, G, age) for k in passes]


def drawn(level: LevelController, count: int = 2000) -> Counter[int]:
    rng = random.Random(0)
    return Counter(level.draw(rng) for _ in range(count))


def test_integral_moves_by_the_hyperbolic_tangent_of_the_error() -> None:
    level = IntegralLevel(Ladder(11), gain=0.1, sensitivity=2.0)
    level.observe(seen(1, 10, 8))
    assert level.level == pytest.approx(1 + 0.1 * 10 * math.tanh(2 * 0.4))
    level.observe(seen(1, 3))
    assert level.level == pytest.approx(1 + math.tanh(0.8) - math.tanh(0.4))
    level.observe(seen(1, 0))
    assert level.level == 1  # the bottom


def test_integral_moves_less_for_late_results() -> None:
    level = IntegralLevel(Ladder(11), gain=0.1, sensitivity=2.0)
    level.observe(seen(1, 10, age=6))
    assert level.level - 1 == pytest.approx(freshness(6) * math.tanh(1.0))


def test_integral_mixes_the_two_levels_around_it() -> None:
    level = IntegralLevel(Ladder(11), gain=0.1, sensitivity=2.0)
    level.level = 4.25
    counts = drawn(level)
    assert set(counts) == {4, 5}
    assert counts[5] / 2000 == pytest.approx(0.25, abs=0.04)


def test_staircase_goes_up_and_down_at_its_thresholds() -> None:
    level = StaircaseLevel(Ladder(5), window=20, above=0.2, below=0.4)
    level.observe(seen(1, 10))
    assert level.level == 1  # ten rollouts are not twenty
    level.observe(seen(1, 5))
    assert level.level == 2
    level.observe(seen(2, 7, 7))
    assert level.level == 2  # at .7, not above it
    level.observe(seen(2, 0, 0))
    assert level.level == 1
    level.observe(seen(1, 0, 0))
    assert level.level == 1  # the bottom


def test_staircase_says_nothing_of_the_ladder_before_its_window_is_full() -> None:
    level = StaircaseLevel(Ladder(5), window=20, above=0.2, below=0.4)
    level.observe(seen(1, 0))
    assert level.state() == "tracking"
    level.observe(seen(1, 0))
    assert level.state() == "out of reach"


def test_staircase_forgets_what_is_older_than_its_window() -> None:
    level = StaircaseLevel(Ladder(5), window=20, above=0.2, below=0.4)
    for _ in range(5):
        level.observe(seen(1, 5, 5))
    level.observe(seen(1, 9, 9))
    assert level.level == 2


def test_staircase_waits_for_more_when_results_are_late() -> None:
    level = StaircaseLevel(Ladder(5), window=20, above=0.2, below=0.4)
    level.observe(seen(1, 10, 10, age=4))
    assert level.level == 1
    level.observe(seen(1, 10, 10, age=4))
    assert level.level == 2


def test_staircase_thresholds_follow_the_target() -> None:
    level = StaircaseLevel(Ladder(5, target=0.9), window=20, above=0.2, below=0.4)
    level.observe(seen(1, 9, 9))
    assert level.level == 1
    level.observe(seen(1, 10, 10))
    assert level.level == 2


def test_uniform_proposes_every_bucket_equally_often_whatever_happened() -> None:
    made, rng = controller("uniform"), random.Random(0)
    for _ in range(100):
        made.observe([Result(Bucket("a", 1), 8, 8)])
    counts = Counter(bucket for _ in range(1000) for bucket in made.propose(19, rng))
    assert len(counts) == 19
    assert all(n == pytest.approx(1000, abs=130) for n in counts.values())
    metrics = made.metrics()
    assert [metrics[f].weight for f in "abc"] == pytest.approx([6 / 19, 1 / 19, 12 / 19])
    assert (metrics["a"].level, metrics["a"].state) == (3.5, "uniform")


@pytest.mark.parametrize("kind", ["integral", "staircase"])
def test_the_ends_of_the_ladder_are_told(kind: str) -> None:
    made = controller(kind)
    for _ in range(200):
        made.observe([Result(Bucket("a", level), 8, 8) for level in range(1, 7)])
        made.observe([Result(Bucket("c", level), 0, 8) for level in range(1, 13)])
    states = {family: metrics.state for family, metrics in made.metrics().items()}
    assert (states["a"], states["c"]) == ("mastered", "out of reach")
