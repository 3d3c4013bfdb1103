"""Screening: what is asked is what is expected to tell the most, and what was expected is compared with what came."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from kolmocli.contrib.methods.screening import Screening
from kolmocli.contrib.settings import ScreeningSettings as Settings
from kolmocli.curriculum.base import Bucket
from kolmocli.engine.base import Group
from kolmocli.errors import UsageError
from kolmocli.monitor.records import ReinforceRecord
from kolmocli.policy.loading import load_policy
from kolmocli.policy.policy import Policy
from kolmocli.policy.rollout import Rollout
from kolmocli.sandbox.base import Status
from kolmocli.tasks.base import Task, TaskSource
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sources import silent, training_source
from tests.training.runs import small_config

ROLLOUT = Rollout((1,), (2,), (0.0,), (0,), "", True)
COUNT, SAMPLES = 8, 4


@pytest.fixture(scope="module")
def policy() -> Policy:
    return load_policy("tiny", device="cpu", seed=0, alphabet="programs")


@pytest.fixture(scope="module")
def source() -> TaskSource:
    return training_source(small_config(), silent)


class World:
    """Draws tasks of both levels, and lets those of the second one pass half the time and the others always."""

    def __init__(self, source: TaskSource, screening: Screening) -> None:
        self.source, self.screening, self.drawn = source, screening, 0

    def draw(self, count: int) -> list[Task]:
        self.drawn += count
        return [self.source.task(Bucket("runs", 1 + i % 2), self.drawn + i // 2) for i in range(count)]

    def step(self, number: int) -> list[Task]:
        tasks = self.screening.tasks(number, COUNT, self.draw)
        groups = [came(task, SAMPLES if task.bucket.level == 1 else SAMPLES // 2) for task in tasks]
        self.screening.lessons(number, groups)
        self.screening.observe(groups)
        return tasks


def came(task: Task, passes: int) -> Group:
    outcomes = [Outcome("", 1, i < passes, Status.OK, float(i < passes), True) for i in range(SAMPLES)]
    return Group(task, [ROLLOUT] * SAMPLES, outcomes)


def world(source: TaskSource, policy: Policy, draws: int = 4, probes: float = 0.0, visits: int = 1) -> World:
    return World(source, Screening(Settings(draws=draws, probes=probes, visits=visits), source, policy, random.Random))


def levels(tasks: Sequence[Task]) -> list[int]:
    return [task.bucket.level for task in tasks]


def test_it_learns_which_tasks_tell_something(source: TaskSource, policy: Policy) -> None:
    made = world(source, policy)
    asked = [levels(made.step(number)) for number in range(1, 8)]
    assert asked[:3] == [[1, 2] * (COUNT // 2)] * 3, "nothing is chosen before anything was learnt"
    assert asked[3:] == [[2] * COUNT] * 4


def test_probes_are_asked_as_drawn(source: TaskSource, policy: Policy) -> None:
    made = world(source, policy, probes=1.0)
    assert all(levels(made.step(number)) == [1, 2] * (COUNT // 2) for number in range(1, 8))


def test_what_said_something_is_asked_again_and_not_for_ever(source: TaskSource, policy: Policy) -> None:
    made = world(source, policy, draws=2, visits=3)
    asked = [(task.bucket, task.index) for number in range(1, 20) for task in made.step(number)]
    often = [asked.count(one) for one in set(asked)]
    assert max(often) == 3
    assert all(asked.count(one) == 1 for one in set(asked) if one[0].level == 1), "what always passes is not"
    never = world(source, policy, draws=2, visits=1)
    assert len({(t.bucket, t.index) for n in range(1, 20) for t in never.step(n)}) == 19 * COUNT


def test_the_record_compares_what_was_expected_with_what_came(source: TaskSource, policy: Policy) -> None:
    made = world(source, policy, probes=0.3, visits=2)
    for number in range(1, 12):
        made.step(number)
    record = made.screening.metrics(ReinforceRecord(step=1), []).screening
    assert record is not None
    half = 2 * 2 / (4 * 3)
    assert record.signal == pytest.approx(half)
    assert record.expected == pytest.approx(half, abs=0.05)
    assert record.probes_expected is not None
    assert record.again is not None
    assert made.screening.cost().read > 0


def test_a_saved_state_goes_on_alike(source: TaskSource, policy: Policy) -> None:
    made, other = (world(source, policy, visits=3) for _ in range(2))
    for number in range(1, 6):
        made.step(number)
    other.screening.load_state_dict(made.screening.state_dict())
    other.drawn = made.drawn
    for number in range(6, 9):
        assert made.step(number) == other.step(number)


def test_groups_of_others_are_left_alone(source: TaskSource, policy: Policy) -> None:
    made = world(source, policy)
    made.screening.observe([came(Task(prompt="?", bucket=Bucket("self-play", 1), index=3), 2)])
    record = made.screening.metrics(ReinforceRecord(step=1), []).screening
    assert record is not None
    assert record.signal is record.again is None


def test_a_model_without_hidden_states_is_refused(source: TaskSource) -> None:
    class Opaque:
        model = object()

    with pytest.raises(UsageError, match=r"methods\.screening: needs the hidden states of the model"):
        Screening(Settings(draws=2), source, Opaque(), random.Random)  # type: ignore[arg-type]
