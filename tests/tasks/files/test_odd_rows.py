"""Files of data of somebody else: names and texts that UTF-8 cannot write, numbers beyond measure, pipes, and folders that name
what is elsewhere."""

from __future__ import annotations

import bz2
import json
import lzma
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from kolmocli.errors import UsageError
from kolmocli.tasks.files.buckets import level_of
from kolmocli.tasks.files.listing import item
from kolmocli.tasks.files.tables import table_rows
from kolmocli.tasks.files.taskfile import read_tasks

QUESTION = {"question": "one and one?", "answer": "2"}
SEQUENCE = {"sequence": [1, 2, 3]}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (QUESTION | {"family": "\ud800"}, "`family` holds half of a surrogate pair"),
        (QUESTION | {"bucket": "\ud800/1"}, "`bucket` holds half of a surrogate pair"),
        (QUESTION | {"task_id": "\udfff"}, "`task_id` holds half of a surrogate pair"),
        (QUESTION | {"question": "a\ud800"}, "its prompt holds half of a surrogate pair"),
        (QUESTION | {"family": "x" * 100_000}, "`family` has 100,000 characters; at most 200 are taken"),
        (SEQUENCE | {"modality": "\ud800"}, "`modality` holds half of a surrogate pair"),
        (SEQUENCE | {"family": "\ud800"}, "`family` holds half of a surrogate pair"),
        (QUESTION | {"level": 10**400}, "`level` must be a number"),
        (QUESTION | {"level": "9" * 400}, "`level` must be a number"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, str) else None,
)
def test_a_row_that_cannot_be_shown_or_read_is_none(row: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        item(row)


def test_any_other_name_is_taken() -> None:
    for name in ("\x1b[31m", "$x^$", "日本", "x" * 200):
        item(QUESTION | {"family": name})


@pytest.mark.parametrize("level", [float("nan"), float("inf"), 10**400, -(10**400), 1e300])
def test_a_level_has_a_bound(level: float) -> None:
    with pytest.raises(ValueError, match="must be a number"):
        level_of(level)


def test_bad_rows_are_named_and_the_rest_is_read(tmp_path: Path) -> None:
    rows = [QUESTION, QUESTION | {"family": "\ud800"}, {"question": "two and two?", "answer": "4"}]
    deep = '{"a":' * 100_000 + "1" + "}" * 100_000
    (tmp_path / "t.jsonl").write_text("\n".join([*map(json.dumps, rows), deep, "9" * 5_000]))
    said: list[str] = []
    assert len(read_tasks(str(tmp_path / "t.jsonl"), said.append)) == 2
    assert [line.split("t.jsonl:")[1].partition(":")[0] for line in said[:3]] == ["2", "4", "5"]


@pytest.mark.parametrize("text", ["[" * 100_000, "[" + "9" * 5_000 + "]"])
def test_a_whole_file_that_no_reader_takes_is_one_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(UsageError, match=r"t\.json: (nested too deeply|Exceeds the limit|no good line)"):
        read_tasks(str(tmp_path / "t.json"), lambda line: None)


def test_a_packed_file_is_named(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "t.jsonl", "w") as file:  # its rows lie in it as they are
        file.writestr("t.jsonl", f"{json.dumps(QUESTION)}\n{json.dumps(QUESTION)}\n")
    with pytest.raises(UsageError, match=r"t\.jsonl: a zip file; .*: unzip"):
        read_tasks(str(tmp_path / "t.jsonl"), pytest.fail)
    text = json.dumps(QUESTION).encode()
    packed = {"bzip2": bz2.compress(text), "xz": lzma.compress(text), "zstd": b"\x28\xb5\x2f\xfd" + text}
    for name, data in (packed | {"Git LFS": b"version https://git-lfs.github.com/spec/v1\n"}).items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(UsageError, match=name):
            read_tasks(str(tmp_path / name), pytest.fail)


def test_a_pipe_with_a_name_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "t.jsonl")
    with pytest.raises(
        UsageError, match=r"t\.jsonl: not a regular file but a FIFO; for what another command writes use -"
    ):
        read_tasks(str(tmp_path / "t.jsonl"), lambda line: None)
    with pytest.raises(UsageError, match="/dev/zero: not a regular file but a device"):
        read_tasks("/dev/zero", lambda line: None)


ELSEWHERE = (
    "https://example.invalid/x.csv", "hf://datasets/a/b/x.csv", "s3://a/b.csv", "file:///etc/passwd", "zip://x::http://a/b",
    "/etc/passwd", "../../x.csv",
)  # fmt: skip


@pytest.mark.datasets
@pytest.mark.parametrize("path", ELSEWHERE)
def test_a_folder_of_data_names_nothing_that_is_elsewhere(path: str, tmp_path: Path) -> None:
    card = {"configs": [{"config_name": "default", "data_files": [{"split": "train", "path": [path]}]}]}
    (tmp_path / "README.md").write_text(f"---\n{json.dumps(card)}\n---\n")
    with pytest.raises(
        UsageError, match=r"README\.md: names .*, which is not in this folder; put the files next to it"
    ):
        list(table_rows(str(tmp_path)))


@pytest.mark.datasets
@pytest.mark.parametrize(
    "head", ["configs: 5", "configs: [{data_files: x.nosuch}]", "configs: [", "a: &a [*a]", "[" * 5_000]
)
def test_an_odd_readme_is_one_line(head: str, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(f"---\n{head}\n---\n")
    with pytest.raises(UsageError) as raised:
        list(table_rows(str(tmp_path)))
    assert "\n" not in str(raised.value)


@pytest.mark.datasets
def test_the_script_of_a_data_set_is_not_run(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "set.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(UsageError, match=r"set\.py: the script of a data set, which is never run"):
        list(table_rows(str(folder)))
    assert not (tmp_path / "ran").exists()
