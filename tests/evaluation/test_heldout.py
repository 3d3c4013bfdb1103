"""Held-out tasks, and what a policy makes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from kolmocli.config import Config
from kolmocli.config.file import load_config
from kolmocli.engine.judging import open_judge
from kolmocli.engine.local import LocalEngine
from kolmocli.evaluation.heldout import attempt, held_out_tasks
from kolmocli.pace import Reached
from kolmocli.paths import find_curriculum
from kolmocli.tasks.base import Task
from kolmocli.tasks.family import open_families
from tests.policies import taught

CONFIG: Config = load_config(find_curriculum("quickstart"), {"training.max_new_tokens": 16, "sandbox.workers": 1})
SOURCE = open_families(CONFIG.families, "eval", 0)


@pytest.fixture(scope="module")
def engine() -> Iterator[LocalEngine]:
    judge = open_judge(CONFIG.reward, CONFIG.training.max_lines, CONFIG.sandbox, "embedded", print)
    made = LocalEngine(taught(), judge, CONFIG.training.max_new_tokens)
    yield made
    made.close()


def texts(attempts: list[tuple[Task, Any]]) -> list[str]:
    return [o.text for _, outcomes in attempts for o in outcomes]


def test_tasks_are_spread_evenly_over_the_buckets() -> None:
    buckets = len(SOURCE.buckets())
    tasks = held_out_tasks(SOURCE, 2 * buckets + 1)
    assert set(Counter(t.bucket for t in tasks).values()) == {3}
    assert len({(t.bucket, t.index) for t in tasks}) == len(tasks)


def test_more_tasks_are_the_same_ones_and_others() -> None:
    few = held_out_tasks(SOURCE, 60)
    assert held_out_tasks(SOURCE, 100)[: len(few)] == few


def test_outcomes_come_back_in_the_order_of_the_tasks(engine: LocalEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kolmocli.evaluation.heldout._CHUNK", 5)
    tasks = held_out_tasks(SOURCE, 22)
    together = attempt(engine, tasks)
    assert [task for task, _ in together] == tasks
    backwards = attempt(engine, tasks[::-1])
    assert together == backwards[::-1]


def test_samples_of_a_task_are_drawn_from_the_seed(engine: LocalEngine) -> None:
    tasks = held_out_tasks(SOURCE, 1)[:3]
    first, again, other = (attempt(engine, tasks, samples=4, seed=seed) for seed in (1, 1, 2))
    assert all(len(outcomes) == 4 for _, outcomes in first)
    assert texts(first) == texts(again) != texts(other)


def test_it_counts_its_rollouts_through_all_chunks(engine: LocalEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kolmocli.evaluation.heldout._CHUNK", 4)
    seen: list[Reached] = []

    def look() -> None:
        assert engine.pace.reached is not None
        seen.append(engine.pace.reached)

    monkeypatch.setattr(engine.pace, "listener", look)
    attempt(engine, held_out_tasks(SOURCE, 1)[:10], samples=2, seed=0)
    assert {at.of for at in seen} == {20}
    assert sorted({at.done for at in seen}) == list(range(21))
