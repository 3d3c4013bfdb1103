"""Text that is a table: found, taken apart into columns, each written the way of its type."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from kolmocli.archive.format.cells import LISTED, WORD, Column
from kolmocli.archive.format.container import FORMAT_VERSION
from kolmocli.archive.format.tables import MOST_COLUMNS, TableView, Template, view_of_table
from kolmocli.archive.search.columns import Fitted, fitted, shared_ends
from kolmocli.archive.search.rows import Rows, cut_cells, tables_in

_MOST_HEADER = 1 << 13
_MOST_CELLS_CUT = 8
"""Columns into which the cells of a column are cut at most."""


def find_table(data: bytes) -> tuple[TableView, array[int], bytes] | None:
    """The view of data that are a table, its items and its words; None where they are none."""
    for rows in tables_in(data):
        view, items, rest = _fit(rows)
        header = len(view.header) - len(rows.prefix) - len(rows.tail)
        fits = header <= _MOST_HEADER and len(view.template.columns) <= MOST_COLUMNS[FORMAT_VERSION]
        if fits and 0 < len(items) <= len(data) and view.join(items, rest, len(data)) == data:
            return view, items, rest
    return None


@dataclass(slots=True)
class _Table:
    """Columns and literals, added from left to right."""

    texts: list[bytes]
    columns: list[Column] = field(default_factory=list)
    items: array[int] = field(default_factory=lambda: array("q"))
    words: bytearray = field(default_factory=bytearray)

    def add(self, cells: Sequence[bytes], depth: int = 0) -> None:
        """A column, or a part of the literal where all cells are the same."""
        if cells.count(cells[0]) == len(cells):
            self.texts[-1] += cells[0]
            return
        start, end = shared_ends(cells)
        inner = [c[len(start) : len(c) - len(end)] for c in cells] if start or end else cells
        self.texts[-1] += start
        found = fitted(inner)
        cut = cut_cells(inner) if found.column.kind in (WORD, LISTED) and not depth else None
        if cut is not None and len(cut[1]) <= _MOST_CELLS_CUT and _clearer(cut[1]):
            between, columns = cut
            self.texts[-1] += between[0]
            for column, text in zip(columns, between[1:], strict=True):
                self.add(column, 1)
                self.texts[-1] += text
        else:
            self._write(found)
        self.texts[-1] += end

    def _write(self, found: Fitted) -> None:
        self.columns.append(found.column)
        self.items.extend(found.items)
        self.words += b"".join(word + b"\n" for word in found.words)
        self.texts.append(b"")


def _clearer(columns: Sequence[Sequence[bytes]]) -> bool:
    """Whether the parts of the cells say more than the cells: there are numbers among them."""
    return any(any(c[-1:].isdigit() for c in column[:8]) and len(set(column)) > 1 for column in columns)


def _fit(rows: Rows) -> tuple[TableView, array[int], bytes]:
    table = _Table([rows.literals[0]])
    for cells, literal in zip(rows.columns, rows.literals[1:], strict=True):
        table.add(cells)
        table.texts[-1] += literal
    template = Template(
        len(rows.columns[0]), tuple(table.columns), tuple(table.texts), rows.prefix, rows.cut, rows.tail
    )
    return view_of_table(template), table.items, bytes(table.words)
