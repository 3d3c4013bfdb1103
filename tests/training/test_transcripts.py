"""Transcripts among the references of a warm start: a share of them, never held out, never longer than may be written."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from kolmocli.config import Config
from kolmocli.curriculum.base import Bucket
from kolmocli.language.interpreter import execute
from kolmocli.language.skeleton import held_out, skeleton
from kolmocli.policy.transcript import transcript
from kolmocli.tasks.base import Task
from kolmocli.tasks.sequences.task import SequenceTask
from kolmocli.tasks.sources import training_source
from kolmocli.training.opening import open_policy
from kolmocli.training.transcripts import Transcripts, transcripts_of
from tests.training.runs import metrics, run, small_config


def config_with(share: float) -> Config:
    data = small_config(warmup={"transcripts": share, "max_steps": 6}, training={"steps": 2}).model_dump()
    data["training"] |= {"max_new_tokens": 96, "max_lines": 16}
    return Config.model_validate({**data, "families": {"published": {"levels": [{"length": [2, 48]}]}}})


def opened(share: float) -> tuple[Transcripts, list[Task]]:
    config = config_with(share)
    source = training_source(config, print)
    tasks = [source.task(Bucket("published", 1), index) for index in range(200)]
    return transcripts_of(config, source, open_policy(config)), tasks


def changed(tasks: list[Task], among: list[Task]) -> list[SequenceTask]:
    """Those with another reference; what is asked for is the same of all."""
    pairs = list(zip(tasks, among, strict=True))
    assert all((new.bucket, new.index, new.prompt) == (old.bucket, old.index, old.prompt) for old, new in pairs)
    return [new for old, new in pairs if new.reference != old.reference and isinstance(new, SequenceTask)]


def test_the_share_of_them_and_nothing_held_out() -> None:
    transcripts, tasks = opened(1.0)
    every = changed(tasks, transcripts.among(tasks, random.Random(0)))
    assert 40 < len(every) < 150  # others are held out, too long, or what the reference is
    for task in every:
        assert task.program == transcript(task.target)
        assert task.program is not None and not held_out(skeleton(task.program, execute(task.program)))
    some = changed(tasks, replace(transcripts, share=0.5).among(tasks, random.Random(0)))
    assert 0.3 < len(some) / len(every) < 0.7


def test_without_a_share_nothing_is_drawn_and_nothing_changes() -> None:
    transcripts, tasks = opened(0.0)
    rng = random.Random(0)
    before = rng.getstate()
    assert transcripts.among(tasks, rng) == tasks
    assert rng.getstate() == before


@pytest.mark.parametrize("limit", [{"max_lines": 3}, {"max_new_tokens": 40}])
def test_what_may_not_be_written_is_not_taught(limit: dict[str, int]) -> None:
    transcripts, tasks = opened(1.0)
    narrow = replace(transcripts, max_lines=limit.get("max_lines", 99), max_new_tokens=limit.get("max_new_tokens", 999))
    wide = replace(transcripts, max_lines=99, max_new_tokens=999)
    few, many = (changed(tasks, each.among(tasks, random.Random(0))) for each in (narrow, wide))
    assert 0 < len(few) < len(many)
    assert all(task.program is not None and len(task.program) <= narrow.max_lines for task in few)
    assert all(task.reference and transcripts.tokens(task.reference) <= narrow.max_new_tokens for task in few)


def test_tasks_without_a_reference_have_none_after_it() -> None:
    transcripts, tasks = opened(1.0)
    bare = [replace(task, reference=None, program=None) for task in tasks if isinstance(task, SequenceTask)]
    assert transcripts.among(bare, random.Random(0)) == bare


def test_a_run_learns_from_them_and_says_so_again(tmp_path: Path) -> None:
    run(config_with(0.5), tmp_path / "one")
    run(config_with(0.5), tmp_path / "two")
    run(config_with(0.0), tmp_path / "without")
    assert metrics(tmp_path / "one") == metrics(tmp_path / "two") != metrics(tmp_path / "without")


def test_questions_have_no_transcripts() -> None:
    asked = {
        "families": {"sums": {"task": "sum_digits", "levels": [{"integers": [1, 1], "digits": [2, 2]}]}},
        "reward": {"kind": "binary"},
    }
    assert Config.model_validate(asked).warmup.transcripts == 0
    with pytest.raises(ValueError, match="warmup: transcripts are of sequences; remove it"):
        Config.model_validate({**asked, "warmup": {"transcripts": 0.5}})
