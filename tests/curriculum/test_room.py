"""What control could win: the ratio of the best levels to all of them."""

from __future__ import annotations

import math
import random
from dataclasses import asdict
from statistics import fmean

import pytest

from kolmocli.curriculum.base import Bucket
from kolmocli.curriculum.information import Group
from kolmocli.curriculum.room import Room, room, room_line


def groups_of(ability: float, levels: int, tasks: int, seed: int, families: int = 2) -> dict[Bucket, list[Group]]:
    rng, found = random.Random(seed), {}
    for family in range(families):
        for level in range(1, levels + 1):
            rate = 1 / (1 + math.exp(level - ability))
            found[Bucket(str(family), level)] = [(sum(rng.random() < rate for _ in range(8)), 8) for _ in range(tasks)]
    return found


def true_ratio(ability: float, levels: int) -> float:
    rates = [1 / (1 + math.exp(level - ability)) for level in range(1, levels + 1)]
    signals = [rate * (1 - rate) for rate in rates]
    return max(signals) / (sum(signals) / levels)


@pytest.mark.parametrize(("ability", "levels"), [(2.0, 8), (-1.0, 8), (8.0, 8), (1.0, 3)])
def test_the_interval_holds_the_true_ratio(ability: float, levels: int) -> None:
    held = 0
    for seed in range(8):
        found = room(groups_of(ability, levels, 12, seed), seed)
        assert found is not None and found.ci is not None and found.ratio is not None
        held += found.ci[0] * 0.95 <= true_ratio(ability, levels) <= found.ci[1] * 1.05
    assert held >= 7


def test_levels_that_are_alike_leave_no_room() -> None:
    rng = random.Random(1)
    alike = {Bucket("a", level): [(rng.randint(0, 8), 8) for _ in range(40)] for level in range(1, 6)}
    found = room(alike)
    assert found is not None and found.ratio == pytest.approx(1.0, abs=0.12)  # and not that of the luckiest level


def test_the_luckiest_of_many_levels_leaves_no_room() -> None:
    """By the tasks that it was chosen by it is 1.2 times as good as the mean of twenty that are alike."""
    ratios = []
    for seed in range(5):
        rng = random.Random(seed)
        found = room({Bucket("a", level): [(_passes(rng), 8) for _ in range(8)] for level in range(1, 21)})
        assert found is not None and found.ratio is not None
        ratios.append(found.ratio)
    assert fmean(ratios) < 1.1


def _passes(rng: random.Random) -> int:
    return sum(rng.random() < 0.3 for _ in range(8))


def test_failing_whole_is_told_from_passing_whole() -> None:
    found = room({Bucket("a", 1): [(8, 8), (8, 8)], Bucket("a", 2): [(4, 8), (4, 8)], Bucket("a", 3): [(0, 8), (0, 8)]})
    assert found is not None
    assert (found.passed, found.failed) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert found.ratio == pytest.approx(3.0)


def test_an_unseen_level_counts_as_its_neighbour() -> None:
    seen = {Bucket("a", 1): [(8, 8)] * 4, Bucket("a", 2): [(4, 8)] * 4}
    found = room({**seen, Bucket("a", 3): [], Bucket("a", 4): []})
    assert found is not None and found.uniform == pytest.approx(3 / 4 * 2 / 7)


@pytest.mark.parametrize(
    "groups", [{}, {Bucket("a", 1): [(3, 8)]}, {Bucket("a", 1): [(1, 1)], Bucket("a", 2): [(1, 1)]}]
)
def test_where_there_is_nothing_to_choose_there_is_no_room(groups: dict[Bucket, list[Group]]) -> None:
    assert room(groups) is None


def test_nothing_taught_has_no_ratio() -> None:
    found = room({Bucket("a", 1): [(0, 8)] * 3, Bucket("a", 2): [(0, 8)] * 3})
    assert found is not None and found.ratio is None and found.ci is None


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Room(0.21, 0.25, 1.19, (1.1, 1.3), 0.0, 0.1), "at most 16 % of the rollouts here (95 %: 1.1 to 1.3 times)"),
        (Room(0.06, 0.24, 4.0, None, 0.5, 0.0), "up to 4.0 times fewer rollouts (too few tasks for an interval)"),
        (Room(0.0, 0.0, None, None, 1.0, 0.0), "what control can win is unknown"),
    ],
)
def test_it_is_one_line(found: Room, said: str) -> None:
    line = room_line(asdict(found))
    assert said in line and "\n" not in line
