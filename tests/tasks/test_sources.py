"""What is evaluated on is never trained on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kolmocli.config import Config
from kolmocli.config_file import load_config
from kolmocli.errors import UsageError
from kolmocli.paths import find_curriculum
from kolmocli.tasks.base import TaskSource
from kolmocli.tasks.datasets import DatasetTasks
from kolmocli.tasks.kolmogorov import KolmogorovTasks
from kolmocli.tasks.sources import evaluation_source, training_source


def config(**data: str) -> Config:
    return load_config(find_curriculum("quickstart"), {f"data.{key}": value for key, value in data.items()})


def write(path: Path, sequences: list[list[int]]) -> str:
    path.write_text("".join(json.dumps({"sequence": s}) + "\n" for s in sequences))
    return str(path)


def targets(source: TaskSource) -> set[Any]:
    assert isinstance(source, DatasetTasks)
    return {r.sequence for records in source._records.values() for r in records}


def quiet(text: str) -> None:
    pass


def test_without_data_the_families_are_split() -> None:
    train, held_out = training_source(config(), quiet), evaluation_source(config(), quiet)
    assert isinstance(train, KolmogorovTasks)
    assert (train.split, held_out.split) == ("train", "eval")


def test_a_tenth_of_a_training_file_is_held_out_and_shared_with_nothing(tmp_path: Path) -> None:
    file = write(tmp_path / "d.jsonl", [[i, i % 7] for i in range(400)] * 2)
    train, held_out = (
        targets(training_source(config(train=file), quiet)),
        targets(evaluation_source(config(train=file), quiet)),
    )
    assert not train & held_out
    assert len(train | held_out) == 400
    assert 20 <= len(held_out) <= 60


def test_sequences_of_the_evaluation_file_are_taken_out_of_the_training_file(tmp_path: Path) -> None:
    train = write(tmp_path / "t.jsonl", [[i] for i in range(20)])
    held_out = write(tmp_path / "e.jsonl", [[i] for i in range(15, 30)])
    chosen = config(train=train, eval=held_out)
    assert targets(training_source(chosen, quiet)) == {(i,) for i in range(15)}
    assert targets(evaluation_source(chosen, quiet)) == {(i,) for i in range(15, 30)}


def test_a_training_file_that_is_all_held_out_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path / "same.jsonl", [[1], [2]])
    with pytest.raises(UsageError, match=r"same\.jsonl: every sequence is held out"):
        training_source(config(train=file, eval=file), quiet)


def test_a_file_too_small_to_hold_anything_out_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path / "few.jsonl", [[1]])
    with pytest.raises(UsageError, match=r"few\.jsonl: .*(too few|held out)"):
        training_source(config(train=file), quiet)
        evaluation_source(config(train=file), quiet)
