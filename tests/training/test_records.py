"""What a step writes down, from groups made by hand."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from kolmocli.contrib.methods.shaping import Shaping
from kolmocli.curriculum.base import Bucket, FamilyMetrics
from kolmocli.engine.base import Group
from kolmocli.language.coder import literal_bits
from kolmocli.learning.batches import Batch
from kolmocli.monitor.records import ReinforceRecord
from kolmocli.policy.rollout import Rollout
from kolmocli.sandbox.base import Status
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sequences.task import sequence_task
from kolmocli.training.records import step_record, worth
from kolmocli.training.weigh import GroupBaseline, Weigh

TASK = sequence_task(Bucket("a", 2), 0, (1, 2, 3, 4))
LITERAL = literal_bits(TASK.target)
FAMILIES = {"a": FamilyMetrics(2.0, 6, 0.7, "tracking"), "b": FamilyMetrics(1.0, 6, 0.3, "tracking")}
ROLLOUT = Rollout((1,), (2, 3), (0.0, 0.0), (0, 1), "", True)


def passed(bits: int = 10, reward: float = 1.0) -> Outcome:
    return Outcome("", 1, True, Status.OK, reward, True, bits=bits, literal_bits=LITERAL)


def failed() -> Outcome:
    return Outcome("", 2, False, Status.RUNTIME, 0.0, literal_bits=LITERAL)


def lost() -> Outcome:
    return Outcome("", 2, False, Status.INFRA, None)


def group(*outcomes: Outcome) -> Group:
    return Group(TASK, [ROLLOUT] * len(outcomes), outcomes)


MIXED = group(passed(10), failed(), lost(), passed(20))
DEAD = group(failed(), failed())


def weighed(*groups: Group, group_size: int = 8, shaping: float = 0.0, kind: str = "rloo") -> Batch:
    shaped = Shaping(shaping, 1.0) if shaping else None
    return Weigh(GroupBaseline(kind, 1.0), group_size, random.Random, shaped)(1, groups)


def recorded(*groups: Group) -> ReinforceRecord:
    return step_record(groups, FAMILIES, weighed(*groups))


def test_what_the_sandbox_lost_is_counted_and_left_out() -> None:
    record = recorded(MIXED, DEAD)
    assert (record.rollouts, record.infra, record.pass_rate, record.reward) == (5, 1, 0.4, 0.4)
    assert MIXED.result().rollouts == 3


def test_what_ran_out_of_tokens_is_counted_lost_or_not() -> None:
    assert recorded(group(replace(failed(), cut_off=True), passed(), replace(lost(), cut_off=True))).cut_off == 2


def test_dead_groups_are_told_apart() -> None:
    record = recorded(MIXED, DEAD, group(passed(), passed()))
    assert (record.dead_groups, record.dead_fail, record.dead_pass) == (2, 1, 1)


def test_failures_are_stored_as_literals() -> None:
    record = recorded(MIXED)
    assert record.compression_rate == pytest.approx((10 + 20 + LITERAL) / (3 * LITERAL))


def test_every_family_has_an_entry_sampled_or_not() -> None:
    buckets = recorded(MIXED).buckets
    assert buckets is not None
    assert list(buckets) == ["a", "b"]
    assert (buckets["a"].n, buckets["a"].shortest, buckets["a"].level) == (3, 10, 2.0)
    assert (buckets["b"].n, buckets["b"].pass_rate, buckets["b"].ci) == (0, None, None)


def test_a_step_that_lost_everything_has_no_rates() -> None:
    record = recorded(group(lost(), lost()))
    assert (record.rollouts, record.pass_rate, record.reward, record.infra) == (0, None, None, 2)


# --- what of it is learnt


def test_dead_groups_and_lost_rollouts_are_not_learnt_from() -> None:
    assert [len(part) for part in weighed(MIXED, DEAD).groups] == [3, 0]
    assert len(weighed(DEAD, group(lost(), passed()))) == 0


def test_what_is_dead_is_what_was_left_out() -> None:
    """Whatever the baseline: without one a group that all passed teaches, and shaping tells failures apart."""
    alike, half = group(passed(), passed()), group(replace(failed(), trace=((1, 2), (9,)), ends=(1, 2)), failed())
    for batch, dead in (
        (weighed(alike, half), 2),
        (weighed(alike, half, kind="none"), 1),
        (weighed(alike, half, shaping=0.5), 1),
    ):
        record = step_record([alike, half], FAMILIES, batch)
        assert (record.dead_groups, len([part for part in batch.groups if not part])) == (dead, dead)


def test_weights_are_advantages_up_to_the_end_of_the_episode() -> None:
    assert [w.weights for w in weighed(MIXED)] == [[0.5, 0.0], [-1.0, -1.0], [0.5, 0.0]]


def test_the_running_mean_is_that_of_earlier_steps() -> None:
    baseline, groups = GroupBaseline("ema", 1.0), [group(passed(), passed())]
    for expected, mean in ((1.0, 0.1), (0.9, 0.19)):
        (first, *_) = Weigh(baseline, 8)(1, groups)
        assert first.weights[0] == pytest.approx(expected)
        baseline.observe(groups)
        assert baseline.state_dict() == {"mean": pytest.approx(mean)}
    again = GroupBaseline("ema", 1.0)
    again.load_state_dict(baseline.state_dict())
    assert next(iter(Weigh(again, 8)(1, groups))).weights[0] == pytest.approx(0.81)


def test_a_failure_that_costs_something_is_where_maxrl_counts_from() -> None:
    """+1 and -1 have a mean of 0 where half pass; what is above a failure has not."""
    binary = group(*[replace(o, reward=1.0 if o.passed else -1.0) for o in (passed(), failed(), failed(), passed())])
    (part,) = Weigh(GroupBaseline("maxrl", 1.0, failure=-1.0), 8)(1, [binary]).groups
    assert [w.weights[0] for w in part] == [1.0, -1.0, -1.0, 1.0]


def test_of_more_rollouts_than_are_learnt_from_some_stand_for_all() -> None:
    many = group(*[passed()] * 4, *[failed()] * 12)
    batch = weighed(many)
    assert len(batch) == 8
    assert sorted(w.weights[0] for w in batch) == pytest.approx([-0.8 / 3 * 1.5] * 4 + [0.8 * 0.5] * 4)
    assert step_record([many], FAMILIES, batch).rollouts == 16


def test_shaping_blames_a_failure_on_the_lines_after_what_was_explained() -> None:
    half = replace(failed(), trace=((1, 2), (9,)), ends=(1, 2))
    assert [w.weights for w in weighed(group(half, failed()), shaping=0.5)] == [
        [0.0, pytest.approx(-0.25)],
        [0.0, pytest.approx(0.25)],
    ]
    assert len(weighed(group(half, failed()))) == 0


def test_the_best_program_saves_the_most_and_without_a_literal_solves_the_hardest() -> None:
    def without_literal(level: int, passes: int) -> Group:
        found = [replace(passed(), literal_bits=None)] * passes
        return Group(replace(TASK, bucket=Bucket("a", level)), [ROLLOUT] * 4, [*found, *[failed()] * (4 - passes)])

    order = [
        worth(rolled, rolled.outcomes[0])
        for rolled in (without_literal(1, 4), without_literal(1, 1), without_literal(3, 2), group(passed(20)), MIXED)
    ]
    assert None not in order
    assert sorted(order) == order  # type: ignore[type-var]
    assert len(set(order)) == len(order)
    assert worth(DEAD, failed()) is None
    assert worth(group(lost()), lost()) is None
