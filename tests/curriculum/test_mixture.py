"""Shares of the families: floor plus signal."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest
from hypothesis import given, strategies as st

from kolmocli.curriculum.base import Bucket, Result
from kolmocli.curriculum.mixture import Mixture, counted, freshness, systematic

G = 8


def group(passes: int, age: int = 0) -> list[Result]:
    return [Result(Bucket("any", 1), passes, G, age)]


def test_weight_goes_to_the_family_with_the_signal() -> None:
    mixture = Mixture({"half": 0.05, "all": 0.05, "none": 0.05})
    for _ in range(30):
        mixture.observe("half", group(4))
        mixture.observe("all", group(G))
        mixture.observe("none", group(0))
    weights = mixture.weights()
    assert weights["half"] > 0.75
    assert weights["all"] == pytest.approx(weights["none"])


def test_alive_counts_groups_with_a_pass_and_a_failure() -> None:
    """Nearly flat where U has its peak: a family at p = 1/8 keeps the share that U would halve."""
    by_u, alive = Mixture({"low": 0.0, "half": 0.0}), Mixture({"low": 0.0, "half": 0.0}, "alive")
    for mixture in (by_u, alive):
        for _ in range(60):
            mixture.observe("low", group(1))
            mixture.observe("half", group(4))
    assert alive.weights() == pytest.approx({"low": 0.5, "half": 0.5}, abs=0.01)
    assert by_u.weights()["low"] < 0.33
    for _ in range(60):
        alive.observe("low", group(0))
    assert alive.weights()["low"] < 0.01


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 0.9])
def test_alive_estimates_its_formula_without_bias(rate: float) -> None:
    luck, mixture, seen = random.Random(4), Mixture({"a": 0.0}, "alive"), []
    for _ in range(4000):
        mixture.observe("a", group(sum(luck.random() < rate for _ in range(G))))
        seen.append(mixture.signal["a"])
    assert math.fsum(seen[60:]) / len(seen[60:]) == pytest.approx(1 - rate**G - (1 - rate) ** G, abs=0.03)


def test_floors_may_differ() -> None:
    mixture = Mixture({"a": 0.5, "b": 0.1})
    mixture.signal = {"a": 0.0, "b": 0.2}
    assert mixture.weights() == pytest.approx({"a": 0.5, "b": 0.5})


def test_without_any_signal_what_is_left_is_shared_alike() -> None:
    mixture = Mixture({"a": 0.3, "b": 0.1})
    mixture.signal = {"a": 0.0, "b": 0.0}
    assert mixture.weights() == pytest.approx({"a": 0.6, "b": 0.4})


def test_floors_that_families_cannot_share_are_refused() -> None:
    with pytest.raises(ValueError, match=r"the floors of 3 families add to 1\.5, which is above 1"):
        Mixture(dict.fromkeys("abc", 0.5))


def test_a_late_result_counts_less() -> None:
    assert freshness(0) == 1
    on_time, late = Mixture({"a": 0.0}), Mixture({"a": 0.0})
    on_time.observe("a", group(0))
    late.observe("a", group(0, age=7))
    assert 0.25 - late.signal["a"] == pytest.approx((0.25 - on_time.signal["a"]) * freshness(7))
    assert freshness(7) == pytest.approx(0.5, abs=0.05)


def test_late_and_fresh_results_of_one_step_are_weighed_against_each_other() -> None:
    signal, late = 4 * 4 / (8 * 7), freshness(7)
    one, both = Mixture({"a": 0.0}), Mixture({"a": 0.0})
    one.observe("a", group(4))
    memory = (one.signal["a"] - 0.25) / (signal - 0.25)
    both.observe("a", [*group(4), *group(0, age=7)])
    assert both.signal["a"] - 0.25 == pytest.approx(memory * (1 + late) / 2 * (signal / (1 + late) - 0.25))
    assert counted([*group(8), *group(4, age=7)]) == pytest.approx((8 + 4 * late, 8 + 8 * late))


def test_a_group_of_one_has_no_signal() -> None:
    mixture = Mixture({"a": 0.0})
    mixture.observe("a", [Result(Bucket("any", 1), 1, 1)])
    assert mixture.signal == {"a": 0.25}


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8).filter(any), st.integers(0, 50), st.integers(0, 99))
def test_systematic_sampling_counts_within_one_of_the_share(raw: list[float], count: int, seed: int) -> None:
    weights = [w / math.fsum(raw) for w in raw]
    items = [str(i) for i in range(len(weights))]
    chosen = Counter(systematic(items, weights, count, random.Random(seed)))
    assert sum(chosen.values()) == count
    assert all(abs(chosen[item] - count * w) < 1 + 1e-6 for item, w in zip(items, weights, strict=True))


def test_systematic_sampling_begins_anywhere() -> None:
    """Else an item of a small share would never come in small counts."""
    drawn = Counter(systematic("ab", [0.9, 0.1], 1, random.Random(seed))[0] for seed in range(2000))
    assert drawn["b"] == pytest.approx(200, abs=60)
