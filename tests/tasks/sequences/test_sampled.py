"""Tasks are random-access, the same everywhere, and held out for good."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import pytest

from kolmocli.config.file import load_config
from kolmocli.curriculum.base import Bucket
from kolmocli.errors import UsageError
from kolmocli.language.interpreter import execute
from kolmocli.language.skeleton import skeleton
from kolmocli.paths import find_curriculum, packaged_curricula
from kolmocli.tasks.base import Split
from kolmocli.tasks.family import FamilyTasks, open_families
from kolmocli.tasks.sequences.sampled import SampledSequences
from kolmocli.tasks.sequences.settings import Family
from kolmocli.tasks.sequences.task import SequenceTask

PACKAGED = [
    name
    for name in packaged_curricula()
    if name not in ("arithmetic", "digits", "expressions", "functions", "python", "reasoning")
]


def source(name: str, split: Split, seed: int = 0) -> FamilyTasks:
    return open_families(load_config(find_curriculum(name)).families, split, seed)


def some(tasks: FamilyTasks, count: int) -> list[SequenceTask]:
    return [tasks.task(bucket, index) for bucket in tasks.buckets() for index in range(count)]


def shape(task: SequenceTask) -> str:
    assert task.program is not None
    return skeleton(task.program, execute(task.program))


def test_a_task_does_not_depend_on_what_was_drawn_before() -> None:
    one, other = source("quickstart", "train"), source("quickstart", "train")
    wanted = [(bucket, index) for bucket in one.buckets() for index in range(5)]
    shuffled = random.Random(0).sample(wanted, len(wanted))
    assert {key: one.task(*key) for key in wanted} == {key: other.task(*key) for key in shuffled}


def test_tasks_are_the_same_in_every_process() -> None:
    script = (
        "import zlib; from tests.tasks.sequences.test_sampled import some, source;"
        "print(zlib.crc32(repr(some(source('quickstart', 'train', 3), 3)).encode()))"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1


@pytest.mark.parametrize("name", PACKAGED)
def test_every_task_carries_a_program_for_its_target(name: str) -> None:
    for task in some(source(name, "train"), 3):
        assert task.program is not None
        assert tuple(execute(task.program)[-1]) == task.target


@pytest.mark.parametrize("name", PACKAGED)
def test_training_and_evaluation_share_no_skeleton_whatever_the_seeds(name: str) -> None:
    train = {shape(task) for seed in (0, 1) for task in some(source(name, "train", seed), 10)}
    held_out = {shape(task) for seed in (0, 2) for task in some(source(name, "eval", seed), 10)}
    assert train
    assert held_out
    assert not train & held_out


@pytest.mark.parametrize("name", PACKAGED)
def test_training_and_evaluation_share_no_seed(name: str) -> None:
    pairs = zip(some(source(name, "train"), 3), some(source(name, "eval"), 3), strict=True)
    assert all(train != held_out for train, held_out in pairs)


def test_another_seed_gives_other_tasks() -> None:
    assert some(source("quickstart", "train", 0), 3) != some(source("quickstart", "train", 1), 3)


def test_buckets_are_in_file_order_with_ascending_levels() -> None:
    family = {"levels": [{}, {}]}
    tasks = open_families({n: Family.model_validate(family) for n in ("z", "a")}, "train", 0)
    assert tasks.buckets() == [Bucket("z", 1), Bucket("z", 2), Bucket("a", 1), Bucket("a", 2)]


def test_a_level_that_leaves_nothing_for_a_split_is_named() -> None:
    only_one_skeleton = {
        "bases": (1, 1),
        "base_length": (4, 4),
        "initiators": {"repeat_num": 1},
        "values": (0, 15),
        "modifiers": (0, 0),
        "reuse": 0,
    }
    family = Family.model_validate({"levels": [only_one_skeleton]})
    refused = []
    for split in ("train", "eval"):
        try:
            SampledSequences("one", family, split, 0).task(1, 0)  # type: ignore[arg-type]
        except UsageError as error:
            refused.append(str(error))
    assert len(refused) == 1
    assert "families.one.levels[0]: " in refused[0]
