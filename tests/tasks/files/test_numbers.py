"""Integers from text and CSV: any size, any separator, and nothing that is not an integer."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, strategies as st

from kolmocli.errors import UsageError
from kolmocli.tasks.files import numbers as numbers_module
from kolmocli.tasks.files.numbers import Table
from kolmocli.tasks.files.problems import Problems


def runs(
    text: str | bytes, column: str | None = None, strict: bool = False, warnings: list[str] | None = None
) -> list[list[int]]:
    """The integers between two breaks."""
    problems = Problems("n.csv", (warnings if warnings is not None else []).append, strict)
    found: list[list[int]] = [[]]
    for run in Table(problems, column).read(io.BytesIO(text.encode() if isinstance(text, str) else text)):
        if run is None:
            found.append([])
        else:
            found[-1] += run
    return [r for r in found if r]


BIG = 10**40


@pytest.mark.parametrize(
    "text",
    [
        f"1 -2\n300\n\n{BIG}\n",
        f"1\t-2\r\n300\t{BIG}\r\n",
        f"1,-2,300,{BIG}",
        f"1, -2 ,+300,{BIG},\n",
        f"\ufeff1;-2;300;{BIG}\n",
        f"# a comment\n1 -2\n# 7\n300 {BIG}",
        f'"1","-2"\n"300",{BIG}\n',
        f"reading,other\n1,-2\n300,{BIG}\n",
    ],
)
def test_whatever_separates(text: str) -> None:
    assert runs(text) == [[1, -2, 300, BIG]]


@given(st.lists(st.lists(st.integers(), min_size=1, max_size=9), min_size=1, max_size=9), st.sampled_from(" \t,;"))
def test_what_is_written_is_read(rows: list[list[int]], separator: str) -> None:
    text = "\n".join(separator.join(map(str, row)) for row in rows)
    if len(rows[0]) > 1 or separator == " ":
        assert runs(text) == [[x for row in rows for x in row]]


TABLE = 'time,"meter, kWh",note\n1,100,"a ""b"" c"\n2,-103,"x, y"\n3,107,\n'


@pytest.mark.parametrize(
    ("column", "values"), [("time", [1, 2, 3]), ("meter, kWh", [100, -103, 107]), ("2", [100, -103, 107])]
)
def test_one_column_of_a_table(column: str, values: list[int]) -> None:
    assert runs(TABLE, column) == [values]


@pytest.mark.parametrize(
    ("text", "column", "there"),
    [
        (TABLE, "watt", "time, meter, kWh, note"),
        (TABLE, "4", "time"),
        ("1 2\n", "3", "1 to 2"),
        ("1 2\n", "0", "1 to 2"),
    ],
)
def test_a_column_that_is_not_there(text: str, column: str, there: str) -> None:
    with pytest.raises(UsageError, match=rf"n\.csv: --column {column}: there are .*{there}"):
        runs(text, column)


BAD = {
    "3.5": "'3.5' is not an integer",
    "nan": "'nan' is not an integer",
    "1e5": "'1e5' is not an integer",
    "1_000": "'1_000' is not an integer",
    "٣": "'٣' is not an integer",
    "0x10": "'0x10' is not an integer",
    "--1": "'--1' is not an integer",
    "__import__('os')": "is not an integer",
    "": "a field is empty",
    '"7': "quotes that do not match",
    "9" * 4301: "an integer of more than 4,300 digits",
    "\x1b[2J": "'\\x1b[2J' is not an integer",
}


@pytest.mark.parametrize(("field", "said"), BAD.items(), ids=range(len(BAD)))
def test_a_line_with_anything_else_is_left_out_and_breaks_the_run(field: str, said: str) -> None:
    warnings: list[str] = []
    text = f"1,2\n3,{field},4\n5,6\n"
    assert runs(text, warnings=warnings) == [[1, 2], [5, 6]]
    assert len(warnings) == 1
    assert warnings[0].startswith("n.csv:2: skipped: ")
    assert said in warnings[0]
    with pytest.raises(UsageError, match=r"n\.csv:2: "):
        runs(text, strict=True)


def test_a_short_row_of_a_table_is_bad_and_other_columns_may_hold_anything() -> None:
    warnings: list[str] = []
    assert runs("a,b\n1,2\n3\nx,4\n", "b", warnings=warnings) == [[2], [4]]
    assert warnings == ["n.csv:3: skipped: has 1 fields, no field 2"]


def test_bytes_that_are_no_text() -> None:
    warnings: list[str] = []
    assert runs(b"1\n\xff\xfe\x00\n2\n", warnings=warnings) == [[1], [2]]
    assert warnings[0].startswith("n.csv:2: skipped: ")


PEAK = """
import sys
from kolmocli.tasks.files.numbers import Table
from kolmocli.tasks.files.problems import Problems
count = total = 0
for run in Table(Problems("-", print), None).read(sys.stdin.buffer):
    count, total = count + len(run), total + sum(run)
status = open("/proc/self/status").read()
print(count, total, int(status.split("VmHWM:")[1].split()[0]) // 1024)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc to read the peak memory from")
@pytest.mark.parametrize("separator", [" ", "\n"])
def test_ten_million_integers_are_streamed(separator: str) -> None:
    """On one line or on many, in less memory than their text takes."""
    part = "".join(f"{10_000_000 + i}{separator}" for i in range(1_000_000)).encode()
    with subprocess.Popen([sys.executable, "-c", PEAK], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
        assert reader.stdin is not None
        for _ in range(10):
            reader.stdin.write(part)
        count, total, peak = map(int, reader.communicate()[0].split())
    assert (count, total) == (10_000_000, 10 * sum(range(10_000_000, 11_000_000)))
    assert peak < len(part) * 10 / 2**20


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=80), st.integers(8, 64), st.integers(1, 90))
def test_no_integer_is_lost_or_cut_at_the_border_of_a_block(numbers: list[int], block: int, row: int) -> None:
    """With blocks of a few bytes, and rows that are shorter or longer than they are."""
    for separator in (" ", ",", " , "):
        rows = [numbers[i : i + row] for i in range(0, len(numbers), row)]
        text = "\n".join(separator.join(map(str, r)) for r in rows)
        with patch.object(numbers_module, "_LONG", block):
            seen = separator == " " or "," in text.partition("\n")[0][:block]
            if seen and (separator != " , " or block > 2 * len(f"{-(10**9)}{separator}")):
                assert runs(text) == [numbers]


@pytest.mark.parametrize("separator", [" ", ",", ";", "\n"])
def test_no_long_line_is_looked_at_field_by_field(separator: str) -> None:
    """Which takes twice as long; the first block is, to see what separates."""
    numbers = list(range(1000))
    with (
        patch.object(numbers_module, "_LONG", 64),
        patch.object(Table, "_lines", autospec=True, side_effect=Table._lines) as slow,
    ):
        assert runs(separator.join(map(str, numbers)) + "\n") == [numbers]
    assert slow.call_count == 1


def test_a_long_line_with_a_bad_field_keeps_the_rest() -> None:
    warnings: list[str] = []
    text = " ".join(["12345678"] * 400_000 + ["x"] + ["87654321"] * 400_000)
    found = runs(text, warnings=warnings)
    assert len(found) == 2
    assert sum(map(len, found)) > 600_000
    assert warnings[0] == "n.csv:1: skipped: 'x' is not an integer"
