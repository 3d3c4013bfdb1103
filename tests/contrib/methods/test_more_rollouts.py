"""Pilots and refills: what is sampled beyond what was asked for is counted, and only where it is wanted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kolmocli.config import Config
from kolmocli.contrib.methods.pilot import Pilot
from kolmocli.contrib.methods.refill import Refill
from kolmocli.contrib.settings import PilotSettings, RefillSettings
from kolmocli.curriculum.base import Bucket
from kolmocli.engine.base import Experience, Group, Request
from kolmocli.engine.report import Cost
from kolmocli.policy.rollout import Rollout
from kolmocli.sandbox.base import Status
from kolmocli.tasks.base import Task
from kolmocli.tasks.outcome import Outcome
from tests.training.runs import metrics, run, small_config

ROLLOUT = Rollout((1,), (2,), (0.0,), (0,), "", True)


class World:
    """Every fourth task passes half the time, the others always; `sampled` are the requests."""

    def __init__(self) -> None:
        self.drawn, self.sampled = 0, list[Request]()

    def draw(self, count: int) -> list[Task]:
        self.drawn += count
        return [Task(prompt="?", bucket=Bucket("a", 1), index=i) for i in range(self.drawn - count, self.drawn)]

    def sample(self, request: Request) -> Experience:
        self.sampled.append(request)
        groups = [self.group(task, request.samples) for task in request.tasks]
        return Experience(groups, Cost(tokens=len(groups) * request.samples))

    @staticmethod
    def group(task: Task, samples: int) -> Group:
        passed = [task.index % 4 != 0 or i % 2 == 0 for i in range(samples)]
        return Group(task, [ROLLOUT] * samples, [Outcome("", 1, p, Status.OK, float(p), True) for p in passed])


def test_a_pilot_goes_on_with_what_passed_and_failed() -> None:
    world = World()
    pilot = Pilot(PilotSettings(draws=4, rollouts=2), world.sample, lambda step: step)
    tasks = pilot.tasks(7, 4, world.draw)
    assert [task.index for task in tasks] == [0, 4, 8, 12]
    (request,) = world.sampled
    assert (len(request.tasks), request.samples, request.seed) == (16, 2, 7)
    found = pilot.supplement(7, Experience([world.group(task, 8) for task in tasks], Cost(tokens=32)))
    assert [len(group.rollouts) for group in found.groups] == [8] * 4 + [2] * 16
    assert found.cost.tokens == 32 + 32


def test_where_pilots_do_not_suffice_others_take_the_places() -> None:
    world = World()
    pilot = Pilot(PilotSettings(draws=2), world.sample, lambda step: step)
    assert [task.index for task in pilot.tasks(1, 4, world.draw)] == [0, 4, 1, 2]


def test_pilots_of_every_family_are_gone_on_with() -> None:
    world = World()
    pilot = Pilot(PilotSettings(draws=8), world.sample, lambda step: step)
    assert [task.index for task in pilot.tasks(1, 2, world.draw)] == [0, 8]


@pytest.mark.parametrize(("most", "rounds", "groups"), [(1.5, [2], 6), (3.0, [3, 2, 1, 1, 1], 12)])
def test_a_refill_ends_with_enough_or_with_what_may_be_spent(most: float, rounds: list[int], groups: int) -> None:
    world = World()
    refill = Refill(RefillSettings(most=most), 8, world.sample, lambda step, again: 10 * step + again)
    tasks = refill.tasks(3, 4, world.draw)
    found = refill.supplement(3, Experience([world.group(task, 8) for task in tasks], Cost()))
    assert [len(request.tasks) for request in world.sampled] == rounds
    assert [request.seed for request in world.sampled] == [31 + i for i in range(len(rounds))]
    assert len(found.groups) == groups


@pytest.mark.parametrize("changes", [{"pilot": {"draws": 3}}, {"refill": {"most": 3}}])
def test_a_run_counts_all_rollouts(
    changes: dict[str, dict[str, int]], taught: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    config: Config = small_config(training={"steps": 4}, methods=changes, **taught)
    run(config, tmp_path / "run")
    steps = [r for r in metrics(tmp_path / "run") if r["phase"] == "rl"]
    assert sum(r["rollouts"] for r in steps) > 4 * config.training.batch_size
    assert all(sum(b["n"] for b in r["buckets"].values()) == r["rollouts"] for r in steps)
