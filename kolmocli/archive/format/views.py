"""Views of bytes as integers: byte by byte, as words, as floats, as decimal text. Every view is exact both ways."""

from __future__ import annotations

import sys
from array import array
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class View:
    number: int
    name: str
    typecode: str
    """Type of an item, as the module `array` names it."""

    @property
    def width(self) -> int:
        """Bytes of an item in the residual."""
        return array(self.word_at(0)).itemsize

    @property
    def header(self) -> bytes:
        """Bytes that a decoder needs in addition to the number."""
        return b""

    @property
    def least_bytes(self) -> int:
        """The fewest bytes that an item can stand for."""
        return self.width

    @property
    def wrap(self) -> int:
        """The number at which unsigned words begin again; 0 for others."""
        return 1 << 8 * self.width if self.typecode.isupper() else 0

    def word_at(self, position: int) -> str:
        """Type of the words in which a program that begins at this item takes items from the residual."""
        return self.typecode

    def column_at(self, position: int) -> int:
        """The number of the column in which this item lies; 0 where there are no columns."""
        return 0

    def starts(self, count: int) -> list[int]:
        """Starts of columns, by the number of items."""
        return [0]

    def items(self, data: bytes) -> tuple[array[int], bytes]:
        """The whole items of the data, and the bytes left over at its end."""
        whole = len(data) - len(data) % self.width
        return words(self.typecode, data[:whole]), data[whole:]

    def join(self, items: array[int], rest: bytes, size: int) -> bytes:
        """The original: the bytes of the items, then what no program took. `size` is what it should have."""
        return word_bytes(items) + rest


_AT_ONCE = 1 << 16


def words(typecode: str, data: bytes) -> array[int]:
    """Little-endian words as integers."""
    items = array(typecode)
    items.frombytes(data)
    return _little(items)


def word_bytes(items: array[int]) -> bytes:
    """Integers as little-endian words."""
    return _little(array(items.typecode, items)).tobytes()


def _little(items: array[int]) -> array[int]:
    if sys.byteorder == "big":
        items.byteswap()
    return items


class LinesView(View):
    """Decimal integers, one per line, each line ended by a newline."""

    @property
    def least_bytes(self) -> int:
        return 2

    def items(self, data: bytes) -> tuple[array[int], bytes]:
        """All items, or none where a line is not an integer as `str` writes it."""
        items = array(self.typecode)
        if not data.endswith(b"\n") or len(data) < 2:
            return items, data
        try:
            items.extend(map(int, data[:-1].split(b"\n")))
        except (ValueError, OverflowError):
            return array(self.typecode), data
        return (items, b"") if self.join(items, b"", len(data)) == data else (array(self.typecode), data)

    def join(self, items: array[int], rest: bytes, size: int) -> bytes:
        out = bytearray()
        for at in range(0, len(items), _AT_ONCE):  # an integer as text takes far more memory than its digits
            out += "".join(f"{x}\n" for x in items[at : at + _AT_ONCE]).encode()
        return bytes(out + rest)


@dataclass(frozen=True, slots=True)
class FloatView(View):
    """IEEE floats that are an integer divided by a power of ten, correctly rounded: as readings often are."""

    float_type: str = "d"
    decimals: int = 0

    @property
    def header(self) -> bytes:
        return bytes([self.decimals])

    def join(self, items: array[int], rest: bytes, size: int) -> bytes:
        scale = 10**self.decimals
        floats = array(self.float_type, (x / scale for x in items))
        if sys.byteorder == "big":
            floats.byteswap()
        return floats.tobytes() + rest


MOST_DECIMALS = 9
TABLE_NUMBER = 9
FLOATS = {7: FloatView(7, "f32le", "i", "f"), 8: FloatView(8, "f64le", "q", "d")}
"""By number, with the decimals left open."""
VIEWS = {
    view.number: view
    for view in (
        View(0, "u8", "B"),
        View(1, "i16le", "h"),
        View(2, "u16le", "H"),
        View(3, "i32le", "i"),
        View(4, "u32le", "I"),
        View(5, "i64le", "q"),
        LinesView(6, "lines", "q"),
    )
}
"""Views without parameters, by number."""
WORDS = range(6)
"""Views whose items are the bytes or words of the data themselves."""
BY_NAME: dict[str, View] = {view.name: view for view in VIEWS.values()}
FORMATS = (*BY_NAME, "f32le", "f64le", "csv", "jsonl", "table")
"""Names for `--format`; the last three are one view: text in rows of one pattern."""
