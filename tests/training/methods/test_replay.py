"""Replay teaches new references of the warm start's levels, and nothing that is held out."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from kolmocli.config.training import Warmup
from kolmocli.errors import UsageError
from kolmocli.policy.building import build_preset
from kolmocli.policy.policy import Policy
from kolmocli.policy.tokenizer import build_tokenizer
from kolmocli.tasks.sources import evaluation_source, training_source
from kolmocli.training.methods.replay import Replay
from kolmocli.training.warmstart import taught_buckets
from tests.training.runs import metrics, run, small_config


def test_it_teaches_references_of_the_levels_of_the_warm_start() -> None:
    config = small_config()
    source = training_source(config, print)
    buckets = taught_buckets(source, Warmup(levels=1))
    asked = list[object]()
    policy = Policy("tiny", build_preset("tiny", 0), build_tokenizer())

    def answers(tasks):  # type: ignore[no-untyped-def]
        asked.extend(tasks)
        return policy.answers(tasks)

    replay = Replay(64, buckets, source, answers, random.Random)
    lessons, again = replay.lessons(1, []), replay.lessons(1, [])
    assert [x.rollout for x in lessons] == [x.rollout for x in again] != [x.rollout for x in replay.lessons(2, [])]
    assert all(x.rollout.is_answer and set(x.weights) == {1.0} for x in lessons)
    seen = Counter(task.bucket for task in asked)  # type: ignore[attr-defined]
    assert set(seen) == set(buckets) and {bucket.level for bucket in buckets} == {1}
    held_out = evaluation_source(config, print)
    programs = {held_out.task(bucket, i).reference for bucket in buckets for i in range(20)}
    assert not programs & {task.reference for task in asked}  # type: ignore[attr-defined]


def test_replay_of_nothing_is_refused() -> None:
    source = training_source(small_config(), print)
    with pytest.raises(UsageError, match=r"^warmup\.replay: no task of the levels of the warm start has a reference"):
        Replay(1, [], source, lambda tasks: [], random.Random)


@pytest.mark.parametrize(("share", "taught"), [(0.25, 8), (0.001, 1)])
def test_a_run_with_replay_counts_what_it_taught(share: float, taught: int, tmp_path: Path) -> None:
    config = small_config(
        warmup={"replay": share, "max_steps": 2}, training={"steps": 2, "batch_size": 32, "hindsight": 0}
    )
    run(config, tmp_path / "run")
    assert [r["answers"] for r in metrics(tmp_path / "run") if r["phase"] == "rl"] == [taught, taught]
