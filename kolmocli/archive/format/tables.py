"""Text that is a table, seen column by column: CSV, JSON lines, fixed widths, logs, lists of numbers.

    original = prefix · rows × (literal 0 · cell 0 · literal 1 · … · literal n), less `cut` bytes at the end · tail

Cells that are numbers, moments or words of a list are the items of the view, one column after the other. All other text
stands behind them in the residual, column by column, each word ended by a newline.
"""

from __future__ import annotations

import itertools
from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from kolmocli.archive.errors import ArchiveError
from kolmocli.archive.format.cells import (
    ALIGNED,
    BARE,
    FIXED,
    LISTED,
    MIXED,
    MOST_DIGITS,
    SHORT,
    TIME,
    TRIMMED,
    WORD,
    WORDS,
    Column,
    cells_of,
    words_of,
)
from kolmocli.archive.format.container import FORMAT_VERSION, varint
from kolmocli.archive.format.views import TABLE_NUMBER, View

MOST_COLUMNS = {2: 64, 3: 1024}
"""By version of the format."""
_LAST_KIND = {2: SHORT, 3: LISTED}
_FLAGS = {2: 0, 3: BARE | ALIGNED | MIXED}
_MOST_PATTERN = 64
_CELLS_PER_BYTE = 2
"""At most, for each byte of the original. It bounds the memory of empty cells."""
_ROWS_AT_ONCE = 1 << 12


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
        """The columns that have items."""
        return [c for c in self.columns if c.kind != WORD]

    def ends(self) -> list[int]:
        """For each of them the number of items up to its end."""
        return list(itertools.accumulate(c.items(self.rows) for c in self.numbers()))

    def header(self) -> bytes:
        """The template as bytes, for the program stream."""
        out = bytearray(varint(self.rows) + varint(len(self.columns)))
        for column in self.columns:
            out += _column_header(column)
        for text in (*self.literals, self.prefix, self.tail):
            out += varint(len(text)) + text
        return bytes(out + varint(self.cut))


def _column_header(column: Column) -> bytes:
    if column.kind == WORD:
        return bytes([WORD])
    out = bytes([column.kind | column.flags, column.places, WORDS.index(column.word)])
    if column.flags & ALIGNED:
        out += bytes([column.width])
    if column.flags & MIXED:
        out += varint(column.numbers)
    if column.kind == TIME:
        out += varint(len(column.pattern)) + column.pattern.encode("latin-1")
    return out


def read_template(take: Callable[[int], bytes], number: Callable[[], int], version: int = FORMAT_VERSION) -> Template:
    """`Template.header` back, from functions that take that many bytes, and a varint."""
    rows, count = number(), number()
    if count > MOST_COLUMNS[version]:
        raise ArchiveError(f"a table of more than {MOST_COLUMNS[version]} columns")
    columns = tuple(_read_column(take, number, version) for _ in range(count))
    if any(not 0 <= c.numbers <= rows for c in columns if c.flags & MIXED):
        raise ArchiveError("a table with a column of more numbers than rows")
    texts = [take(number()) for _ in range(count + 3)]
    return Template(rows, columns, tuple(texts[:-2]), texts[-2], number(), texts[-1])


def _read_column(take: Callable[[int], bytes], number: Callable[[], int], version: int) -> Column:
    first = take(1)[0]
    kind, flags = first & 15, first & ~15
    if first == WORD:
        return Column(WORD)
    places, word = take(2)
    decimal = kind in (FIXED, SHORT, TRIMMED)
    if (
        not WORD < kind <= _LAST_KIND[version]
        or flags & ~_FLAGS[version]
        or word >= len(WORDS)
        or (decimal and not 1 <= places <= MOST_DIGITS)
        or (kind == LISTED and flags)
    ):
        raise ArchiveError("a table with an unknown kind of column")
    width = take(1)[0] if flags & ALIGNED else 0
    numbers = number() if flags & MIXED else -1
    pattern = ""
    if kind == TIME:
        length = number()
        if length > _MOST_PATTERN:
            raise ArchiveError("a table with a moment of too many characters")
        pattern = take(length).decode("latin-1")
        if "f" in pattern and pattern.count("f") > MOST_DIGITS:
            raise ArchiveError("a table with a moment of too many digits")
    return Column(kind, places, WORDS[word], flags, width, numbers, pattern)


@dataclass(frozen=True, slots=True)
class TableView(View):
    """The view of one table."""

    template: Template = field(default_factory=lambda: Template(0, (), (b"",)))
    ends: tuple[int, ...] = ()
    """End of the items of each column."""

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
        return max(min(bisect_right(self.ends, position), len(self.ends) - 1), 0)

    def starts(self, count: int) -> list[int]:
        return [0, *self.ends[:-1]]

    def narrowed(self, fresh: Sequence[tuple[int, Sequence[int]]]) -> TableView:
        """The same with the narrowest words for what each column takes from the residual.

        `fresh` has where a program begins, and its items from the residual.
        """
        highest = [0] * len(self.ends)
        for position, items in fresh:
            column = self.column_at(position)
            highest[column] = max(highest[column], *(x if x >= 0 else -1 - x for x in items))
        narrow = iter(next(w for w in WORDS if highest_ < 1 << 8 * array(w).itemsize - 1) for highest_ in highest)
        columns = tuple(c if c.kind == WORD else replace(c, word=next(narrow)) for c in self.template.columns)
        return replace(self, template=replace(self.template, columns=columns))

    def join(self, items: array[int], rest: bytes, size: int) -> bytes:
        """The original.

        Raises:
            ArchiveError: when items and words do not fill the table, or it would be larger than `size`.
        """
        t = self.template
        least = t.rows * (sum(map(len, t.literals)) + sum(c.least() for c in t.columns)) - t.cut
        crowded = t.rows * len(t.columns) > _CELLS_PER_BYTE * size
        if len(items) != (self.ends[-1] if self.ends else 0) or least > size or t.rows > size or crowded:
            raise ArchiveError("the table is not what its header says")
        cells: list[Sequence[bytes]] = []
        at = 0
        for column in t.columns:
            words = list[bytes]()
            if wanted := words_of(column, t.rows):
                words = rest.split(b"\n", wanted)
                if len(words) != wanted + 1:
                    raise ArchiveError("the table has too few words")
                rest = words.pop()
            own = items[at : at + column.items(t.rows)]
            at += len(own)
            cells.append(cells_of(column, own, words))
            # a word of a list may be long, and stand in every row
            size -= sum(map(len, cells[-1])) - t.rows * column.least()
            if least > size:
                raise ArchiveError("the table is larger than its header says")
        parts: list[Sequence[bytes]] = [(t.literals[0],) * t.rows]
        for column_cells, text in zip(cells, t.literals[1:], strict=True):
            parts += [column_cells, (text,) * t.rows]
        rows, body = zip(*parts, strict=True), bytearray()
        for _ in range(0, t.rows, _ROWS_AT_ONCE):
            body += b"".join(itertools.chain.from_iterable(itertools.islice(rows, _ROWS_AT_ONCE)))
        return t.prefix + bytes(body[: len(body) - t.cut]) + t.tail + rest


def view_of_table(template: Template) -> TableView:
    return TableView(TABLE_NUMBER, "table", "q", template, tuple(template.ends()))
