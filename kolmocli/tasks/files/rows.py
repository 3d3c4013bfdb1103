"""The rows of a file, whatever its format, as decoded objects with the places where they begin. Nothing is evaluated.

- JSON Lines: one value a line. JSON: one array of rows, or an object that holds them.
- CSV with a header that names a column of tasks or predictions, in any order, in capitals or not, with commas, semicolons
  or tabs; a row may go on over several lines. Lists are JSON.
- Parquet and data sets: `tables.py`. Integer sequences of the OEIS: `oeis.py`.
"""

from __future__ import annotations

import contextlib
import csv
import json
import re
from collections import deque
from collections.abc import Iterator
from itertools import chain
from typing import Any

from kolmocli.errors import UsageError
from kolmocli.plain import parsed
from kolmocli.tasks.files.guessed import ANSWERS, IDS, PROMPTS, TESTS
from kolmocli.tasks.files.layouts import LAYOUTS, Columns
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
"""A header of CSV names one of these, whatever the file is called."""
_KNOWN = frozenset(
    name.lower() for name in (*_TELLING, *PROMPTS, *ANSWERS, *TESTS, *IDS, *(key for each in LAYOUTS for key in each.has if len(key) > 1))
)  # fmt: skip
"""A header of a file that is called CSV names one of these."""
_CSV = re.compile(r"\.[ct]sv(?:\.gz)?\Z", re.IGNORECASE)
_MMLU = ["Question", "A", "B", "C", "D", "Answer"]
"""The columns of the tables of MMLU, which have no header."""
_LISTS = ("sequence", "test_list", "inputs", "outputs")
_MAX_ROW = 1024
"""Lines of one row of CSV: more than any program has. Nor is a row longer than a line may be."""
_MOST_JSON = 1 << 30
"""Characters of a file that is one value of JSON, which is held whole."""


def rows(name: str, problems: Problems, *, columns: Columns | None = None) -> Iterator[tuple[Where, Any]]:
    """The rows that can be decoded. Others go to `problems`. `columns` are those that a user names.

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
        elif _is_whole(first[1]):
            yield from _json(chain([first], lines), problems)
        elif (header := _header(first[1], problems.name, columns)) is not None:
            names, delimiter = header
            rest = chain([first], lines) if names == _MMLU and first[1].partition(",")[0] != "Question" else lines
            yield from _csv_rows(rest, names, delimiter, problems)
        else:
            yield from _json_lines(first, lines, problems)


def _is_whole(line: str) -> bool:
    """Whether a file that begins with this line is one value of JSON, and not one a line."""
    bare = line.strip()
    if bare[:1] not in ("[", "{"):
        return False
    try:
        found = parsed(bare)
    except ValueError:
        return bare[:1] == "[" or bare == "{"
    if isinstance(found, dict):  # a row, unless what it holds are rows
        try:
            return len(_rows_of(found)) > 1
        except ValueError:
            return True
    return isinstance(found, list) and bool(found) and all(isinstance(each, dict) for each in found)


def _json(lines: Iterator[tuple[int, str]], problems: Problems) -> Iterator[tuple[Where, Any]]:
    """The rows of one value of JSON: an array of them, an object that holds one, or one row by its name each. A file that is
    none, and has rows on lines of their own, is read line by line."""
    held, size = list[tuple[int, str]](), 0
    for number, line in lines:
        held.append((number, line))
        size += len(line)
        if size > _MOST_JSON:
            raise UsageError(f"{problems.name}: one value of JSON above {_MOST_JSON >> 30} GiB; write one row a line")
    try:
        made = _rows_of(parsed("\n".join(line for _, line in held)))
    except json.JSONDecodeError as error:
        if len(held) > 1 and not any(map(_is_row, held)):
            place = held[error.lineno - 1][0] if error.lineno <= len(held) else held[-1][0]
            raise UsageError(f"{problems.name}:{place}: broken JSON: {error.msg} at character {error.colno}") from None
        yield from _json_lines(held[0], iter(held[1:]), problems)
        return
    except ValueError as error:
        raise UsageError(f"{problems.name}: {error}") from None
    for number, row in enumerate(made, start=1):
        yield f"row {number}", row


def _is_row(line: tuple[int, str]) -> bool:
    with contextlib.suppress(ValueError):
        return isinstance(parsed(line[1]), dict)
    return False


def _rows_of(found: Any) -> list[Any]:
    """Rows in an array, under one key of an object, under a name each, or column by column. Raises ValueError where several
    keys hold rows."""
    if isinstance(found, list):
        return found
    if _asks(found):
        return _of_columns(found) or [found]
    lists = {key: each for key, each in found.items() if isinstance(each, list) and each and _asks(_row(each[0]))}
    if len(lists) > 1:
        raise ValueError(f"rows under several keys, {', '.join(lists)}; keep one of them")
    if lists:
        return [_row(each) for rows in lists.values() for each in rows]
    if found and all(isinstance(each, dict) and "from" not in each for each in found.values()):
        return [{"task_id": name, **row} for name, row in found.items()]
    return [found]


def _row(value: Any) -> Any:
    """A row, which the viewer of the hub hands out in an object of its own."""
    return value["row"] if isinstance(value, dict) and isinstance(value.get("row"), dict) else value


def _of_columns(found: dict[str, Any]) -> list[Any]:
    """Rows of columns, which are lists, or objects from a number to a cell; none where it is a row itself."""
    columns = [list(each.values()) if isinstance(each, dict) else each for each in found.values()]
    sizes = {len(each) if isinstance(each, list) else 0 for each in columns}
    asked = [each for name, each in zip(found, columns, strict=True) if name.lower() in PROMPTS]
    if len(sizes) > 1 or sizes == {0} or not all(isinstance(cell, str) for each in asked for cell in each):
        return []
    return [dict(zip(found, cells, strict=True)) for cells in zip(*columns, strict=True)]


def decoded(text: str) -> Any:
    """A JSON value. Raises ValueError, which says where it is broken."""
    try:
        return parsed(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"broken JSON: {error.msg} at character {error.pos + 1}") from None


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


def _asks(value: Any) -> bool:
    return isinstance(value, dict) and any(name.lower() in PROMPTS for name in value)


def _header(line: str, name: str, asked: Columns | None) -> tuple[list[str], str] | None:
    """(columns, what separates them) of a CSV header; None for any other line.

    Raises:
        UsageError: the file is called CSV, and its header names nothing that a row of tasks has.
    """
    if line.lstrip()[:1] in ("{", "["):
        return None
    is_csv = _CSV.search(name) is not None
    found = list[tuple[list[str], str]]()
    for delimiter in (",", "\t", ";"):
        with contextlib.suppress(csv.Error, StopIteration):
            names = [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter))]
            found.append((names, delimiter))
            wanted = (
                {column.lower() for column in asked.used()} if asked is not None else _KNOWN if is_csv else _TELLING
            )
            if wanted & {cell.lower() for cell in names}:
                return names, delimiter
    if not is_csv or not found:
        return None
    names, delimiter = max(found, key=lambda each: len(each[0]))
    if len(names) == len(_MMLU) and names[-1] in ("A", "B", "C", "D"):
        return _MMLU, delimiter
    raise UsageError(
        f"{name}:1: the header names {', '.join(names)[:200]}, none of which is a column of tasks; name yours with "
        f"--columns prompt={names[0][:40]},answer={names[-1][:40]}"
    )


def _csv_rows(
    lines: Iterator[tuple[int, str]], columns: list[str], delimiter: str, problems: Problems
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows as objects, without their empty cells."""
    for number, row in _whole_rows(lines, delimiter, problems):
        try:
            if len(row) != len(columns):
                raise ValueError(f"{len(row)} fields; the header names {len(columns)}")
            cells: dict[str, Any] = {
                name: cell for name, cell in zip(columns, row, strict=True) if cell or name == "sequence"
            }
            for name in _LISTS:
                if name in cells:
                    with contextlib.suppress(
                        *(() if name == "sequence" else (ValueError,))
                    ):  # a text alone is one input
                        cells[name] = decoded(cells[name])
            yield number, cells
        except ValueError as error:
            problems.bad(number, error)


def _whole_rows(
    lines: Iterator[tuple[int, str]], delimiter: str, problems: Problems
) -> Iterator[tuple[int, list[str]]]:
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
            yield line[0], next(csv.reader(_with_blank_lines(row), strict=True, delimiter=delimiter))
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
