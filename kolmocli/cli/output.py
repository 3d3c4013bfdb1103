"""Results on stdout, as one JSON object or as a table."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kolmocli.console import enduring, printable
from kolmocli.plain import finite

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.table import Table

SCHEMA_VERSION = 1
_UNMEASURED = 120
"""Columns where nothing says how wide: a file or a pipe."""
_WORDS, _WIDEST = 16, 10_000
"""Least width of a column of words, and the width of what is measured."""


def print_json(result: Mapping[str, Any]) -> None:
    """One object with `schema_version`, and nothing else, on stdout.

    Not-a-number has no JSON form: it is written as null, as in the files of a run. Letters that stdout lacks are escapes.
    """
    object_ = finite({"schema_version": SCHEMA_VERSION, **result})
    text = json.dumps(object_, indent=2, ensure_ascii=not speaks_unicode(), allow_nan=False)
    # What a terminal might obey, or UTF-8 has no bytes for, is inside a string, where an escape means the same.
    for line in text.split("\n"):
        print(line if line.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line))


def speaks_unicode() -> bool:
    """Whether stdout can show every letter."""
    return "utf" in (sys.stdout.encoding or "utf-8").lower()


def print_line(text: object, kept: str = "") -> None:
    """A line on stdout, safe for words of strangers; several where `kept` has the line end. Every command prints with this,
    `show` or `print_json`."""
    print(printable(str(text), kept), flush=True)


def remark(line: str, end: str = "\n") -> None:
    """A line on stderr, in the place of the progress that stands there on a terminal; with `end="\\r"` it is progress itself."""
    line = printable(line)
    terminal = sys.stderr.isatty()
    print(f"\r\033[K{line}" if terminal else line, end=end if terminal else "\n", file=sys.stderr, flush=True)


def show(*parts: RenderableType) -> None:
    """Tables and text (which has no markup) on stdout, as wide as the terminal, or wide enough for a file or a pipe.

    A table of figures may be wider: the terminal breaks its lines, and no figure is cut. Columns of words fold.
    """
    console = stdout()
    for part in parts:
        console.print(_Printable(part), crop=False)


def stdout() -> Console:
    """The console of the results. It follows `NO_COLOR` and `COLUMNS`."""
    from rich.console import Console

    measured = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if measured else _UNMEASURED, highlight=False, markup=False, emoji=False)


@dataclass(frozen=True, slots=True)
class _Printable:
    """Shows what it holds, with the control characters of strangers written out."""

    renderable: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        from rich.table import Table

        if isinstance(self.renderable, Table):
            options = options.update(width=max(options.max_width, _least(self.renderable, console)))
        for segment in console.render(self.renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text, "\n"))


def _least(table: Table, console: Console) -> int:
    """Width at which no figure is cut, once its columns know theirs; at most a few more with borders."""
    from rich.measure import Measurement

    wide, width = console.options.update(width=_WIDEST), 1
    for column in table.columns:
        if column.width is None:
            widest = max((Measurement.get(console, wide, cell).maximum for cell in column.cells), default=0)
            least = min(widest, column.max_width or widest, _WORDS if column.overflow == "fold" else widest)
            head = Measurement.get(console, wide, column.header).minimum
            column.min_width = max(least, head, column.min_width or 0)
        width += (column.width or column.min_width or 0) + table.padding[1] + table.padding[3] + (table.box is not None)
    return width


def complain(message: str, kind: str = "error: ") -> None:
    """One line on stderr, red on a terminal that wants colour."""
    line = f"kolmo: {kind}{printable(' '.join(message.split()))}"
    colour = sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    with enduring():
        print(f"\033[31m{line}\033[0m" if colour else line, file=sys.stderr, flush=True)
