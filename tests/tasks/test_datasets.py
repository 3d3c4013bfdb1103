"""Sequences from a JSONL file: what a line may be, and what becomes of a bad one."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kolmocli.errors import UsageError
from kolmocli.tasks.base import Bucket
from kolmocli.tasks.datasets import DatasetTasks, Record, read_records


def read(tmp_path: Path, *lines: str) -> tuple[list[Record], list[str]]:
    file, warnings = tmp_path / "d.jsonl", list[str]()
    file.write_text("\n".join(lines))
    return read_records(file, warnings.append), warnings


def records(*buckets: str | None) -> list[Record]:
    return [Record((i,), None, bucket) for i, bucket in enumerate(buckets)]


def test_a_list_a_string_and_an_instruction_are_sequences(tmp_path: Path) -> None:
    found, warnings = read(
        tmp_path,
        '{"sequence": [1, -2, 300]}',
        '{"sequence": "hé"}',
        '{"text": "Write it.\\nReproduce the following sequence: [7, 8]\\nNow."}',
    )
    assert [r.sequence for r in found] == [(1, -2, 300), (104, 233), (7, 8)]
    assert warnings == []


def test_a_program_and_a_bucket_are_kept(tmp_path: Path) -> None:
    ((record,), _) = read(tmp_path, '{"sequence": [1, 2], "program": "x = range_func_up(1, 2)", "bucket": "ramps/2"}')
    assert str(record.program) == "sequence_1 = range_func_up(1, 2)"
    assert record.bucket == "ramps/2"


BAD = {
    "not json": "Expecting value",
    "[1, 2]": "not an object",
    '{"sequence": []}': "`sequence` must be a list of integers",
    '{"sequence": [1, 2.5]}': "`sequence` must be a list of integers",
    '{"sequence": [true]}': "`sequence` must be a list of integers",
    '{"sequence": ""}': "`sequence` must be a list of integers",
    '{"sequence": [1], "bucket": 3}': "`bucket` must be a string",
    '{"sequence": [1], "program": "exit()"}': "`program`: line 1",
    '{"text": "nothing in it"}': 'text without "following sequence:"',
    '{"text": "following sequence: [1, 2, ...]"}': "Expecting value",
    "[" * 100_000: "recursion",
}


@pytest.mark.parametrize(("line", "said"), BAD.items())
def test_a_bad_line_is_named_skipped_and_counted(tmp_path: Path, line: str, said: str) -> None:
    found, warnings = read(tmp_path, '{"sequence": [1]}', "", line, '{"sequence": [2]}')
    assert [r.sequence for r in found] == [(1,), (2,)]
    assert warnings[0].startswith(f"{tmp_path / 'd.jsonl'}:3: skipped: ")
    assert said in warnings[0]
    assert warnings[1] == f"{tmp_path / 'd.jsonl'}: 1 bad line(s) skipped, 2 kept"


def test_many_bad_lines_are_counted_but_not_all_named(tmp_path: Path) -> None:
    _, warnings = read(tmp_path, '{"sequence": [1]}', *["bad"] * 50)
    assert len(warnings) == 4
    assert "50 bad line(s)" in warnings[-1]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"bad\n", b'{"sequence": "\xff"}'])
def test_a_file_without_a_sequence_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "empty.jsonl").write_bytes(content)
    with pytest.raises(UsageError, match=r"empty\.jsonl: "):
        read_records(tmp_path / "empty.jsonl", lambda text: None)


# --- from records to buckets


def test_named_buckets_are_families_and_levels() -> None:
    tasks = DatasetTasks(records("b/2", "a/1", "b/1", "plain"), "train", 0)
    assert tasks.buckets() == [Bucket("a", 1), Bucket("b", 1), Bucket("b", 2), Bucket("plain", 1)]


def test_levels_without_a_record_are_closed_up() -> None:
    tasks = DatasetTasks(records("a/3", "a/1000000000", "a/7"), "train", 0)
    assert tasks.buckets() == [Bucket("a", 1), Bucket("a", 2), Bucket("a", 3)]
    assert [tasks.task(b, 0).target for b in tasks.buckets()] == [(0,), (2,), (1,)]


@pytest.mark.parametrize("name", ["a/", "/1", "a/b", "a/²", "a/-1", "a/1.5", ""])
def test_a_bucket_without_a_level_is_a_family_of_its_own(name: str) -> None:
    assert DatasetTasks(records(name), "train", 0).buckets() == [Bucket(name, 1)]


def test_without_names_sequences_are_levelled_by_length() -> None:
    found = [Record(tuple(range(n)), None, None) for n in range(1, 21)]
    tasks = DatasetTasks(found, "train", 0)
    lengths = [{len(tasks.task(b, i).target) for i in range(5)} for b in tasks.buckets()]
    assert lengths == [set(range(1, 6)), set(range(6, 11)), set(range(11, 16)), set(range(16, 21))]


@given(st.integers(1, 12), st.integers(0, 5), st.integers(0, 100))
def test_every_pass_over_the_file_shows_every_record_once(count: int, epoch: int, seed: int) -> None:
    tasks = DatasetTasks(records(*["a"] * count), "train", seed)
    shown = Counter(tasks.task(Bucket("a", 1), epoch * count + i).target for i in range(count))
    assert shown == Counter((i,) for i in range(count))


def test_the_order_of_one_epoch_is_not_that_of_the_next() -> None:
    tasks = DatasetTasks(records(*["a"] * 50), "train", 0)
    first, second = ([tasks.task(Bucket("a", 1), e * 50 + i).target for i in range(50)] for e in (0, 1))
    assert first != second
    again = DatasetTasks(records(*["a"] * 50), "train", 0)
    assert [again.task(Bucket("a", 1), i).target for i in reversed(range(50))] == first[::-1]


def test_reading_what_was_written_gives_the_same_sequences(tmp_path: Path) -> None:
    sequences = [[0], [10**17, -(10**17)], list(range(300))]
    found, _ = read(tmp_path, *[json.dumps({"sequence": s}) for s in sequences])
    assert [list(r.sequence) for r in found] == sequences
