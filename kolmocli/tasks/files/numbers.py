"""Integers of any size from text: separated by white space, or the columns of a CSV file.

The first line shows the separator: tabs, semicolons, commas, else white space. Lines that begin with # are
comments; a first line without any integer names the columns. A line that holds anything else is bad: it is left
out whole, and the sequence breaks there.
"""

from __future__ import annotations

import contextlib
import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from kolmocli.errors import UsageError
from kolmocli.tasks.files.lines import without_mark
from kolmocli.tasks.files.problems import Problems

_LONG = 1 << 20
"""Bytes that are read at once; a longer line is read in pieces."""
_MAX_DIGITS = 4300
"""Most digits that Python's int takes; see sys.set_int_max_str_digits."""

_DECIMAL = re.compile(r"[-+]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][-+]?\d+)?")


class Table:
    """Reads one file; `column` is a name from the first line, or a number from 1, or None for all of them."""

    def __init__(self, problems: Problems, column: str | None) -> None:
        self._problems = problems
        self._column = column
        self._index: int | None = None
        self._separator: str | None = None
        self._first = True

    def read(self, stream: BinaryIO) -> Iterator[list[int] | None]:
        """The integers of each line, in order, with a break for every bad line.

        Raises:
            UsageError: there is no such column.
        """
        for block in _blocks(stream, self._problems.name):
            text = block.data.decode("utf-8", "replace")
            plain = None if self._first or self._index is not None else _all_plain(text, self._separator, block.ends)
            if plain is not None:
                yield plain
            else:
                yield from self._lines(text, block)

    def _lines(self, text: str, block: _Block) -> Iterator[list[int] | None]:
        """The block line by line: slower, but a bad line is found and the others are kept."""
        lines = text.split("\n")
        for at, line in enumerate(lines):
            if not line.strip() or line.startswith("#"):
                continue
            whole = not (at == 0 and block.inside) and not (at == len(lines) - 1 and not block.ends)
            try:
                if self._first:
                    self._separator = next((s for s in "\t;," if s in line), None)
                    names, self._first = self._opens(line, whole), False
                    if names:
                        continue
                yield self._integers(line, whole)
            except ValueError as error:
                self._problems.bad(block.number + at, error)
                yield None

    def _opens(self, text: str, whole: bool) -> bool:
        """Look at the first line: find the column; True when it holds names and no data."""
        fields = self._fields(text) if whole else []
        names = bool(fields) and not any(_looks_whole(f) for f in fields)
        if self._column is None:
            return names
        if names and self._column in fields:
            self._index = fields.index(self._column)
        elif self._column.isdecimal() and 1 <= int(self._column) <= len(fields):
            self._index = int(self._column) - 1
        else:
            there = ", ".join(fields) if names else f"1 to {len(fields)}"
            raise UsageError(f"{self._problems.name}: --column {self._column}: there are {there}")
        return names

    def _integers(self, text: str, whole: bool) -> list[int]:
        if self._index is not None and not whole:
            raise ValueError(f"longer than {_LONG >> 20} MiB")
        fields = self._fields(text)
        if self._index is not None:
            if self._index >= len(fields):
                raise ValueError(f"has {len(fields)} fields, no field {self._index + 1}")
            fields = [fields[self._index]]
        elif fields and not fields[-1]:
            fields.pop()  # a comma at the end of the line
        return _numbers(fields, plain=text.isascii() and "_" not in text)

    def _fields(self, text: str) -> list[str]:
        if '"' in text:
            return _quoted(text, self._separator)
        return [f.strip() for f in text.split(self._separator)] if self._separator else text.split()


def _numbers(fields: list[str], plain: bool) -> list[int]:
    """`plain` says that nothing is in the text which int() takes and this format does not: 1_000, ٣."""
    if plain or all(map(_looks_whole, fields)):
        with contextlib.suppress(ValueError):
            return list(map(int, fields))
    wrong = next(f for f in fields if not _looks_whole(f) or len(f) > _MAX_DIGITS)
    raise ValueError(_complaint(wrong))


def _quoted(text: str, separator: str | None) -> list[str]:
    try:
        row = next(csv.reader([text], delimiter=separator or " ", skipinitialspace=True, strict=True))
    except csv.Error as error:
        raise ValueError(f"quotes that do not match: {error}") from None
    return [field.strip() for field in row]


def _looks_whole(field: str) -> bool:
    digits = field[1:] if field[:1] in ("-", "+") else field
    return digits.isascii() and digits.isdecimal()


def _complaint(field: str) -> str:
    if _looks_whole(field):
        return f"an integer of more than {_MAX_DIGITS:,} digits"
    if not field:
        return "a field is empty"
    decimal = (
        "; only integers are taken: multiply decimals by a power of ten first" if _DECIMAL.fullmatch(field) else ""
    )
    return f"{field[:40]!r} is not an integer{decimal}"


def _all_plain(text: str, separator: str | None, ends: bool) -> list[int] | None:
    """The integers of a block at once, if there is nothing else in it; None to look at every line.

    A block that does not end with a line ends behind a separator, after which no empty field follows.
    """
    if not text.isascii() or any(mark in text for mark in '"#_'):
        return None
    try:
        found = list(map(int, (text.replace(separator, " ") if separator else text).split()))
    except ValueError:
        return None
    open_end = ends and not text.endswith("\n")
    if separator and len(found) != text.count(separator) + text.count("\n") + open_end:
        return None  # a blank line, an empty field, or two integers in one
    return found


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines of a file, the first of them `number`. A line of more than a block is in several."""

    number: int
    data: bytes
    inside: bool
    """It begins in the middle of a line, between two integers."""
    ends: bool
    """Its last line is whole."""


def _blocks(stream: BinaryIO, name: str) -> Iterator[_Block]:
    number, inside = 1, False
    held, chunk = without_mark(stream.read(_LONG), name), b"more"
    while chunk:
        chunk = stream.read(_LONG)
        data = held + chunk
        end = _cut(data) if chunk else len(data)
        data, held = data[:end], data[end:]
        if data:
            ends = data.endswith(b"\n") or not chunk
            yield _Block(number, data, inside, ends)
            number += data.count(b"\n")
            inside = not ends


def _cut(data: bytes) -> int:
    """After the last line end; in a line without one, after the last integer; in what is neither, at the end.

    A space next to commas or semicolons separates nothing: what comes after it may begin with one of them.
    """
    end = data.rfind(b"\n") + 1 or max(data.rfind(mark) for mark in (b"\t", b";", b",")) + 1 or data.rfind(b" ") + 1
    return end or (0 if len(data) < 3 * _LONG else len(data))
