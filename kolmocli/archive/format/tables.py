"""Text that is a table of numbers, seen column by column: CSV, JSON lines, logs, lists of numbers.

    original = prefix · rows × (literal 0 · cell 0 · literal 1 · … · literal n), less `cut` bytes at the end · tail

A cell is a number, or a word; numbers are the items of the view, one column after the other, and the words
stand behind them in the residual, column by column, each ended by a newline. Every form of number is exact: a
column takes the first form that writes all of its cells as they are.
"""

from __future__ import annotations

import itertools
import re
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from kolmocli.archive.errors import ArchiveError
from kolmocli.archive.format.container import varint
from kolmocli.archive.format.views import TABLE_NUMBER, View

WORD, PLAIN, PADDED, FIXED, SHORT = range(5)
"""Kinds of cells: text; `str` of an integer; digits filled with zeros to a width; an integer divided by 10 to the number of
decimals; the same without zeros at its end, except for the first decimal."""
_CELL = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?|\d+|[A-Za-z_]+")
_MOST_COLUMNS = 64
_MOST_HEADER = 4096
_LONGEST_SEPARATOR = 8
_MOST_ASIDE = 256
"""Bytes before and behind the rows that the header may hold in any case, and one in 20 of larger data."""
_MOST_DIGITS = 18
"""Numbers of more digits do not fit 64 bits, and make no table."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of numbers, or of words. `places` is the width of PADDED and the decimals of FIXED and SHORT."""

    kind: int
    places: int = 0
    word: str = "q"
    """Type of its items in the residual, as the module `array` names it."""

    def write(self, item: int) -> str:
        if self.kind == PLAIN:
            return str(item)
        if self.kind == PADDED:
            return f"{item:0{self.places}d}"
        sign, digits = "-" if item < 0 else "", f"{abs(item):0{self.places + 1}d}"
        whole, decimals = digits[: -self.places], digits[-self.places :]
        if self.kind == SHORT:
            decimals = decimals.rstrip("0") or "0"
        return f"{sign}{whole}.{decimals}"

    def least(self) -> int:
        """The fewest bytes of a cell."""
        return {WORD: 0, PLAIN: 1, PADDED: self.places, FIXED: self.places + 2, SHORT: 3}[self.kind]


@dataclass(frozen=True, slots=True)
class Template:
    """Everything of a table but its cells."""

    rows: int
    columns: tuple[Column, ...]
    literals: tuple[bytes, ...]
    """One more than the columns."""
    prefix: bytes = b""
    cut: int = 0
    tail: bytes = b""

    def numbers(self) -> list[Column]:
        return [c for c in self.columns if c.kind != WORD]

    def header(self) -> bytes:
        """The template as bytes, for the program stream."""
        out = bytearray(varint(self.rows) + varint(len(self.columns)))
        for column in self.columns:
            out += bytes([column.kind])
            if column.kind != WORD:
                out += bytes([column.places, _WORDS.index(column.word)])
        for text in (*self.literals, self.prefix, self.tail):
            out += varint(len(text)) + text
        return bytes(out + varint(self.cut))


_WORDS = "bhiq"
"""Signed words of 1, 2, 4 and 8 bytes."""


def read_template(take: Callable[[int], bytes], number: Callable[[], int]) -> Template:
    """`Template.header` back, from functions that take that many bytes, and a varint."""
    rows, count = number(), number()
    if count > _MOST_COLUMNS:
        raise ArchiveError(f"a table of more than {_MOST_COLUMNS} columns")
    columns = []
    for _ in range(count):
        kind = take(1)[0]
        if kind == WORD:
            columns.append(Column(WORD))
            continue
        places, word = take(2)
        if kind > SHORT or word >= len(_WORDS) or (kind in (FIXED, SHORT) and not 1 <= places <= _MOST_DIGITS):
            raise ArchiveError("a table with an unknown kind of column")
        columns.append(Column(kind, places, _WORDS[word]))
    texts = [take(number()) for _ in range(count + 3)]
    return Template(rows, tuple(columns), tuple(texts[:-2]), texts[-2], number(), texts[-1])


@dataclass(frozen=True, slots=True)
class TableView(View):
    """The view of one table."""

    template: Template = field(default_factory=lambda: Template(0, (), (b"",)))

    @property
    def header(self) -> bytes:
        return self.template.header()

    @property
    def least_bytes(self) -> int:
        return 1

    def word_at(self, position: int) -> str:
        """Items that a program takes from the residual are words of the column in which its first item lies."""
        numbers = self.template.numbers()
        return numbers[self.column_at(position)].word if numbers else "q"

    def column_at(self, position: int) -> int:
        return min(position // max(self.template.rows, 1), len(self.template.numbers()) - 1)

    def narrowed(self, fresh: Sequence[tuple[int, Sequence[int]]]) -> TableView:
        """The same with the narrowest words for what each column takes from the residual.

        `fresh` has where a program begins, and its items from the residual.
        """
        highest = [0] * len(self.template.numbers())
        for position, items in fresh:
            column = position // self.template.rows
            highest[column] = max(highest[column], *(x if x >= 0 else -1 - x for x in items))
        narrow = iter(next(w for w in _WORDS if highest_ < 1 << 8 * array(w).itemsize - 1) for highest_ in highest)
        columns = tuple(c if c.kind == WORD else replace(c, word=next(narrow)) for c in self.template.columns)
        return replace(self, template=replace(self.template, columns=columns))

    def join(self, items: array[int], rest: bytes, size: int) -> bytes:
        """The original.

        Raises:
            ArchiveError: when items and words do not fill the table, or it would be larger than `size`.
        """
        t = self.template
        least = t.rows * (sum(map(len, t.literals)) + sum(c.least() for c in t.columns)) - t.cut
        if len(items) != t.rows * len(t.numbers()) or least > size:
            raise ArchiveError("the table is not what its header says")
        cells: list[Sequence[bytes]] = []
        at = 0
        for column in t.columns:
            if column.kind == WORD:
                words = rest.split(b"\n", t.rows)
                if len(words) != t.rows + 1:
                    raise ArchiveError("the table has too few words")
                rest = words.pop()
                cells.append(words)
            else:
                cells.append([column.write(x).encode() for x in items[at : at + t.rows]])
                at += t.rows
        parts: list[Sequence[bytes]] = [(t.literals[0],) * t.rows]
        for column_cells, text in zip(cells, t.literals[1:], strict=True):
            parts += [column_cells, (text,) * t.rows]
        body = b"".join(itertools.chain.from_iterable(zip(*parts, strict=True)))
        return t.prefix + body[: len(body) - t.cut] + t.tail + rest


def find_table(data: bytes) -> tuple[TableView, array[int], bytes] | None:
    """The view of data that are a table, its items and its words; None where they are none."""
    for rows in _rows_of_lines, _rows_of_list:
        found = rows(data)
        if found is not None and (table := _fit(*found)) is not None:
            view, items, rest = table
            if items and len(view.header) <= _MOST_HEADER and view.join(items, rest, len(data)) == data:
                return table
    return None


Rows = tuple[bytes, list[bytes], list[tuple[bytes, ...]], int, bytes]
"""Prefix, literals, rows of cells, cut, tail."""


def _rows_of_lines(data: bytes) -> Rows | None:
    """Lines of one pattern, behind at most three others."""
    start = 0
    for _ in range(4):
        end = data.find(b"\n", start) + 1
        if not end:
            return None
        literals, cells = _pattern(data[start:end])
        if cells and len(cells) <= _MOST_COLUMNS:
            row = _row_pattern(literals, cells)
            if row.match(data, end):
                return _collect(data, start, row, literals)
        start = end
    return None


def _pattern(line: bytes) -> tuple[list[bytes], list[bytes]]:
    literals, cells, at = [], [], 0
    for match in _CELL.finditer(line):
        literals.append(line[at : match.start()])
        cells.append(match[0])
        at = match.end()
    return [*literals, line[at:]], cells


def _row_pattern(literals: list[bytes], cells: list[bytes]) -> re.Pattern[bytes]:
    parts = [re.escape(literals[0])]
    for cell, literal in zip(cells, literals[1:], strict=True):
        parts.append(rb"([A-Za-z_]*)" if not cell[-1:].isdigit() else rb"(-?\d+(?:\.\d+)?)")
        parts.append(re.escape(literal))
    return re.compile(b"".join(parts))


def _collect(data: bytes, start: int, row: re.Pattern[bytes], literals: list[bytes]) -> Rows | None:
    """All rows from `start` on, which must stand one directly behind the other to the end or to a last, cut row."""
    rows = []
    at = start
    for match in row.finditer(data, start):
        if match.start() != at:
            break
        rows.append(match.groups())
        at = match.end()
    tail, cut = data[at:], 0
    if tail and literals[-1].endswith(b"\n") and (last := row.fullmatch(tail + b"\n")):
        rows.append(last.groups())
        tail, cut = b"", 1
    if start + len(tail) > max(_MOST_ASIDE, len(data) // 20) or len(rows) < 3:
        return None
    return data[:start], literals, rows, cut, tail


def _rows_of_list(data: bytes) -> Rows | None:
    """Numbers with one separator, as in `1, 1, 2, 3, 5`, from where the separator is the same three times."""
    found = [m for m in itertools.islice(_CELL.finditer(data), 9) if m[0][-1:].isdigit()]
    separators = [data[a.end() : b.start()] for a, b in itertools.pairwise(found)]
    same = (i for i in range(len(separators) - 2) if separators[i] == separators[i + 1] == separators[i + 2])
    first = next(same, None)
    if first is None or not 0 < len(separators[first]) <= _LONGEST_SEPARATOR:
        return None
    literals = [b"", separators[first]]
    collected = _collect(data, found[first].start(), _row_pattern(literals, [b"0"]), literals)
    if collected is None:
        return None
    prefix, literals, rows, cut, tail = collected
    last = re.match(rb"-?\d+(?:\.\d+)?", tail)  # the last number has no separator behind it
    if last:
        return (prefix, literals, [*rows, (last[0],)], len(literals[-1]), tail[last.end() :])
    return prefix, literals, rows, cut, tail


def _fit(
    prefix: bytes, literals: list[bytes], rows: list[tuple[bytes, ...]], cut: int, tail: bytes
) -> tuple[TableView, array[int], bytes] | None:
    """Columns with their kinds; columns whose cells are all the same become part of the literals."""
    items, words = array("q"), bytearray()
    columns: list[Column] = []
    texts = [literals[0]]
    for cells, literal in zip(zip(*rows, strict=True), literals[1:], strict=True):
        if all(c == cells[0] for c in cells):
            texts[-1] += cells[0] + literal
            continue
        fitted = _numbers(cells)
        if fitted is None:
            words += b"".join(c + b"\n" for c in cells)
            columns.append(Column(WORD))
        else:
            columns.append(fitted[0])
            items.extend(fitted[1])
        texts.append(literal)
    template = Template(len(rows), tuple(columns), tuple(texts), prefix, cut, tail)
    return TableView(TABLE_NUMBER, "table", "q", template), items, bytes(words)


def _numbers(cells: Sequence[bytes]) -> tuple[Column, list[int]] | None:
    """The column that writes these cells, and its items; None where they are words."""
    if not all(c[-1:].isdigit() for c in cells) or max(map(len, cells)) > _MOST_DIGITS:
        return None
    texts = [c.decode() for c in cells]
    decimals = max(len(t.partition(".")[2]) for t in texts)
    choices = [Column(FIXED, decimals), Column(SHORT, decimals)] if decimals else [Column(PLAIN)]
    if not decimals:
        choices.append(Column(PADDED, len(texts[0])))
    items = [_scaled(t, decimals) for t in texts]
    for column in choices:
        if all(map(str.__eq__, map(column.write, items), texts)):
            return column, items
    return None


def _scaled(text: str, decimals: int) -> int:
    whole, _, part = text.partition(".")
    return int(whole + part.ljust(decimals, "0"))
