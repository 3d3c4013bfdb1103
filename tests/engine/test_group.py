"""A group as the controller hears of it."""

from __future__ import annotations

from kolmocli.curriculum.base import Bucket, Result
from kolmocli.engine.base import Group
from kolmocli.policy.rollout import Rollout
from kolmocli.sandbox.base import Status
from kolmocli.tasks.answers.digits import sum_digits
from kolmocli.tasks.outcome import Outcome


def outcome(passed: bool, status: Status, reward: float | None, formatted: bool = True) -> Outcome:
    return Outcome("", 1, passed, status, reward, formatted)


def test_what_was_lost_counts_nowhere_and_what_was_not_read_counts_apart() -> None:
    outcomes = [
        outcome(True, Status.OK, 1.0),
        outcome(False, Status.OK, -1.0),
        outcome(False, Status.SYNTAX, -1.0, formatted=False),
        outcome(False, Status.TLE_CPU, -1.0),
        outcome(False, Status.INFRA, None),
    ]
    task = sum_digits([5])
    group = Group(task, [Rollout((), (), (), (), "", True)] * len(outcomes), outcomes, age=2)
    assert group.result() == Result(Bucket(task.bucket.family, task.bucket.level), 1, 4, 2, 2)
