"""What a step writes down, from groups made by hand."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from kolmocli.config import Config
from kolmocli.curriculum.base import Bucket, FamilyMetrics
from kolmocli.engine.base import Group
from kolmocli.language.coder import literal_bits
from kolmocli.learning.learner import Weighted
from kolmocli.policy.rollout import Rollout
from kolmocli.sandbox.base import Status
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sequences.task import sequence_task
from kolmocli.training.loop import weigh
from kolmocli.training.records import step_record
from kolmocli.training.state import RunState

TASK = sequence_task(Bucket("a", 2), 0, (1, 2, 3, 4))
LITERAL = literal_bits(TASK.target)
FAMILIES = {"a": FamilyMetrics(2.0, 6, 0.7, "tracking"), "b": FamilyMetrics(1.0, 6, 0.3, "tracking")}
ROLLOUT = Rollout((1,), (2, 3), (0.0, 0.0), (0, 1), "", True)


def passed(bits: int = 10, reward: float = 1.0) -> Outcome:
    return Outcome("", 1, True, Status.OK, reward, True, bits=bits, literal_bits=LITERAL)


def failed() -> Outcome:
    return Outcome("", 2, False, Status.RUNTIME, 0.0, literal_bits=LITERAL)


def lost() -> Outcome:
    return Outcome("", 2, False, Status.INFRA, None, literal_bits=LITERAL)


def group(*outcomes: Outcome) -> Group:
    return Group(TASK, [ROLLOUT] * len(outcomes), outcomes)


MIXED = group(passed(10), failed(), lost(), passed(20))
DEAD = group(failed(), failed())


def test_what_the_sandbox_lost_is_counted_and_left_out() -> None:
    record = step_record([MIXED, DEAD], FAMILIES)
    assert (record["rollouts"], record["infra"], record["pass_rate"], record["reward"]) == (5, 1, 0.4, 0.4)
    assert MIXED.result().rollouts == 3


def test_dead_groups_are_told_apart() -> None:
    record = step_record([MIXED, DEAD, group(passed(), passed())], FAMILIES)
    assert (record["dead_groups"], record["dead_fail"], record["dead_pass"]) == (2, 1, 1)


def test_failures_are_stored_as_literals() -> None:
    record = step_record([MIXED], FAMILIES)
    assert record["compression_rate"] == pytest.approx((10 + 20 + LITERAL) / (3 * LITERAL))


def test_every_family_has_an_entry_sampled_or_not() -> None:
    buckets = step_record([MIXED], FAMILIES)["buckets"]
    assert list(buckets) == ["a", "b"]
    assert (buckets["a"]["n"], buckets["a"]["shortest"], buckets["a"]["level"]) == (3, 10, 2.0)
    assert (buckets["b"]["n"], buckets["b"]["pass_rate"], buckets["b"]["ci"]) == (0, None, None)


def test_a_step_that_lost_everything_has_no_rates() -> None:
    record = step_record([group(lost(), lost())], FAMILIES)
    assert (record["rollouts"], record["pass_rate"], record["reward"], record["infra"]) == (0, None, None, 2)


# --- what of it is learnt


class Sitting:
    """What `weigh` reads of a session."""

    def __init__(self, **training: Any) -> None:
        self.config = Config.model_validate({"families": {"a": {"levels": [{}]}}, "training": training})
        self.state = RunState()

    def rng(self, purpose: str, step: int) -> random.Random:
        return random.Random(f"{purpose}/{step}")


def weighed(*groups: Group, **training: Any) -> list[Weighted]:
    return weigh(Sitting(**training), list(groups))  # type: ignore[arg-type]


def test_dead_groups_and_lost_rollouts_are_not_learnt_from() -> None:
    assert len(weighed(MIXED, DEAD)) == 3
    assert weighed(DEAD, group(lost(), passed())) == []


def test_weights_are_advantages_up_to_the_end_of_the_episode() -> None:
    assert [w.weights for w in weighed(MIXED)] == [[0.5, 0.0], [-1.0, -1.0], [0.5, 0.0]]


def test_the_running_mean_is_that_of_earlier_steps() -> None:
    sitting = Sitting(baseline="ema")
    for expected, mean in ((1.0, 0.1), (0.9, 0.19)):
        (batch, *_) = weigh(sitting, [group(passed(), passed())])  # type: ignore[arg-type]
        assert batch.weights[0] == pytest.approx(expected)
        assert sitting.state.baseline == pytest.approx(mean)


def test_of_more_rollouts_than_are_learnt_from_some_stand_for_all() -> None:
    many = group(*[passed()] * 4, *[failed()] * 12)
    batch = weighed(many, group_size=8, batch_size=8, best_of=2)
    assert len(batch) == 8
    assert sorted(w.weights[0] for w in batch) == pytest.approx([-0.8 / 3 * 1.5] * 4 + [0.8 * 0.5] * 4)
    assert step_record([many], FAMILIES)["rollouts"] == 16


def test_shaping_blames_a_failure_on_the_lines_after_what_was_explained() -> None:
    half = replace(failed(), trace=((1, 2), (9,)), ends=(1, 2))
    assert [w.weights for w in weighed(group(half, failed()), shaping=0.5)] == [
        [0.0, pytest.approx(-0.25)],
        [0.0, pytest.approx(0.25)],
    ]
    assert weighed(group(half, failed())) == []


def test_hints_are_shown_where_there_are_any() -> None:
    families = {"a": replace(FAMILIES["a"], hint=0.25), "b": FAMILIES["b"]}
    buckets = step_record([MIXED], families)["buckets"]
    assert (buckets["a"]["hint"], "hint" in buckets["b"]) == (0.25, False)
