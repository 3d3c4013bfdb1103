"""A taskset of verifiers: the tasks of a curriculum, judged by their families."""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from kolmocli.integrations.course import Course

pytestmark = pytest.mark.verifiers


def taskset(curriculum: str, **settings: Any) -> Any:
    from kolmocli.integrations.verifiers import KolmoTaskset, KolmoTasksetConfig

    return KolmoTaskset(KolmoTasksetConfig(task={"curriculum": curriculum, "sandbox": "embedded"}, **settings))


def course(tasks: Any) -> Course:
    from kolmocli.integrations.verifiers import course_of

    return course_of(tasks.config.task)


def scored(task: Any, reply: str) -> Any:
    """The trace of a rollout that ended with this reply, scored by the task."""
    import verifiers.v1 as vf

    answer = vf.MessageNode(message=vf.AssistantMessage(content=reply), sampled=True)
    named = vf.TraceTask(type=type(task).__name__, data=task.data, key=task.key, hash=task.hash)
    trace = vf.Trace(task=named, agent=vf.AgentInfo(config=vf.AgentConfig()), nodes=[answer])
    asyncio.run(task.score(trace))
    return trace


def reference(tasks: Any, task: Any) -> str:
    from kolmocli.curriculum.base import Bucket

    data = task.data
    return str(course(tasks).task(Bucket(data.family, data.level), data.index, data.split).reference)


@pytest.mark.parametrize("curriculum", ["digits", "python"])
def test_every_bucket_comes_in_turn_and_the_reference_is_right(curriculum: str) -> None:
    tasks = taskset(curriculum)
    buckets = course(tasks).buckets()
    first = list(itertools.islice(tasks, len(buckets) + 1))
    assert [(task.data.family, task.data.level) for task in first] == [
        (b.family, b.level) for b in [*buckets, buckets[0]]
    ]
    for task in first[:3]:
        trace = scored(task, f"{reference(tasks, task)}")
        assert (trace.metrics["passed"], trace.metrics["unread"], trace.reward) == (1.0, 0.0, 1.0)
        trace = scored(task, "no idea")
        assert (trace.metrics["passed"], trace.metrics["unread"]) == (0.0, 1.0)
        assert trace.reward < 1.0


def test_the_answer_is_not_in_the_data() -> None:
    tasks = taskset("digits")
    (task,) = tasks.take(1)
    assert set(task.data.model_dump(exclude_defaults=True)) == {
        "idx", "prompt", "system_prompt", "family", "level", "index", "split",
    }  # fmt: skip
    assert task.key == "train/sum_digits/1/0"


def test_evaluation_has_other_tasks() -> None:
    asked = [{task.data.prompt for task in taskset("digits", split=split).take(100)} for split in ("train", "eval")]
    assert asked[0].isdisjoint(asked[1])


def test_verifiers_finds_it_by_the_name_of_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from verifiers.v1.utils.loaders import taskset_class

    (tmp_path / "my_kolmo_tasks.py").write_text(
        "from kolmocli.integrations.verifiers import KolmoTaskset\n\n__all__ = ['KolmoTaskset']\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert taskset_class("my-kolmo-tasks").__name__ == "KolmoTaskset"
    del sys.modules["my_kolmo_tasks"]


def test_families_of_a_plugin_can_be_named(tmp_path: Path) -> None:
    from kolmocli.integrations.verifiers import KolmoTaskset, KolmoTasksetConfig

    (tmp_path / "mine.yaml").write_text("families: {stories: {}}\nreward: {kind: binary}\n")
    config = {"curriculum": str(tmp_path / "mine.yaml"), "plugins": ["tests.integrations.stories_plugin"]}
    tasks = KolmoTaskset(KolmoTasksetConfig(task=config))
    found = [_score(task) for task in tasks.take(40)]
    assert None in found  # where the judge fails, a rollout is scored neither right nor wrong
    assert {0.0, 1.0} <= set(found)


def test_a_fork_opens_a_course_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = taskset("digits")
    whole = course(tasks)
    assert course(tasks) is whole
    monkeypatch.setattr(os, "getpid", lambda: 1)
    assert course(tasks) is not whole


def _score(task: Any) -> float | None:
    import verifiers.v1 as vf

    try:
        return float(scored(task, "once upon a time").reward)
    except vf.TaskError:
        return None
