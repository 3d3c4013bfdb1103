"""Methods together: each sees the tasks that the ones before it chose, and what is off does nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kolmocli.curriculum.base import Bucket
from kolmocli.engine.base import Group
from kolmocli.engine.report import Cost
from kolmocli.learning.batches import Weighted
from kolmocli.monitor.records import ReinforceRecord
from kolmocli.policy.rollout import Rollout
from kolmocli.tasks.base import Task
from kolmocli.training.methods.base import Draw, Method, Methods

ROLLOUT = Rollout((1,), (2,), (0.0,), (0,), "", True)


def tasks(count: int) -> list[Task]:
    return [Task(prompt=f"task {i}", bucket=Bucket("a", 1), index=i) for i in range(count)]


class Own(Method):
    """Puts tasks of its own in the place of some, and remembers what it saw."""

    def __init__(self, mine: int) -> None:
        self.mine, self.seen = mine, 0

    def tasks(self, step: int, count: int, draw: Draw) -> list[Task]:
        own = [Task(prompt=f"own {step}", index=-1)] * self.mine
        return [*draw(count - self.mine), *own]

    def lessons(self, step: int, groups: Sequence[Group]) -> list[Weighted]:
        return [Weighted(ROLLOUT, [float(self.mine)])]

    def observe(self, groups: Sequence[Group]) -> None:
        self.seen += len(groups)

    def cost(self) -> Cost:
        return Cost(self.mine, 0.5, 0.25)

    def metrics(self, record: ReinforceRecord, groups: Sequence[Group]) -> ReinforceRecord:
        return ReinforceRecord(step=record.step + self.mine)

    def state_dict(self) -> dict[str, Any]:
        return {"seen": self.seen}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.seen = state["seen"]


def test_none_of_them_changes_nothing() -> None:
    for none in (Methods({}), Methods({"plain": Method()})):
        assert none.tasks(1, 3, tasks) == tasks(3)
        assert (none.lessons(1, []), none.cost()) == ([], Cost())
        assert none.metrics(ReinforceRecord(step=3), []) == ReinforceRecord(step=3)


def test_each_adds_its_own() -> None:
    both = Methods({"one": Own(1), "two": Own(2)})
    assert [task.index for task in both.tasks(4, 5, tasks)] == [0, 1, -1, -1, -1]
    assert [lesson.weights for lesson in both.lessons(4, [])] == [[1.0], [2.0]]
    assert both.cost() == Cost(3, 1.0, 0.5)
    assert both.metrics(ReinforceRecord(step=10), []).step == 13


def test_the_state_of_each_has_its_name() -> None:
    both, again = Methods({"one": Own(1), "two": Own(2)}), Methods({"one": Own(1), "two": Own(2)})
    both.observe([Group(tasks(1)[0], [], [])])
    assert both.state_dict() == {"one": {"seen": 1}, "two": {"seen": 1}}
    again.load_state_dict(both.state_dict())
    assert again.state_dict() == both.state_dict()
    with pytest.raises(KeyError, match="two"):
        again.load_state_dict({"one": {"seen": 1}})
