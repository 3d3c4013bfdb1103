"""The three forms of integer sequences are read as rows; what is no entry is named by its line. All samples are made up."""

from __future__ import annotations

from pathlib import Path

import pytest

from kolmocli.tasks.files.entries import read_entries
from kolmocli.tasks.files.problems import Problems
from kolmocli.tasks.files.rows import rows

STRIPPED = """\
# a made-up list
# in the form of the file "stripped"
A900001 ,1,2,3,4,
A900002 ,-5,10,-15,
A900003 ,,
"""
SEQ = """\
%I A900004 M0000 #1 Jan 01 2020 00:00:00
%S A900004 7,7,
%T A900004 8,
%U A900004 9
%N A900004 A made-up sequence, 1,2,3.
%I A900005
%S A900005 1,2,
%V A900005 1,-2,
%W A900005 3
"""
LODA = """\
; A900006: A made-up sequence: 4, 5.
; Submitted by nobody
; 0,2,4,6,-8
; Formula: a(n) = 2*n

#offset 1
mul $0,2
; A900007: Another one
; 1
mov $0,1
"""


def read(tmp_path: Path, text: str) -> tuple[list[tuple[str | None, tuple[int, ...]]], list[str]]:
    (tmp_path / "data").write_text(text)
    said: list[str] = []
    problems = Problems("data", said.append)
    problems.name = str(tmp_path / "data")
    found = [(entry.task_id, entry.sequence) for _, entry in read_entries(problems.name, problems)]
    return found, [line.rpartition("data:")[2] for line in said]


@pytest.mark.parametrize(
    ("text", "found", "said"),
    [
        pytest.param(STRIPPED, [("A900001", (1, 2, 3, 4)), ("A900002", (-5, 10, -15))], ["5: skipped: A900003: no terms"], id="stripped"),
        pytest.param(STRIPPED.split("\n", 2)[2], [("A900001", (1, 2, 3, 4)), ("A900002", (-5, 10, -15))], ["3: skipped: A900003: no terms"], id="without comments"),
        pytest.param(SEQ, [("A900004", (7, 7, 8, 9)), ("A900005", (1, -2, 3))], [], id="seq"),
        pytest.param(LODA, [("A900006", (0, 2, 4, 6, -8)), ("A900007", (1,))], [], id="loda"),
    ],
)  # fmt: skip
def test_each_form_is_told_by_its_first_line(
    tmp_path: Path, text: str, found: list[tuple[str, tuple[int, ...]]], said: list[str]
) -> None:
    assert read(tmp_path, text) == (found, said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("A900001 ,1,2,\nnothing\n", "2: skipped: not `A000045 ,0,1,1,2,`"),
        ("A900001 ,1,2,x3,\n", "1: skipped: A900001: 'x3' is not a term"),
        (f"A900001 ,{'9' * 5000},\n", "1: skipped: A900001: '" + "9" * 40 + "' is not a term"),
        ("%S A900001 1,2,\nand text\n", "2: skipped: not a line such as `%S A000045 0,1,1,2,`"),
        ("; A900001: a name\nmov $0,1\n; A900002: one more\n; 1,2\n", "1: skipped: A900001: no terms"),
        ("; A900002: a name\nmov $0,1\n", "1: skipped: A900002: no terms"),
    ],
)
def test_what_is_no_entry_is_named(tmp_path: Path, text: str, said: str) -> None:
    assert read(tmp_path, text)[1] == [said]


def test_other_formats_are_still_themselves(tmp_path: Path) -> None:
    for text in ('{"sequence": [1]}\n', "Answer,sequence\nA1,[1]\n"):
        (tmp_path / "data").write_text(text)
        (row,) = rows(str(tmp_path / "data"), Problems("data", lambda line: None, strict=True))
        assert row[1]["sequence"] == [1]
