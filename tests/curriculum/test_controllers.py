"""Properties of every kind of controller, for any results whatever."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from kolmocli.curriculum import build
from kolmocli.curriculum.base import Bucket, Result
from kolmocli.errors import UsageError
from tests.curriculum.controllers import (
    BUCKETS,
    BY_FAMILY,
    KINDS,
    LEVELS,
    WHOLE,
    G,
    History,
    after,
    controller,
    crowded,
    family_controller,
    histories,
    kinds,
    kinds_by_family,
    levels,
    results,
    steps,
)

EACH = 30
"""Examples of a property that is tried for each kind by itself; where kinds are drawn too, there are a hundred of all."""


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_numpy_leave_a_plain_state(kind: str) -> None:
    """Also those that the guard keeps, and the levels of a ladder."""
    steps = {"steps": 9} if kind == "sequential" else {}
    made = build.controller(kind, {"sums": np.int64(4)}, guard=0.1, **steps)  # type: ignore[dict-item]
    for _ in range(3):
        made.observe([Result(Bucket("sums", np.int64(2)), np.float32(3), np.int64(8), np.int8(1), np.int8(2))])  # type: ignore[arg-type]
    plain = build.controller(kind, {"sums": 4}, guard=0.1, **steps)
    for _ in range(3):
        plain.observe([Result(Bucket("sums", 2), 3, 8, 1, 2)])
    assert json.dumps(made.state_dict()) == json.dumps(plain.state_dict())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("guard", [0.0, 0.1])
def test_results_that_can_be_read_only_once_count(kind: str, guard: float) -> None:
    """A look whether they fit used them up."""
    listed, once = controller(kind, guard=guard), controller(kind, guard=guard)
    step = [Result(BUCKETS[0], passes, 8) for passes in (8, 8, 3)]
    listed.observe(step)
    once.observe(result for result in step)  # type: ignore[arg-type]
    assert once.state_dict() == listed.state_dict()


@pytest.mark.parametrize(
    ("passes", "rollouts", "age"), [(9, 8, 0), (-1, 8, 0), (5, 1, 0), (math.nan, 1, 0), (3, math.inf, 0), (3, 8, -1)]
)
def test_results_that_cannot_be_are_refused(passes: Any, rollouts: Any, age: int) -> None:
    with pytest.raises(ValueError, match="sums/2"):
        Result(Bucket("sums", 2), passes, rollouts, age)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("guard", [0.0, 0.1])
@pytest.mark.parametrize(
    ("bucket", "said"),
    [
        (Bucket("bb", 1), "did you mean b"),
        (Bucket("a", 2.5), "a whole number"),  # type: ignore[arg-type]
    ],
)
def test_results_that_would_steer_nothing_are_refused(kind: str, guard: float, bucket: Bucket, said: str) -> None:
    made = controller(kind, guard=guard)
    before = made.state_dict()
    with pytest.raises(UsageError, match=said):
        made.observe([Result(BUCKETS[0], 3, 8), Result(bucket, 3, 8)])
    assert made.state_dict() == before


@pytest.mark.parametrize("kind", KINDS)
def test_results_of_any_age_leave_finite_numbers(kind: str) -> None:
    made = after([[Result(BUCKETS[0], 3, 8, age=10_000)]], controller(kind))
    json.dumps(made.state_dict(), allow_nan=False)


@pytest.mark.parametrize("kind", ["rasch", "integral", "staircase"])
@settings(max_examples=EACH)
@given(st.lists(crowded, max_size=8), crowded, st.data())
def test_more_passes_never_lower_the_next_level(
    kind: str, history: History, step: list[Result], data: st.DataObject
) -> None:
    better = [Result(r.bucket, data.draw(st.integers(r.passes, r.rollouts)), r.rollouts, r.age) for r in step]
    worse_levels = levels(after([*history, step], controller(kind)))
    better_levels = levels(after([*history, better], controller(kind)))
    assert all(better_levels[f] >= worse_levels[f] - 1e-8 for f in LEVELS)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=EACH)
@given(crowded, st.data())
def test_the_order_inside_a_step_does_not_matter(kind: str, step: list[Result], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(step))
    one, other = (after([s, s], controller(kind)) for s in (step, shuffled))
    assert one.state_dict() == other.state_dict()


@given(kinds, histories, st.floats(0.01, 0.99), st.integers(1, 40), st.integers(0, 99), st.data())
def test_proposals_stay_within_the_bounds(
    kind: str, history: History, target: float, groups: int, seed: int, data: st.DataObject
) -> None:
    low = data.draw(st.integers(1, LEVELS["c"]))
    high = data.draw(st.integers(low, LEVELS["c"]))
    made = after(history, controller(kind, {"c": {"bounds": [low, high]}}, target=target))
    bounds = {"a": (1, 6), "b": (1, 1), "c": (low, high)}
    proposed = made.propose(groups, random.Random(seed))
    assert len(proposed) == groups
    assert all(bounds[b.family][0] <= b.level <= bounds[b.family][1] for b in proposed)
    assert all(bounds[f][0] <= level <= bounds[f][1] for f, level in levels(made).items())


@given(kinds, histories, st.sampled_from(BUCKETS), st.integers(0, 8))
def test_a_group_that_the_sandbox_lost_never_counts(kind: str, history: History, bucket: Bucket, age: int) -> None:
    lost = Result(bucket, 0, 0, age)
    one, other = (after([*history, step], controller(kind)) for step in ([lost], []))
    assert one.state_dict() == other.state_dict()


@given(kinds, histories, histories)
def test_a_saved_state_goes_on_exactly(kind: str, history: History, future: History) -> None:
    original, loaded = after(history, controller(kind)), controller(kind)
    loaded.load_state_dict(json.loads(json.dumps(original.state_dict())))
    assert loaded.metrics() == original.metrics()
    for number, step in enumerate([[], *future]):
        assert original.observe(step) == loaded.observe(step)
        assert original.propose(9, random.Random(number)) == loaded.propose(9, random.Random(number))
    assert original.state_dict() == loaded.state_dict()


@given(kinds, histories)
def test_a_saved_state_is_a_copy(kind: str, history: History) -> None:
    made = controller(kind)
    saved = made.state_dict()
    before = json.dumps(saved)
    after(history, made)
    assert json.dumps(saved) == before


@given(kinds, histories, steps)
def test_proposing_changes_nothing(kind: str, history: History, step: list[Result]) -> None:
    made, same = after(history, controller(kind)), after(history, controller(kind))
    made.propose(7, random.Random(0))
    assert after([step], made).state_dict() == after([step], same).state_dict()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("passes", [0, G])
def test_nothing_but_failures_or_passes_leaves_finite_numbers(kind: str, passes: int) -> None:
    made = controller(kind)
    for _ in range(500):
        made.observe([Result(b, passes, G) for b in made.propose(4, random.Random(0))])
    assert all(math.isfinite(x) for x in numbers(made.state_dict()))
    if kind in ("rasch", "integral", "staircase"):
        assert levels(made) == ({"a": 1.0, "b": 1.0, "c": 1.0} if passes == 0 else {"a": 6.0, "b": 1.0, "c": 12.0})


def numbers(state: Any) -> Iterable[float]:
    if isinstance(state, dict):
        state = state.values()
    elif isinstance(state, int | float):
        return [state]
    elif not isinstance(state, list):
        return []
    return [x for part in state for x in numbers(part)]


@given(kinds, histories, st.floats(0, 1 / 3))
def test_weights_add_to_one_and_respect_the_floor(kind: str, history: History, floor: float) -> None:
    """A whole controller shares the groups among families as it likes."""
    made = after(history, controller(kind, floor=floor))
    weights = {family: metrics.weight for family, metrics in made.metrics().items()}
    assert set(weights) == set(LEVELS)
    assert sum(weights.values()) == pytest.approx(1)
    assert min(weights.values()) >= 0
    # The baselines look at no signal, and give by size or alike.
    if kind in BY_FAMILY and kind not in ("uniform", "sequential"):
        assert min(weights.values()) >= floor - 1e-12


@given(kinds_by_family, histories, results().filter(lambda r: r.rollouts > 1))
def test_late_results_move_the_signal_less(kind: str, history: History, result: Result) -> None:
    family = result.bucket.family
    before = after(history, family_controller(kind)).mixture.signal[family]
    moved = [
        after([*history, [Result(result.bucket, result.passes, result.rollouts, age)]], family_controller(kind))
        for age in (0, 3, 9)
    ]
    fresh, late, latest = (abs(made.mixture.signal[family] - before) for made in moved)
    assert fresh >= late >= latest


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "change", [{"kind": "other"}, {"families": {}}, {"families": {f: {} for f in LEVELS}}, {"signal": {}}]
)
def test_a_state_that_does_not_fit_is_refused(kind: str, change: dict[str, Any]) -> None:
    made = controller(kind)
    with pytest.raises((ValueError, KeyError)):
        made.load_state_dict({**made.state_dict(), **change})


@pytest.mark.parametrize("kind", WHOLE)
def test_a_state_of_a_whole_controller_with_a_field_too_many_is_refused(kind: str) -> None:
    made = controller(kind)
    with pytest.raises(ValueError, match="more"):
        made.load_state_dict({**made.state_dict(), "more": 1})


@pytest.mark.parametrize("kind", BY_FAMILY)
def test_a_state_with_a_field_too_many_is_refused(kind: str) -> None:
    made = controller(kind)
    state = made.state_dict()
    state["families"]["a"]["state"]["more"] = 1
    with pytest.raises(ValueError, match="more"):
        made.load_state_dict(state)


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_of_another_ladder_is_refused(kind: str) -> None:
    shorter = controller(kind, {"a": {"bounds": [2, 6]}})
    with pytest.raises(ValueError, match=r"a has levels \[1, 6\], the saved one \[2, 6\]"):
        controller(kind).load_state_dict(shorter.state_dict())
