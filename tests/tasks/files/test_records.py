"""Records are checked when they are read, and come out of their packing as they went in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from kolmocli.errors import UsageError
from kolmocli.language.coder import coded_bits
from kolmocli.language.interpreter import ExecutionError, evaluate
from kolmocli.language.program import Program, parse
from kolmocli.tasks.files.entries import Entry
from kolmocli.tasks.files.records import Record, Records, checked
from kolmocli.tasks.files.taskfile import read_tasks
from tests.language.strategies import programs


def write(path: Path, *lines: object) -> str:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return str(path)


def packed(*entries: Entry) -> Records:
    records = Records()
    for entry in entries:
        records.append(*checked(entry))
    return records


WIDE = st.one_of(st.integers(0, 255), st.integers(-300, 300), st.integers(-(10**17), 10**17), st.integers())


@given(st.lists(st.lists(WIDE, min_size=1, max_size=20).map(tuple), min_size=1, max_size=8))
def test_packing_changes_no_sequence(sequences: list[tuple[int, ...]]) -> None:
    records = packed(*map(Entry, sequences))
    assert [r.sequence for r in records] == sequences
    assert [records.length(i) for i in range(len(records))] == [len(s) for s in sequences]
    again = records.select(reversed(range(len(records))))
    assert [r.sequence for r in again] == sequences[::-1]


@given(programs())
def test_packing_changes_no_program(program: Program) -> None:
    try:
        sequence = tuple(evaluate(program))
    except ExecutionError:
        return
    if not sequence:
        return
    records = packed(Entry((1,)), Entry(sequence, str(program), bucket="a/1", modality="m"))
    assert records[1] == Record(sequence, program, "a/1", "m")
    assert records[0].program is None
    assert (records.reference_bits(0), records.reference_bits(1)) == (None, coded_bits(program))
    assert records.keys(0).skeleton is None


def test_a_program_that_makes_its_sequence_is_kept(tmp_path: Path) -> None:
    file = write(tmp_path / "d.jsonl", {"sequence": [1, 2], "program": "x = range_func_up(1, 2) # [1, 2]\noutput = x"})
    (record,) = read_tasks(file, print).records
    assert record.program == parse("x = range_func_up(1, 2)\noutput = x")


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("range_func_up(1, 3)", "makes another sequence: 3 items instead of 2"),
        ("set_list([1, 5])", "makes another sequence: 5 instead of 2 as item 2"),
        ("range_func_interval(0, 5, 0)", "`program`: statement 1: range() arg 3 must not be zero"),
        ("repeat_num(99999999, 1)", "`program`: statement 1: more than 1048576 items"),
        ("exit()", "`program`: line 1"),
        ("", "`program`: line 1: the program is empty"),
    ],
)
def test_a_program_that_does_not_is_a_bad_line(tmp_path: Path, program: str, said: str) -> None:
    file = write(tmp_path / "d.jsonl", {"sequence": [9]}, {"sequence": [1, 2], "program": program})
    warnings: list[str] = []
    assert [r.sequence for r in read_tasks(file, warnings.append).records] == [(9,)]
    assert warnings[0].startswith(f"{file}:2: skipped: ")
    assert said in warnings[0]
    assert warnings[1] == f"{file}: 1 bad line(s) skipped, 1 kept"
    with pytest.raises(UsageError, match=r"d\.jsonl:2: "):
        read_tasks(file, print, strict=True)


def test_a_sequence_that_is_too_long_is_left_out_by_name(tmp_path: Path) -> None:
    file = write(tmp_path / "d.jsonl", {"sequence": [1] * 5}, {"sequence": [1] * 4})
    warnings: list[str] = []
    assert [len(r.sequence) for r in read_tasks(file, warnings.append, max_items=4).records] == [4]
    assert warnings[0] == f"{file}:1: skipped: 5 items; at most 4 are taken (data.max_items)"


@pytest.mark.parametrize("content", [b"", b"\n\n", b"bad\n", b'{"sequence": "\xff"}', b"program,sequence\n"])
def test_a_file_without_a_sequence_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "empty.jsonl").write_bytes(content)
    said = "no good line in it; see above" if content.strip() and b"program" not in content else "no task in it"
    with pytest.raises(UsageError, match=rf"empty\.jsonl: {said}"):
        read_tasks(f"{tmp_path}/empty.jsonl", lambda text: None)
