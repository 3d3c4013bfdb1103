"""The engine in one process: what it gathers, in whatever portions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kolmocli.config import Config
from kolmocli.config.file import load_config
from kolmocli.engine.base import Request
from kolmocli.engine.judging import open_judge
from kolmocli.engine.local import LocalEngine
from kolmocli.evaluation.heldout import held_out_tasks
from kolmocli.paths import find_curriculum
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


def test_the_engine_keeps_groups_and_answers_together(engine: LocalEngine) -> None:
    tasks = held_out_tasks(SOURCE, 1)[:3]
    collected = engine.sample(Request(tasks, 4, 0))
    assert [g.task for g in collected.groups] == tasks
    for group in collected.groups:
        assert {r.prompt for r in group.rollouts} == {engine.policy.prompt_ids(group.task.asked)}
        assert len(group.rollouts) == len(group.outcomes) == 4
    assert collected.cost.tokens == sum(len(r.tokens) for g in collected.groups for r in g.rollouts)
    assert [a.text for a in engine.policy.answers(tasks)] == [t.reference for t in tasks]


def test_many_tasks_are_collected_in_parts(engine: LocalEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = held_out_tasks(SOURCE, 1)[:6]
    whole = engine.sample(Request(tasks, 2)).groups
    monkeypatch.setattr("kolmocli.engine.local.ROWS_AT_ONCE", 4)
    parts = engine.sample(Request(tasks, 2)).groups
    assert [g.outcomes for g in parts] == [g.outcomes for g in whole]


def test_what_ran_out_of_tokens_is_known(engine: LocalEngine) -> None:
    """The share of answers that were cut is the first thing to look at where none passes."""
    request, cut = Request(held_out_tasks(SOURCE, 1)[:6], 4, 0), set[bool]()
    judge = open_judge(CONFIG.reward, CONFIG.training.max_lines, CONFIG.sandbox, "embedded", print)
    short = LocalEngine(engine.policy, judge, 12)
    for group in short.sample(request).groups:
        assert [o.cut_off for o in group.outcomes] == [not r.finished for r in group.rollouts]
        assert all(len(r.tokens) == 12 for r in group.rollouts if not r.finished)
        cut |= {o.cut_off for o in group.outcomes}
    short.close()
    assert cut == {True, False}
