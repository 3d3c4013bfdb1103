"""Find which bytes of the data are numbers of one type, from samples or from the user's word.

Nothing here is a promise. A layout is a guess at a cheap price, and the packer keeps what is really smallest.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from kolmocli.archive.codecs.numbers import TYPES, NumberType, pack_numbers

_WINDOW_BYTES = 1 << 15
"""Looked at in the middle of the data, where no header is."""
_LEAST_BYTES = 64
_MOST_STRIDE = 64
_STRIDES_TRIED = 3
_LAYOUTS = 3
_WORTH = 1.05
"""A layout is tried on all data where its window takes at most this many times what deflate takes for it."""
_BETTER = 0.99
"""Wider records must take less than this share of narrower ones: most are the same, several at a time."""
_MOST_HEADER = 1 << 15
_HEADER_COSTS = 24
"""Bytes that it takes to say that there is a header."""
_FINER = 12
"""Steps of halving by which the end of a header is found."""
BYTES = TYPES["u8"]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Records of numbers, one behind the other. Bytes without a meaning are records of one byte, not `typed`."""

    records: int
    types: tuple[NumberType, ...] = (BYTES,)
    typed: bool = True

    @property
    def size(self) -> int:
        return self.records * sum(t.width for t in self.types)


Layout = tuple[Stretch, ...]


def layout_of(types: tuple[NumberType, ...], header: int, size: int) -> Layout:
    """`header` bytes, then as many records of these types as there are, then what is left."""
    header = min(header, size)
    width = sum(t.width for t in types)
    records = (size - header) // width
    tail = size - header - records * width
    stretches = (Stretch(header, typed=False), Stretch(records, types), Stretch(tail, typed=False))
    return tuple(s for s in stretches if s.records)


def likely_layouts(data: bytes) -> list[Layout]:
    """The layouts worth a try, the most promising first."""
    if len(data) < _LEAST_BYTES:
        return []
    start = max(len(data) - _WINDOW_BYTES, 0) // 2
    window = _Window(data[start : start + _WINDOW_BYTES], start)
    if _is_text(window.data):
        return []
    most = _WORTH * _deflated(window.data)
    found: list[_Guess] = []
    for stride in sorted(_strides(window.data)):
        guess = _records(window, stride)
        if guess.bytes < most and all(guess.bytes < _BETTER * narrower.bytes for narrower in found):
            found.append(guess)
    found.sort(key=lambda guess: guess.bytes)
    return [_placed(data, guess) for guess in found[:_LAYOUTS]]


def _is_text(sample: bytes) -> bool:
    return not any(map(sample.count, (bytes([i]) for i in range(9))))


def _deflated(data: bytes) -> int:
    return len(zlib.compress(data, 9))


@dataclass(frozen=True, slots=True)
class _Window:
    data: bytes
    start: int

    def column(self, place: int, stride: int, width: int) -> bytes:
        """The bytes at this place of every record, counted from the beginning of the data."""
        first = (place - self.start) % stride
        records = (len(self.data) - first - width) // stride + 1
        if records < 1:
            return b""
        view = np.frombuffer(self.data, np.uint8)[first:]
        return np.lib.stride_tricks.as_strided(view, (records, width), (stride, 1)).tobytes()


@dataclass(frozen=True, slots=True)
class _Guess:
    """Records that begin at `phase`, modulo their width, and what the window takes as such."""

    bytes: float
    phase: int
    types: tuple[NumberType, ...]


def _strides(window: bytes) -> list[int]:
    """Widths of records: those of single numbers, and the distances at which bytes are most alike."""
    values = np.frombuffer(window, np.uint8)
    unlike: dict[int, float] = {}
    for stride in range(3, min(_MOST_STRIDE, len(window) // 8) + 1):
        apart = np.abs((values[stride:] - values[:-stride]).view(np.int8).astype(np.int16))
        unlike[stride] = float(np.log2(1.0 + apart).mean())
    alike = sorted(unlike, key=lambda stride: unlike[stride])[:_STRIDES_TRIED]
    return list(dict.fromkeys([2, 4, 8, *alike]))


def _records(window: _Window, stride: int) -> _Guess:
    """The cheapest fields for records of this width, wherever they begin."""

    @cache
    def field(place: int, width: int) -> tuple[float, NumberType]:
        return _cheapest(window.column(place, stride, width), width)

    guesses = []
    for phase in range(stride):
        best: list[tuple[float, tuple[NumberType, ...]]] = [(0.0, ())]
        for end in range(1, stride + 1):
            ways = []
            for width in (1, 2, 4, 8):
                if width <= end:
                    bits, type_ = field((phase + end - width) % stride, width)
                    ways.append((best[end - width][0] + bits, (*best[end - width][1], type_)))
            best.append(min(ways, key=lambda way: way[0]))
        guesses.append(_Guess(best[stride][0], phase, best[stride][1]))
    return min(guesses, key=lambda guess: guess.bytes)


def _cheapest(column: bytes, width: int) -> tuple[float, NumberType]:
    """The type of these numbers that takes the fewest bytes."""
    types = [t for t in TYPES.values() if t.width == width and t.name not in ("f16", "i8")]
    if not column:
        return 0.0, types[0]
    return min(((float(len(pack_numbers(column, t, strong=False))), t) for t in types), key=lambda pair: pair[0])


def _placed(data: bytes, guess: _Guess) -> Layout:
    """The layout, its header as long as makes header and numbers smallest."""
    width = sum(t.width for t in guess.types)
    most = min(_MOST_HEADER, len(data) // 2)
    beginning = data[: most + _WINDOW_BYTES]

    @cache
    def cost(records: int) -> int:
        header = guess.phase + records * width
        columns = typed_columns(beginning, layout_of(guess.types, header, len(beginning)))
        return _deflated(data[:header]) + sum(len(pack_numbers(column, t, strong=False)) for t, column in columns)

    tried = [0, *(1 << k for k in range((most // width).bit_length()))]
    best = min(tried, key=cost)
    low, high = best // 2, min(2 * best, most // width)
    for _ in range(_FINER):
        if high - low < 2:
            break
        quarter = max((high - low) // 4, 1)
        best = min((best, low + quarter, high - quarter), key=cost)
        low, high = max(low, best - quarter), min(high, best + quarter)
    if not guess.phase and cost(best) + _HEADER_COSTS >= cost(0):
        best = 0
    return layout_of(guess.types, guess.phase + best * width, len(data))


def typed_columns(data: bytes, layout: Layout) -> Iterator[tuple[NumberType, bytes]]:
    """Each column of numbers, with its type."""
    position = 0
    for stretch in layout:
        table: NDArray[np.uint8] = np.frombuffer(data, np.uint8, stretch.size, position)
        table = table.reshape(stretch.records, -1)
        at = 0
        for type_ in stretch.types:
            if stretch.typed:
                yield type_, table[:, at : at + type_.width].tobytes()
            at += type_.width
        position += stretch.size
