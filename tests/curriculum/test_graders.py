"""A broken grader is not a hard task: what is said of a bucket, and what the guard does about it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from statistics import fmean

import pytest
from hypothesis import given, strategies as st

from kolmocli.curriculum.base import Bucket, Ladder, Result
from kolmocli.curriculum.build import controller
from kolmocli.curriculum.graders import Graders
from kolmocli.curriculum.guard import Guard
from kolmocli.curriculum.simulator.loop import Trace, simulate
from kolmocli.curriculum.simulator.players import maker
from kolmocli.curriculum.simulator.scenarios import FAMILY, LEVELS, ODD, SCENARIOS, STEPS
from kolmocli.errors import UsageError
from tests.curriculum.controllers import KINDS

SEEDS = 2
SHARE = 0.1
WORTH_CLOSING = ("rasch", "integral", "staircase")
"""Kinds that hold a level, and so are held back by a broken one."""


@cache
def traces(kind: str, scenario: str, guard: float = SHARE) -> list[Trace]:
    return [simulate(maker(kind, guard=guard), SCENARIOS[scenario], lag=0, seed=seed) for seed in range(SEEDS)]


def ability(kind: str, scenario: str, guard: float = SHARE, family: str = FAMILY) -> float:
    """Of the healthy family at the end, over the seeds: what decides how often each healthy bucket passes."""
    return fmean(trace.abilities[family] for trace in traces(kind, scenario, guard))


# --- in the simulator


@pytest.mark.parametrize("kind", KINDS)
def test_healthy_buckets_end_where_they_would_have_been_without_the_broken_one(kind: str) -> None:
    """No pass rate of a healthy bucket is off by more than 0.1: a quarter of 0.4 logits. `sequential`, which goes by the clock,
    gives the broken level its turn before it can know, and what that turn would have taught is lost."""
    turn = 0.03 * STEPS / LEVELS if kind == "sequential" else 0.0
    assert ability(kind, "broken") > ability(kind, "base") - 0.4 - turn


@pytest.mark.parametrize("kind", WORTH_CLOSING)
def test_without_the_guard_they_stay_below_the_broken_one(kind: str) -> None:
    assert ability(kind, "broken", 0.0) < ability(kind, "base") - 3.0


@pytest.mark.parametrize("kind", KINDS)
def test_a_broken_family_holds_no_other_back(kind: str) -> None:
    assert ability(kind, "broken-family") > ability(kind, "base") - 0.4


@pytest.mark.parametrize("kind", WORTH_CLOSING)
def test_a_wrong_key_teaches_less_where_it_is_steered_past(kind: str) -> None:
    start = SCENARIOS["wrong-key"].start
    assert ability(kind, "wrong-key") - start > 1.5 * (ability(kind, "wrong-key", 0.0) - start)


@pytest.mark.parametrize("kind", WORTH_CLOSING)
def test_a_form_that_is_still_to_be_learnt_is_learnt(kind: str) -> None:
    """No harder level passes before: the guard may not take the bucket away that teaches the form."""
    assert ability(kind, "form") > ability(kind, "form", 0.0) - 0.2


@pytest.mark.parametrize("scenario", ["base", "noisy", "steep", "missing", "non-monotone"])
def test_no_healthy_bucket_is_closed(scenario: str) -> None:
    said: list[str] = []
    for seed in range(SEEDS):
        simulate(listening(maker("rasch", guard=SHARE), said), SCENARIOS[scenario], lag=0, seed=seed)
    assert [text for text in said if "steered" in text] == []


def listening(make: Callable, said: list[str]) -> Callable:
    def made(learner: object) -> Guard:
        guard = make(learner)
        observe = guard.observe
        guard.observe = lambda results: said.extend(observe(results)) or []
        return guard

    return made


def test_a_repaired_grader_is_noticed_and_sampled_again() -> None:
    said: list[str] = []
    simulate(listening(maker("rasch", guard=0.5), said), SCENARIOS["repaired"], lag=0, seed=0)
    news = [text for text in said if text.startswith(f"{FAMILY}/{ODD}: ")]
    assert news == [f"{FAMILY}/{ODD}: steered past", f"{FAMILY}/{ODD}: passes again, and is sampled as before"]


@given(st.permutations([Result(Bucket("a", 1), k, 8) for k in (0, 0, 0, 8, 8)]))
def test_the_order_inside_a_step_decides_nothing(step: list[Result]) -> None:
    """Of five groups at once, which are the latest three?"""
    graders = Graders()
    seen(graders, 2, 6, groups=8)
    seen(graders, 1, 0, groups=8)
    assert graders.suspected[Bucket("a", 1)].why == "broken"
    graders.observe(step)
    assert not graders.suspected


def test_without_a_suspicion_the_guard_changes_nothing() -> None:
    plain, guarded = (controller("rasch", {"a": 6}, guard=share) for share in (0.0, 1.0))
    luck = random.Random(2)
    for step in range(60):
        buckets = [made.propose(4, random.Random(step)) for made in (plain, guarded)]
        assert buckets[0] == buckets[1]
        results = [Result(bucket, max(1, 8 - bucket.level - luck.randint(0, 2)), 8) for bucket in buckets[0]]
        for made in (plain, guarded):
            made.observe(results)


# --- the evidence


def seen(graders: Graders, level: int, passes: int, groups: int = 1, unread: int = 0) -> None:
    for _ in range(groups):
        graders.observe([Result(Bucket("a", level), passes, 8, unread=unread)])


def test_a_level_below_a_harder_one_that_passes_is_broken() -> None:
    graders = Graders()
    for _ in range(8):
        graders.observe([Result(Bucket("a", 3), 4, 8), Result(Bucket("a", 2), 0, 8), Result(Bucket("a", 1), 7, 8)])
    assert {str(b): s.why for b, s in graders.suspected.items()} == {"a/2": "broken"}
    said = str(graders.suspected[Bucket("a", 2)])
    assert said.startswith("0 of ")
    assert said.endswith(" pass but level 3 passes 50%, broken grader?")


def test_a_level_that_failed_before_a_harder_one_passed_was_hard() -> None:
    graders = Graders()
    seen(graders, 2, passes=0, groups=10)
    seen(graders, 3, passes=6, groups=10)
    assert graders.suspected == {}


def test_hard_levels_all_the_way_up_are_only_hard() -> None:
    graders = Graders()
    for _ in range(20):
        graders.observe([Result(Bucket("a", level), passes, 8) for level, passes in ((1, 4), (2, 0), (3, 0))])
    assert graders.suspected == {}


def test_answers_that_never_reach_the_check_are_unread_until_they_do() -> None:
    graders = Graders()
    seen(graders, 1, passes=0, groups=3, unread=8)
    assert graders.suspected == {}, "three groups are too few"
    seen(graders, 1, passes=0, unread=8)
    assert graders.suspected[Bucket("a", 1)].why == "unread"
    seen(graders, 1, passes=0, groups=2, unread=0)
    assert graders.suspected[Bucket("a", 1)].why == "unread", "two groups are too few"
    seen(graders, 1, passes=0, unread=0)
    assert graders.suspected == {}


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 8)), max_size=60), st.integers(0, 60))
def test_what_is_saved_goes_on_alike(groups: list[tuple[int, int]], cut: int) -> None:
    whole, parted = Graders(), Graders()
    for number, (level, passes) in enumerate(groups):
        if number == cut:
            state, parted = json.loads(json.dumps(parted.state_dict())), Graders()
            parted.load_state_dict(state)
        seen(whole, level, passes)
        seen(parted, level, passes)
    assert whole.state_dict() == parted.state_dict()


# --- the guard as a controller


@pytest.mark.parametrize("kind", KINDS)
def test_a_guarded_controller_takes_up_its_state(kind: str) -> None:
    def made() -> Guard:
        settings = {"steps": 100} if kind == "sequential" else {}
        guard = controller(kind, {"a": Ladder(6)}, guard=0.3, **settings)
        assert isinstance(guard, Guard)
        return guard

    first, second, luck = made(), made(), random.Random(5)
    for _ in range(40):
        buckets = {Bucket("a", level) for level in range(1, 7)}
        first.observe([Result(b, 0 if b.level == 3 else luck.randint(3, 8), 8) for b in sorted(buckets)])
    assert Bucket("a", 3) in first.graders.suspected
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    proposals = [guard.propose(50, random.Random(1)) for guard in (first, second)]
    assert proposals[0] == proposals[1]
    assert second.state_dict() == first.state_dict()


def test_a_closed_bucket_keeps_a_small_share() -> None:
    guard = controller("uniform", {"a": Ladder(4)}, guard=0.5)
    for _ in range(20):
        guard.observe([Result(Bucket("a", level), 0 if level == 2 else 4, 8) for level in range(1, 5)])
    drawn = [b.level for b in guard.propose(4000, random.Random(0))]
    assert 0.02 < drawn.count(2) / len(drawn) < 0.1


def test_a_share_outside_0_to_1_is_refused() -> None:
    with pytest.raises(UsageError, match=r"guard is a share, from 0 to 1, got 1\.5"):
        controller("rasch", {"a": 4}, guard=1.5)
