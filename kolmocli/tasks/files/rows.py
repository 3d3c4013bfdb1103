"""The rows of a file, whatever its format, as decoded objects with the places where they begin. Nothing is evaluated.

- JSON Lines: one value a line.
- CSV with a header that names a column of tasks or predictions; a row may go on over several lines. Lists are JSON.
- Parquet and data sets: `tables.py`. Integer sequences of the OEIS: `oeis.py`.
"""

from __future__ import annotations

import contextlib
import csv
import json
from collections import deque
from collections.abc import Iterator
from itertools import chain
from typing import Any

from kolmocli.tasks.files.lines import MAX_LINE, text_lines
from kolmocli.tasks.files.oeis import reader_of
from kolmocli.tasks.files.problems import Problems
from kolmocli.tasks.files.streams import reading
from kolmocli.tasks.files.tables import is_table, table_rows

Where = int | str
"""The number of a line, or words such as `row 7`."""
_TELLING = frozenset(
    {"sequence", "answer", "test", "test_list", "outputs", "completion", "solution", "generation"}
)  # fmt: skip
"""A header of CSV names one of these."""
_LISTS = ("sequence", "test_list", "inputs", "outputs")
_MAX_ROW = 1024
"""Lines of one row of CSV: more than any program has. Nor is a row longer than a line may be."""


def rows(name: str, problems: Problems) -> Iterator[tuple[Where, Any]]:
    """The rows that can be decoded. Others go to `problems`.

    Raises:
        UsageError: the file cannot be read.
        EnvironmentMissing: what reads its format is not installed.
    """
    if is_table(name):
        yield from table_rows(name)
        return
    with reading(name) as stream:
        lines = text_lines(stream, problems)
        first = next(lines, None)
        if first is None:
            return
        if (read := reader_of(first[1])) is not None:
            yield from read(chain([first], lines), problems)
            return
        columns = _columns(first[1])
        yield from _csv_rows(lines, columns, problems) if columns else _json_lines(first, lines, problems)


def decoded(text: str) -> Any:
    """A JSON value. Raises ValueError, which says where it is broken."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"broken JSON: {error.msg} at character {error.pos + 1}") from None
    except ValueError as error:  # what Python says of an integer of thousands of digits goes on to talk to programmers
        raise ValueError(str(error).partition(";")[0]) from None


def _json_lines(
    first: tuple[int, str], lines: Iterator[tuple[int, str]], problems: Problems
) -> Iterator[tuple[int, Any]]:
    pending = [first]
    while pending:
        number, line = pending.pop()
        try:
            yield number, decoded(line)
        except ValueError as error:
            problems.bad(number, error)
        pending += [item for item in [next(lines, None)] if item]


def _columns(line: str) -> list[str]:
    """The columns of a CSV header; nothing for any other line."""
    if line.lstrip()[:1] in ("{", "["):
        return []
    with contextlib.suppress(csv.Error, StopIteration):
        names = [name.strip() for name in next(csv.reader([line]))]
        return names if _TELLING & set(names) else []
    return []


def _csv_rows(
    lines: Iterator[tuple[int, str]], columns: list[str], problems: Problems
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows as objects, without their empty cells."""
    for number, row in _whole_rows(lines, problems):
        try:
            if len(row) != len(columns):
                raise ValueError(f"{len(row)} fields; the header names {len(columns)}")
            cells = {name: cell for name, cell in zip(columns, row, strict=True) if cell or name == "sequence"}
            yield number, cells | {name: decoded(cells[name]) for name in _LISTS if name in cells}
        except ValueError as error:
            problems.bad(number, error)


def _whole_rows(lines: Iterator[tuple[int, str]], problems: Problems) -> Iterator[tuple[int, list[str]]]:
    """Rows of CSV, which go on while a quote is open. Wrong quotes cost their own line, not the rows after it."""
    again: deque[tuple[int, str]] = deque()
    while line := again.popleft() if again else next(lines, None):
        row, quotes, size = [line], line[1].count('"'), len(line[1])
        while quotes % 2 and len(row) < _MAX_ROW and size <= MAX_LINE:
            more = again.popleft() if again else next(lines, None)
            if more is None:
                break
            row.append(more)
            quotes += more[1].count('"')
            size += len(more[1])
        try:
            yield line[0], next(csv.reader(_with_blank_lines(row), strict=True))
        except csv.Error as error:
            problems.bad(line[0], error)
            again.extendleft(reversed(row[1:]))


def _with_blank_lines(row: list[tuple[int, str]]) -> Iterator[str]:
    """The lines of a row with the blank ones among them, which are not handed out with the others."""
    number = row[0][0]
    for place, text in row:
        yield from ["\n"] * min(place - number, _MAX_ROW)
        yield f"{text}\n"
        number = place + 1
