"""Columns of a table: how a number, a moment or a word of a list is written in a cell.

Every form is exact: the decoder writes an item in one way only, and who packs takes the first form that writes all cells
of a column as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

WORD, PLAIN, PADDED, FIXED, SHORT, TRIMMED, TIME, LISTED = range(8)
"""Kinds of cells: text; `str` of an integer; digits filled with zeros to a width; an integer divided by 10 to the number of
decimals; the same without zeros at its end, except for the first decimal; without any, and without the point where no
decimal is left; a moment; a word of a list, by its number."""
BARE, ALIGNED, MIXED = 16, 32, 64
"""Flags: no zero before the point; filled with spaces on the left to a width; some cells are text."""
MOST_DIGITS = 18
"""Numbers of more digits do not fit 64 bits."""
WORDS = "bhiq"
"""Signed words of 1, 2, 4 and 8 bytes."""
_DECIMAL = (FIXED, SHORT, TRIMMED)
_REMEMBERED = 1 << 16
"""Numbers whose text is made once: millions of short ones are few that come again, and each takes more memory than its digits."""
_EPOCH = date(1970, 1, 1).toordinal()
_UNITS = {"H": 24, "M": 60, "S": 60}


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `places` is the width of PADDED, the decimals of numbers, the length of the list of LISTED."""

    kind: int
    places: int = 0
    word: str = "q"
    """Type of its items in the residual, as the module `array` names it."""
    flags: int = 0
    width: int = 0
    """Characters of an ALIGNED cell, at least."""
    numbers: int = -1
    """Items of a MIXED column; in any other every cell is one."""
    pattern: str = ""
    """Format of a moment: Y m d H M S f for digits of its parts, anything else as it is."""

    def items(self, rows: int) -> int:
        """Number of its cells that are items."""
        return 0 if self.kind == WORD else self.numbers if self.flags & MIXED else rows

    def writer(self) -> Callable[[int], str]:
        """A function that writes an item of any kind but LISTED."""
        write = _moments(self.pattern) if self.kind == TIME else self._number
        if not self.flags & ALIGNED:
            return write
        return lambda item: write(item).rjust(self.width)

    def _number(self, item: int) -> str:
        if self.kind == PLAIN:
            return str(item)
        if self.kind == PADDED:
            return f"{item:0{self.places}d}"
        sign, digits = "-" if item < 0 else "", f"{abs(item):0{self.places + 1}d}"
        whole, decimals = digits[: -self.places], digits[-self.places :]
        if self.flags & BARE and whole == "0":
            whole = ""
        if self.kind == SHORT:
            decimals = decimals.rstrip("0") or "0"
        elif self.kind == TRIMMED:
            decimals = decimals.rstrip("0")
            if not decimals:
                return f"{sign}{whole or '0'}"
        return f"{sign}{whole}.{decimals}"

    def least(self) -> int:
        """The fewest bytes of a cell."""
        if self.flags & ALIGNED and not self.flags & MIXED:
            return self.width
        if self.flags & MIXED or self.kind in (WORD, LISTED):
            return 0
        return {PLAIN: 1, PADDED: self.places, FIXED: self.places + 1, SHORT: 2, TRIMMED: 1, TIME: len(self.pattern)}[
            self.kind
        ]


def parts_of(pattern: str) -> Iterator[tuple[str, int, int]]:
    """The parts of a moment as the pattern writes them: letter, where it begins, where it ends. A letter is written as often
    as its part has digits."""
    at = 0
    while at < len(pattern):
        end = at + 1
        while end < len(pattern) and pattern[end] == pattern[at] and pattern[at] in "YmdHMSf":
            end += 1
        if pattern[at] in "YmdHMSf":
            yield pattern[at], at, end
        at = end


def units_of(letters: str) -> list[tuple[str, int]]:
    """The parts of a day that the pattern has, the coarsest first, and how many there are in the one before."""
    return [(letter, _UNITS[letter]) for letter in "HMS" if letter in letters]


def _moments(pattern: str) -> Callable[[int], str]:
    """A function that writes a number of the finest unit in the pattern since 1970, or since midnight where it has no date."""
    spans = list(parts_of(pattern))
    letters = "".join(letter for letter, _, _ in spans)
    fraction = next((end - at for letter, at, end in spans if letter == "f"), 0)
    units = units_of(letters)
    dated = "Y" in letters
    if not dated and set("md") & set(letters):
        raise ValueError("a moment with a day and no year")

    def write(item: int) -> str:
        parts: dict[str, int] = {}
        item, parts["f"] = divmod(item, 10**fraction)
        for i in range(len(units) - 1, -1, -1):
            letter, size = units[i]
            if i or dated:
                item, parts[letter] = divmod(item, size)
            else:
                parts[letter] = item
        if dated:
            day = date.fromordinal(item + _EPOCH)
            parts |= {"Y": day.year, "m": day.month, "d": day.day}
        text = list(pattern)
        for letter, at, end in spans:
            digits = f"{parts[letter]:0{end - at}d}"
            if len(digits) != end - at:
                raise ValueError("a moment that its pattern cannot write")
            text[at:end] = digits
        return "".join(text)

    return write


def cells_of(column: Column, items: Sequence[int], words: list[bytes]) -> list[bytes]:
    """The cells of a column, of its items and the words that stand for it in the text.

    Raises:
        ValueError: when they do not fit.
    """
    if column.kind == WORD:
        return words
    if column.kind == LISTED:
        if items and not 0 <= min(items) <= max(items) < len(words):
            raise ValueError("a word that is not in the list")
        return [words[item] for item in items]
    writer = column.writer()
    write = lru_cache(_REMEMBERED)(lambda item: writer(item).encode())
    written = [write(item) for item in items]
    if not column.flags & MIXED:
        return written
    numbers = iter(written)
    cells = [word[1:] if word else next(numbers, b"") for word in words]
    if len(words) - sum(map(bool, words)) != len(written):
        raise ValueError("a column has more numbers or fewer than its header says")
    return cells


def words_of(column: Column, rows: int) -> int:
    """Number of words that a column has in the text."""
    return rows if column.kind == WORD or column.flags & MIXED else column.places if column.kind == LISTED else 0
