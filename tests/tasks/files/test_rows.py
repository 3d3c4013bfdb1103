"""The same rows in every format: JSON Lines, CSV, Parquet, and data sets of Hugging Face from a folder."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from kolmocli.errors import UsageError
from kolmocli.tasks.files.problems import Problems
from kolmocli.tasks.files.rows import rows
from kolmocli.tasks.files.tables import is_data_set

ROWS: list[dict[str, Any]] = [
    {"question": "One,\n\ntwo?", "answer": "3", "level": "Level 1"},
    {"prompt": "Echo.", "inputs": ["a\n", ""], "outputs": ["a\n", ""], "task_id": "echo/1"},
]


NAMES = list(dict.fromkeys(key for row in ROWS for key in row))
FULL = [{name: row.get(name) for name in NAMES} for row in ROWS]
"""As formats of columns have them."""


def read(name: object) -> list[Any]:
    return [row for _, row in rows(str(name), Problems(str(name), pytest.fail))]


def test_json_lines_and_csv(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    assert read(tmp_path / "d.jsonl") == ROWS
    with open(tmp_path / "d.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, NAMES)
        writer.writeheader()
        writer.writerows({k: json.dumps(v) if isinstance(v, list) else v for k, v in row.items()} for row in ROWS)
    assert read(tmp_path / "d.csv") == ROWS


@pytest.mark.parquet
def test_parquet(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(FULL), tmp_path / "d.parquet")
    assert read(tmp_path / "d.parquet") == ROWS
    assert [where for where, _ in rows(str(tmp_path / "d.parquet"), Problems("d", pytest.fail))] == ["row 1", "row 2"]
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "d.parquet").read_bytes()[:-9])
    with pytest.raises(UsageError, match=r"cut\.parquet: cannot be read as Parquet: ") as refused:
        read(tmp_path / "cut.parquet")
    assert "\n" not in str(refused.value)


@pytest.mark.datasets
def test_a_data_set_of_a_folder(tmp_path: Path) -> None:
    import datasets

    made = datasets.Dataset.from_list(FULL)
    datasets.DatasetDict({"train": made, "test": made.select([0])}).save_to_disk(tmp_path / "two")
    assert read(f"{tmp_path}/two:train") == ROWS
    assert read(f"{tmp_path}/two:test") == ROWS[:1]
    with pytest.raises(UsageError, match=r"two: name one of its splits: .*/two:train, .*/two:test$"):
        read(tmp_path / "two")
    made.save_to_disk(tmp_path / "one")
    assert read(tmp_path / "one") == ROWS


@pytest.mark.datasets
def test_a_folder_of_plain_files_is_a_data_set_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "train.jsonl").write_text('{"question": "?", "answer": "3"}\n')
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    assert read(folder) == [{"question": "?", "answer": "3"}]
    with pytest.raises(UsageError, match="neither a file nor a data set that can be read"):
        (tmp_path / "empty").mkdir()
        read(tmp_path / "empty")


def test_what_is_an_id_and_what_a_missing_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ids = ["openai/gsm8k", "openai/gsm8k:main:test", "a-b/c_d.e", str(tmp_path)]
    files = ["d.jsonl", "data/d.jsonl", "data/d.csv", f"{tmp_path}/none", "-", "gsm8k"]
    assert [is_data_set(name) for name in ids] == [True] * 4
    assert [is_data_set(name) for name in files] == [False] * 6
