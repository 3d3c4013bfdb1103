"""Text as rows of cells: which lines have one pattern, and what of them changes from row to row.

A pattern is a way to cut a line into cells and what stands between them. The first is taken under which most lines have the
same between their cells; what lies before and behind those lines is kept as it is.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

_NUMBER = rb"-?\d+(?:\.\d+)?"
_TOKEN = re.compile(rb"((?<![\w.])-?\d+(?:\.\d+)?|\d+|[A-Za-z_]+)")
_JSON = re.compile(rb'("(?:[^"\\\n]|\\.)*"|-?\d[\d.eE+-]*|[A-Za-z]+)')
_ALIGNED = re.compile(rb"( *[^ \n\r]+)")


def _quoted(delimiter: bytes) -> re.Pattern[bytes]:
    return re.compile(rb'((?<![^%b])(?:"(?:[^"\n]|"")*"|[^%b\r\n]*))' % (delimiter, delimiter))


_QUOTED = {delimiter: _quoted(delimiter) for delimiter in (b",", b"\t", b";", b"|")}
_QUOTED_BY_SPACE = _quoted(b" ")
_IS_NUMBER = re.compile(rb'[" ]*[-+]?(?:\d+\.?\d*|\.\d+)[" ]*')
_MOST_TITLES = 3
_LEAST_ROWS = 3
_MOST_ASIDE = 256
"""Bytes before and behind the rows that a table may have in any case, and one in 20 of larger data."""
_MOST_ASIDE_LINES = 64
_LONGEST_SEPARATOR = 8


@dataclass(frozen=True, slots=True)
class Rows:
    """A table as text: columns of cells with literals around them."""

    prefix: bytes
    literals: list[bytes]
    columns: list[Sequence[bytes]]
    cut: int
    tail: bytes


def tables_in(data: bytes) -> Iterator[Rows]:
    """The ways to see the data as rows, the most telling first."""
    lines = data.split(b"\n")
    for pattern in _patterns(data):
        found = _rows_of_lines(data, lines, pattern)
        if found is not None:
            yield found
    found = _rows_of_list(data)
    if found is not None:
        yield found


Pattern = Callable[[bytes], list[bytes]]
"""A line to what stands between cells, and cells, in turn."""


def _patterns(data: bytes) -> Iterator[Pattern]:
    if data.lstrip()[:1] in (b"{", b"["):
        yield _JSON.split
    head = data[: 1 << 14]
    for delimiter, quoted in sorted(_QUOTED.items(), key=lambda pair: -head.count(pair[0])):
        if delimiter in head:
            yield _delimited(delimiter, quoted)
    yield _delimited(b" ", _QUOTED_BY_SPACE)
    yield _TOKEN.split
    yield _ALIGNED.split


def _delimited(delimiter: bytes, quoted: re.Pattern[bytes]) -> Pattern:
    def split(line: bytes) -> list[bytes]:
        end = b"\r" if line.endswith(b"\r") else b""
        if b'"' in line:
            return quoted.split(line)
        cells = line[: len(line) - len(end)].split(delimiter)
        out = [delimiter] * (2 * len(cells) + 1)
        out[1::2] = cells
        out[0], out[-1] = b"", end
        return out

    return split


def _rows_of_lines(data: bytes, lines: list[bytes], pattern: Pattern) -> Rows | None:
    """Lines of one pattern, one directly behind the other, from near the beginning to near the end."""
    ended = data.endswith(b"\n")
    count = len(lines) - ended
    probe = pattern(lines[count // 2])
    between = probe[::2]
    if len(probe) < 3:
        return None
    allowed = max(_MOST_ASIDE, len(data) // 20)
    first = next((i for i in range(min(_MOST_ASIDE_LINES, count)) if pattern(lines[i])[::2] == between), None)
    if first is None:
        return None
    rows: list[list[bytes]] = []
    for line in itertools.islice(lines, first, count):
        parts = pattern(line)
        if parts[::2] != between:
            break
        rows.append(parts[1::2])
    rest = lines[first + len(rows) : count]
    titles = _titles(rows)
    prefix = b"".join(line + b"\n" for line in lines[: first + titles])
    del rows[:titles]
    cut = 0 if rest or ended else 1
    tail = b"\n".join(rest) + (b"\n" if rest and ended else b"")
    if len(rows) < _LEAST_ROWS or len(prefix) + len(tail) > allowed:
        return None
    return Rows(prefix, [*between[:-1], between[-1] + b"\n"], list(zip(*rows, strict=True)), cut, tail)


def _titles(rows: Sequence[Sequence[bytes]]) -> int:
    """Number of first rows with words where the others have numbers."""
    usual = rows[len(rows) // 2]
    numbers = [i for i, cell in enumerate(usual) if _IS_NUMBER.fullmatch(cell)]
    titles = 0
    for row in rows[:_MOST_TITLES]:
        named = sum(not _IS_NUMBER.fullmatch(row[i]) and bool(row[i].strip()) for i in numbers)
        if not named or 2 * named < len(numbers):
            break
        titles += 1
    return titles


def _rows_of_list(data: bytes) -> Rows | None:
    """Numbers with one separator, as in `1, 1, 2, 3, 5`, from where the separator is the same three times."""
    found = [m for m in itertools.islice(_TOKEN.finditer(data), 9) if m[0][-1:].isdigit()]
    separators = [data[a.end() : b.start()] for a, b in itertools.pairwise(found)]
    same = (i for i in range(len(separators) - 2) if separators[i] == separators[i + 1] == separators[i + 2])
    first = next(same, None)
    if first is None or not 0 < len(separators[first]) <= _LONGEST_SEPARATOR:
        return None
    separator, start, cells = separators[first], found[first].start(), list[bytes]()
    at = start
    for match in re.compile(rb"(%b)%b" % (_NUMBER, re.escape(separator))).finditer(data, start):
        if match.start() != at:
            break
        cells.append(match[1])
        at = match.end()
    tail, cut = data[at:], 0
    last = re.match(_NUMBER, tail)  # the last number has no separator behind it
    if last:
        cells.append(last[0])
        cut, tail = len(separator), tail[last.end() :]
    if start + len(tail) > max(_MOST_ASIDE, len(data) // 20) or len(cells) < _LEAST_ROWS:
        return None
    return Rows(data[:start], [b"", separator], [cells], cut, tail)


def cut_cells(cells: Sequence[bytes]) -> tuple[list[bytes], list[Sequence[bytes]]] | None:
    """Cells of one pattern of their own, such as dates: what stands between, and the columns; None where they have none."""
    between = _TOKEN.split(cells[0])[::2]
    if len(between) < 3:
        return None
    rows = []
    for cell in cells:
        parts = _TOKEN.split(cell)
        if parts[::2] != between:
            return None
        rows.append(parts[1::2])
    return between, list(zip(*rows, strict=True))
