"""The bandit over all buckets: what it is paid, what it draws, and what it does not look at."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from pydantic import ValidationError

from kolmocli.contrib.controllers.sec import AdvantageBandit
from kolmocli.curriculum.base import Bucket, Controller, Ladder, Result
from kolmocli.curriculum.build import controller, make_controller
from kolmocli.curriculum.mixture import freshness
from kolmocli.errors import UsageError
from tests.curriculum.controllers import LEVELS, controller as from_a_file

G = 8
LADDERS = {"a": Ladder(4), "b": Ladder(3, bottom=2)}


def group(family: str, level: int, passes: int, age: int = 0) -> Result:
    return Result(Bucket(family, level), passes, G, age)


def observed(*groups: Result, **settings: float) -> AdvantageBandit:
    """After one step."""
    made = AdvantageBandit(LADDERS, **settings)
    assert made.observe(groups) == []
    return made


def value(made: AdvantageBandit, family: str, level: int) -> float:
    return made.values[Bucket(family, level)]


def drawn(made: Controller, groups: int = 1000) -> Counter[Bucket]:
    return Counter(made.propose(groups, random.Random(0)))


def steered(rates: Mapping[Bucket, float], made: Controller, steps: int = 200) -> Controller:
    """After so many steps of four groups on a policy with these pass rates."""
    rng = random.Random(0)
    for _ in range(steps):
        made.observe(
            [Result(b, sum(rng.random() < rates[b] for _ in range(G)), G) for b in made.propose(4, rng)],
        )
    return made


# --- what a bucket is worth


@pytest.mark.parametrize("passes", range(G + 1))
def test_a_group_pays_its_mean_absolute_advantage(passes: int) -> None:
    """By its definition: rewards less their mean, over their standard deviation."""
    rewards = [1.0] * passes + [0.0] * (G - passes)
    mean = sum(rewards) / G
    deviation = math.sqrt(sum((r - mean) ** 2 for r in rewards) / G)
    paid = sum(abs(r - mean) for r in rewards) / G / deviation if deviation else 0.0
    made = observed(group("a", 1, passes), rate=1)
    assert value(made, "a", 1) == pytest.approx(paid)
    assert value(made, "a", 1) <= 1 == value(observed(group("a", 1, G // 2), rate=1), "a", 1)


def test_a_value_moves_by_the_rate_towards_the_mean_of_the_step() -> None:
    made = AdvantageBandit(LADDERS, rate=0.25)
    made.observe([group("a", 2, 4), group("a", 2, 0)])
    assert value(made, "a", 2) == pytest.approx(0.25 * 0.5)
    made.observe([group("a", 2, 4)])
    assert value(made, "a", 2) == pytest.approx(0.125 + 0.25 * (1 - 0.125))


def test_a_bucket_that_is_not_in_a_step_keeps_its_value() -> None:
    made = observed(group("a", 2, 4))
    made.observe([group("a", 3, 4), group("b", 2, 0)])
    assert value(made, "a", 2) == 0.5


@pytest.mark.parametrize("age", [1, 6])
def test_a_late_group_counts_less(age: int) -> None:
    assert value(observed(group("a", 1, 4, age), rate=0.5), "a", 1) == pytest.approx(0.5 * freshness(age))
    both = observed(group("a", 1, 4), group("a", 1, 4, age), rate=0.5)
    assert 0.5 * freshness(age) < value(both, "a", 1) < 0.5


def test_what_says_nothing_of_a_bucket_changes_nothing() -> None:
    """One rollout has no advantage; level 0 was begun for the policy; the others are not on the ladders."""
    one_rollout = [Result(Bucket("a", 1), passes, 1) for passes in (0, 1)]
    off = [group(family, level, 4) for family, level in (("a", 0), ("a", 5), ("b", 1))]
    assert observed(*one_rollout, *off).state_dict() == AdvantageBandit(LADDERS).state_dict()
    before = observed(group("a", 1, 4))
    assert value(before, "a", 1) > 0
    before.observe(one_rollout)
    assert value(before, "a", 1) == 0.5


# --- what it draws


def test_before_anything_is_seen_every_bucket_is_drawn_alike() -> None:
    assert drawn(AdvantageBandit(LADDERS), 600) == dict.fromkeys(
        [Bucket("a", 1), Bucket("a", 2), Bucket("a", 3), Bucket("a", 4), Bucket("b", 2), Bucket("b", 3)], 100
    )


def test_buckets_are_drawn_by_the_softmax_of_their_values() -> None:
    made = observed(group("a", 2, 4), group("b", 3, 1), rate=1, temperature=0.5)
    values = {Bucket("a", 2): 1.0, Bucket("b", 3): 2 * math.sqrt(1 / 8 * 7 / 8)}
    raw = {bucket: math.exp(values.get(bucket, 0.0) / 0.5) for bucket in made.values}
    total = sum(raw.values())
    counts = drawn(made)
    assert all(abs(counts[bucket] - 1000 * weight / total) <= 1 for bucket, weight in raw.items())
    assert made.metrics()["b"].weight == pytest.approx((raw[Bucket("b", 2)] + raw[Bucket("b", 3)]) / total)


def test_it_goes_to_the_buckets_that_pass_half_of_the_time_wherever_they_are() -> None:
    """In the middle of one ladder and at the top of the other: it knows no order, and no families."""
    rates = {Bucket("a", level): p for level, p in enumerate((1.0, 0.5, 0.0, 0.0), 1)}
    rates |= {Bucket("b", 2): 1.0, Bucket("b", 3): 0.45}
    counts = drawn(steered(rates, AdvantageBandit(LADDERS)))
    near_half = {Bucket("a", 2), Bucket("b", 3)}
    assert sum(counts[bucket] for bucket in near_half) > 900
    assert min(counts[bucket] for bucket in near_half) > 5 * max(counts[b] for b in rates if b not in near_half)


@pytest.mark.parametrize("then", [0.0, 1.0])
def test_it_leaves_what_passes_always_or_never(then: float) -> None:
    rates = dict.fromkeys(AdvantageBandit(LADDERS).values, 0.0) | {Bucket("a", 2): 0.5}
    made = steered(rates, AdvantageBandit(LADDERS))
    assert drawn(made).most_common(1)[0][0] == Bucket("a", 2)
    steered({**rates, Bucket("a", 2): then, Bucket("a", 3): 0.5}, made)
    counts = drawn(made)
    assert counts[Bucket("a", 3)] > 900
    assert counts[Bucket("a", 2)] < 50


def test_a_lower_temperature_is_greedier() -> None:
    shares = [drawn(observed(group("a", 2, 4), temperature=t))[Bucket("a", 2)] for t in (5, 1, 0.2, 0.05)]
    assert shares == sorted(shares)
    assert shares[0] < 200 < 990 < shares[-1]


def test_the_greediest_bandit_still_tells_finite_numbers() -> None:
    made = observed(group("a", 2, 4), temperature=1e-9)
    assert drawn(made) == {Bucket("a", 2): 1000}
    metrics = made.metrics()
    assert (metrics["a"].level, metrics["a"].weight) == (2, 1)
    assert (metrics["b"].level, metrics["b"].weight) == (2.5, 0)


def test_what_is_told_of_a_family_is_the_mean_of_what_is_drawn() -> None:
    made = observed(group("a", 3, 4), group("b", 2, 1), rate=1)
    counts = drawn(made, 100_000)
    for family, metrics in made.metrics().items():
        of_it = {bucket.level: count for bucket, count in counts.items() if bucket.family == family}
        mean = sum(level * count for level, count in of_it.items()) / sum(of_it.values())
        assert metrics.level == pytest.approx(mean, abs=0.01)
        assert metrics.weight == pytest.approx(sum(of_it.values()) / 100_000, abs=1e-4)
        assert (metrics.top, metrics.state, metrics.belief) == (LADDERS[family].top, "bandit", None)


# --- what it does not look at


@pytest.mark.parametrize("ignored", [{"target": 0.9}, {"floor": 0.3}, {"floor": 0.9}, {"probes": 0.8}])
def test_targets_floors_and_probes_change_nothing(ignored: dict[str, float]) -> None:
    """As docs/controllers.md says; floors that other kinds could not share are none of its business."""
    one, other = from_a_file("sec", **ignored), from_a_file("sec")
    for step in range(20):
        proposed = one.propose(5, random.Random(step))
        assert proposed == other.propose(5, random.Random(step))
        results = [Result(bucket, bucket.level % (G + 1), G) for bucket in proposed]
        one.observe(results)
        other.observe(results)
    assert one.state_dict() == other.state_dict()
    assert one.metrics() == other.metrics()


# --- settings and states


def test_its_settings_stand_in_a_section_of_a_file() -> None:
    made = from_a_file("sec", sec={"rate": 0.1, "temperature": 1})
    assert isinstance(made, AdvantageBandit)
    assert (made.rate, made.temperature) == (0.1, 1)
    usual = from_a_file("sec")
    assert isinstance(usual, AdvantageBandit)
    assert (usual.rate, usual.temperature) == (0.5, 0.2)
    assert set(usual.values) == {Bucket(f, level) for f, top in LEVELS.items() for level in range(1, top + 1)}


@pytest.mark.parametrize("wrong", [{"rate": 0}, {"rate": 1.5}, {"temperature": 0}, {"temperature": -1}])
def test_settings_without_a_meaning_are_refused(wrong: dict[str, Any]) -> None:
    (key,) = wrong
    with pytest.raises(ValidationError, match=rf"sec\.{key}"):
        from_a_file("sec", sec=wrong)
    with pytest.raises(UsageError, match=f"the setting {key} of the controller sec must be"):
        controller("sec", {"a": 6}, **wrong)


def test_its_state_is_the_values_of_each_family() -> None:
    state = observed(group("a", 3, 4), group("b", 2, 4)).state_dict()
    assert json.loads(json.dumps(state)) == {
        "kind": "sec",
        "families": {
            "a": {"levels": [1, 4], "values": [0, 0, 0.5, 0]},
            "b": {"levels": [2, 3], "values": [0.5, 0]},
        },
    }


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ({**LADDERS, "b": Ladder(3)}, r"b has levels \[2, 3\], the saved one \[1, 3\]"),
        ({**LADDERS, "a": Ladder(5)}, r"a has levels \[1, 4\], the saved one \[1, 5\]"),
        ({"a": Ladder(4)}, r"a sec controller over \['a', 'b'\] cannot take up"),
        ({**LADDERS, "c": Ladder(1)}, r"a sec controller over \['a', 'b'\] cannot take up"),
    ],
)
def test_the_state_of_other_ladders_is_refused_and_changes_nothing(others: dict[str, Ladder], said: str) -> None:
    made = observed(group("a", 1, 4))
    before = made.state_dict()
    with pytest.raises(ValueError, match=said):
        made.load_state_dict(AdvantageBandit(others).state_dict())
    assert made.state_dict() == before


@pytest.mark.parametrize("values", [[], [0.0] * 3, [0.0] * 5])
def test_a_state_without_a_value_for_every_level_is_refused(values: Sequence[float]) -> None:
    made = AdvantageBandit(LADDERS)
    state = made.state_dict()
    state["families"]["a"]["values"] = values
    with pytest.raises(ValueError, match="argument 2 is"):
        made.load_state_dict(state)


@pytest.mark.parametrize(("saved", "loading"), [("rasch", "sec"), ("sec", "rasch")])
def test_the_state_of_another_kind_is_refused_by_name(saved: str, loading: str) -> None:
    state = make_controller(saved, LADDERS, {}).state_dict()
    with pytest.raises(ValueError, match=rf"a {loading} controller over \['a', 'b'\] cannot take up"):
        make_controller(loading, LADDERS, {}).load_state_dict(state)
