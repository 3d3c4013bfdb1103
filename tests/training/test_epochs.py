"""Counting in epochs: as many tasks as a data set has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kolmocli.config import Config
from kolmocli.errors import UsageError
from kolmocli.training.epochs import steps_per_epoch


def config(**sections: Any) -> Config:
    return Config.model_validate({"families": {"a": {"levels": [{}]}}, **sections})


def sequences(path: Path, count: int) -> str:
    path.write_text("".join(json.dumps({"sequence": [i, i + 1]}) + "\n" for i in range(count)))
    return str(path)


@pytest.mark.parametrize(
    ("count", "batch_size", "group_size", "steps"), [(20, 16, 4, 5), (21, 16, 4, 6), (3, 16, 4, 1), (5, 2, 2, 5)]
)
def test_an_epoch_draws_as_many_tasks_as_there_are(
    tmp_path: Path, count: int, batch_size: int, group_size: int, steps: int
) -> None:
    data = {"train": sequences(tmp_path / "t.jsonl", count), "eval": sequences(tmp_path / "e.jsonl", 0)}
    (tmp_path / "e.jsonl").write_text('{"sequence": [9, 9, 9]}\n')
    training = {"batch_size": batch_size, "group_size": group_size}
    assert steps_per_epoch(config(data=data, training=training)) == steps


def test_what_is_held_out_is_not_counted(tmp_path: Path) -> None:
    data = {"train": sequences(tmp_path / "t.jsonl", 100)}
    assert 80 <= steps_per_epoch(config(data=data, training={"batch_size": 2, "group_size": 2})) < 100


def test_tasks_that_never_run_out_have_no_epochs() -> None:
    with pytest.raises(UsageError, match="never run out; use --steps, or name a file with --data"):
        steps_per_epoch(config())
