"""How bytes are seen as integers: byte by byte, as words, or as decimal lines. Every view is exact both ways."""

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
        """Bytes of an item."""
        return array(self.typecode).itemsize

    @property
    def least_bytes(self) -> int:
        """The fewest bytes that an item can stand for."""
        return self.width

    def items(self, data: bytes) -> tuple[array[int], bytes]:
        """The whole items of the data, and the bytes left over at its end."""
        whole = len(data) - len(data) % self.width
        items = array(self.typecode)
        items.frombytes(data[:whole])
        return _little(items), data[whole:]

    def data(self, items: array[int]) -> bytes:
        """The bytes of the items."""
        return _little(array(self.typecode, items)).tobytes()


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
        return (items, b"") if self.data(items) == data else (array(self.typecode), data)

    def data(self, items: array[int]) -> bytes:
        return "".join(f"{x}\n" for x in items).encode()


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
BY_NAME: dict[str, View] = {view.name: view for view in VIEWS.values()}
