"""Numbers of one type, packed by pcodec, which models their distribution, differences and common factors.

    type 1 · count varint · pcodec's header 2 · chunks of at most 262,144 numbers, each its length (but for the last) and bytes

pcodec is fed with bytes of strangers here. It checks what it reads; what it would allocate on the word of an archive is
bounded before: a chunk has a fixed number of numbers, and a dictionary is no longer than the bytes that hold it.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kolmocli.archive.errors import ArchiveError, CodecMissing
from kolmocli.archive.format.container import read_varint, varint

CHUNK_ITEMS = 1 << 18
_BIG_ENDIAN = 128
_HEADER_BYTES = 2
_DICTIONARY = 4
"""The mode of a chunk that begins with a dictionary; its length is the 25 bits behind the four of the mode."""
_DICTIONARY_BITS = 25
_CONVOLUTIONS = (1, 2, 4, 8, 16, 32)
"""Orders of linear prediction that are tried where the strongest packing is wanted."""
_BATCH_ITEMS = 256
"""pcodec's own: linear prediction panics where the last batch of a chunk has fewer numbers than its order (seen in 1.1.0)."""
_SAMPLED_ITEMS = 1 << 14
_LEAST_CONVOLVED = 1 << 10
_PANIC = "PanicException"
"""Name of a Rust panic in Python: no `Exception`, and of no module that could be imported."""
_QUICK_LEVEL, _STRONG_LEVEL = 8, 12
_NUMBERS = {
    "u32": 1,
    "u64": 2,
    "i32": 3,
    "i64": 4,
    "f32": 5,
    "f64": 6,
    "u16": 7,
    "i16": 8,
    "f16": 9,
    "u8": 10,
    "i8": 11,
}
"""As pcodec's own standalone files number their types."""
Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class NumberType:
    """Type and byte order of a number."""

    name: str
    """pcodec's name: a letter and the bits."""
    big: bool = False

    @property
    def number(self) -> int:
        return _NUMBERS[self.name] | (_BIG_ENDIAN if self.big else 0)

    @property
    def width(self) -> int:
        return int(self.name[1:]) // 8

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(f"{'>' if self.big else '<'}{self.name[0]}{self.width}")

    def __str__(self) -> str:
        return self.name + ("be" if self.big else "")


TYPES = {str(t): t for name in _NUMBERS for t in (NumberType(name), NumberType(name, True)) if t.width > 1 or not t.big}
"""By name: `i32`, or `i32be` for big-endian."""
_BY_NUMBER = {t.number: t for t in TYPES.values()}


def pack_numbers(data: bytes, type_: NumberType, strong: bool = True) -> bytes:
    """The payload. The data are whole numbers of the type."""
    items = np.frombuffer(data, type_.dtype).astype(type_.dtype.newbyteorder("="))
    chunks = [items[at : at + CHUNK_ITEMS] for at in range(0, len(items), CHUNK_ITEMS)]
    compressor = _pcodec().wrapped.FileCompressor()
    out = bytearray([type_.number]) + varint(len(items)) + compressor.write_header()
    for chunk in chunks:
        packed = _pack_chunk(compressor, chunk, strong)
        out += packed if chunk is chunks[-1] else varint(len(packed)) + packed
    return bytes(out)


def _pack_chunk(compressor: Any, items: Array, strong: bool) -> bytes:
    """The shortest of what pcodec chooses by itself and, where it is to be strong, linear prediction."""
    best = _encoded(compressor, items, _QUICK_LEVEL)
    if not strong:
        return best
    best = min(best, _encoded(compressor, items, _STRONG_LEVEL), key=len)  # more bins are not always fewer bytes
    if items.dtype.kind == "f":
        return best
    # the middle of the chunk says which order is worth the whole of it
    start = max(len(items) - _SAMPLED_ITEMS, 0) // 2
    sample = items[start : start + _SAMPLED_ITEMS]
    sizes = {order: len(_convolved(compressor, sample, order) or best) for order in _CONVOLUTIONS}
    chosen = min(sizes, key=lambda order: sizes[order])
    if sizes[chosen] < len(_encoded(compressor, sample, _STRONG_LEVEL)):
        best = min(best, _convolved(compressor, items, chosen) or best, key=len)
    return best


def _convolved(compressor: Any, items: Array, order: int) -> bytes | None:
    """By linear prediction; None where pcodec has none for these numbers."""
    pcodec = _pcodec()
    last_batch = len(items) % _BATCH_ITEMS or _BATCH_ITEMS
    if items.itemsize > 4 or len(items) < _LEAST_CONVOLVED or last_batch < order:
        return None
    return _encoded(compressor, items, _STRONG_LEVEL, delta_spec=pcodec.DeltaSpec.try_conv1(order))


def _encoded(compressor: Any, items: Array, level: int, **how: Any) -> bytes:
    pcodec = _pcodec()
    one_page = pcodec.PagingSpec.exact_page_sizes([len(items)])
    config = pcodec.ChunkConfig(level, paging_spec=one_page, enable_8_bit=items.itemsize == 1, **how)
    chunk = compressor.chunk_compressor(items, config)
    return bytes(chunk.write_meta() + chunk.write_page(0))


def unpack_numbers(payload: bytes, size: int) -> bytes:
    """The bytes of the numbers, at most `size` + 1 of them.

    Raises:
        ArchiveError: when the payload is damaged.
        CodecMissing: when pcodec is not installed.
    """
    type_, count, position = _head(payload)
    if count * type_.width > size:
        raise ArchiveError(f"the residual has more than the {size} bytes that it may have")
    out = bytearray()
    wrapped = _pcodec().wrapped
    try:
        file, _ = wrapped.FileDecompressor.new(payload[position : position + _HEADER_BYTES])
        for part, items in _chunks(payload, position + _HEADER_BYTES, count):
            if _dictionary(part) * type_.width > len(part):
                raise ArchiveError("the residual is damaged (a dictionary longer than its chunk)")
            chunk, used = file.chunk_decompressor(part, type_.name)
            numbers = np.empty(items, type_.dtype.newbyteorder("="))
            progress, more = chunk.read_page_into(part[used:], items, numbers)
            if progress.n_processed != items or used + more != len(part):
                raise ArchiveError("the residual ends early or has bytes behind its end")
            out += numbers.astype(type_.dtype).tobytes()
    except BaseException as error:
        if isinstance(error, (RuntimeError, TypeError)) or type(error).__name__ == _PANIC:
            raise ArchiveError(f"the residual is damaged ({error})") from None
        raise
    return bytes(out)


def _head(payload: bytes) -> tuple[NumberType, int, int]:
    """Type, count, and where pcodec's header begins."""
    if not payload or payload[0] not in _BY_NUMBER:
        raise ArchiveError("the residual has numbers of an unknown type")
    count, position = read_varint(payload, 1)
    return _BY_NUMBER[payload[0]], count, position


def _chunks(payload: bytes, position: int, count: int) -> Iterator[tuple[bytes, int]]:
    """The bytes of each chunk and how many numbers it has."""
    while count > 0:
        items, end = min(count, CHUNK_ITEMS), len(payload)
        if count > CHUNK_ITEMS:
            length, position = read_varint(payload, position)
            end = position + length
        if end > len(payload):
            raise ArchiveError("the residual ends early")
        yield payload[position:end], items
        position, count = end, count - items
    if position != len(payload):
        raise ArchiveError("the residual has bytes behind its end")


def _dictionary(chunk: bytes) -> int:
    """Length of a chunk's dictionary, as it declares it; 0 where it has none."""
    bits = int.from_bytes(chunk[:4], "little")
    return bits >> 4 & (1 << _DICTIONARY_BITS) - 1 if bits & 15 == _DICTIONARY else 0


def _pcodec() -> Any:
    try:
        return importlib.import_module("pcodec")
    except ImportError:
        raise CodecMissing("this archive needs the package pcodec: pip install pcodec") from None
