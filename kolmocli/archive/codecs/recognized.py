"""Files whose header says what their numbers are: .npy, .npz whose arrays are only stored, WAV, and Parquet without a codec.

Samples without a header find mostly the same, but not where a record is wider than the widest that is looked for, and not
always where the header ends. A header that lies costs a try: the packer keeps what is really smallest.
"""

from __future__ import annotations

import ast
import struct
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from kolmocli.archive.codecs.layouts import BYTES, Layout, Stretch
from kolmocli.archive.codecs.numbers import TYPES, NumberType
from kolmocli.archive.codecs.parquet import is_parquet, stored_numbers

_NPY = b"\x93NUMPY"
_ZIPPED = b"PK\x03\x04"
_MOST_FIELDS = 256
"""Columns of a matrix that are packed one by one: each takes some bytes of its own."""
_MOST_ARRAYS = 256
_MOST_HEADER = 1 << 16


def recognized_layouts(data: bytes) -> Iterator[Layout]:
    """The layouts that the header of a file tells; none for other files."""
    if data.startswith(_NPY):
        for stretches in _npy(data, 0, len(data)):
            yield _whole(stretches, len(data))
    elif data.startswith(_ZIPPED):
        if stretches := _npz(data):
            yield _whole(stretches, len(data))
    elif data[:4] == b"RIFF" and data[8:12] == b"WAVE" and (found := _wav(data)):
        yield _whole([found], len(data))
    elif is_parquet(data) and (pages := _parquet(data)):
        yield _whole(pages, len(data))


_Placed = tuple[int, Stretch]
"""A stretch and where it begins."""


def _whole(stretches: Sequence[_Placed], size: int) -> Layout:
    """The stretches and what lies between them."""
    layout: list[Stretch] = []
    at = 0
    for start, stretch in stretches:
        layout += [Stretch(start - at, typed=False), stretch]
        at = start + stretch.size
    return tuple(s for s in [*layout, Stretch(size - at, typed=False)] if s.records)


def _npy(data: bytes, start: int, end: int) -> list[list[_Placed]]:
    """The array that begins there: as numbers one after the other, and as rows of columns where it has some."""
    wide = data[start + 6 : start + 7] > b"\1"
    size = int.from_bytes(data[start + 8 : start + (12 if wide else 10)], "little")
    first = start + (12 if wide else 10) + size
    if size > _MOST_HEADER or first > end:
        return []
    try:
        header: dict[str, Any] = ast.literal_eval(data[first - size : first].decode("latin-1").strip())
        # a list of fields is one of tuples, as numpy takes it
        types = _types_of(np.dtype(header["descr"]))
        shape, by_columns = tuple(map(int, header["shape"])), bool(header["fortran_order"])
    except (ValueError, TypeError, SyntaxError, KeyError, RecursionError, MemoryError):
        return []
    width = sum(t.width for t in types)
    if not types or end - first < width:
        return []
    ways = [types]
    inner = (shape[0] if by_columns else shape[-1]) if len(shape) > 1 else 1
    if inner > 1 and inner * len(types) <= _MOST_FIELDS and end - first >= inner * width:
        ways.append(types * inner)
    if len(set(types)) == 1 and len(types) > 1:
        ways.append(types[:1])
    return [[(first, Stretch((end - first) // sum(t.width for t in way), way))] for way in ways]


def _types_of(dtype: np.dtype[Any]) -> tuple[NumberType, ...]:
    """The numbers of an item; none where it has something else."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        count = int(np.prod(shape))
        return _types_of(base) * count if count <= _MOST_FIELDS else ()
    if dtype.names is not None:
        parts = [_types_of(dtype[name]) for name in dtype.names]
        flat = tuple(t for part in parts for t in part)
        return flat if all(parts) and sum(t.width for t in flat) == dtype.itemsize else ()
    big = dtype.str[0] == ">"
    name = {"b": "u8", "c": f"f{4 * dtype.itemsize}", "M": "i64", "m": "i64"}.get(
        dtype.kind, f"{dtype.kind}{8 * dtype.itemsize}"
    )
    if dtype.kind == "V" and dtype.itemsize <= _MOST_FIELDS:
        return (BYTES,) * dtype.itemsize
    found = TYPES.get(name + "be" * (big and dtype.itemsize > 1))
    return () if found is None else (found,) * (2 if dtype.kind == "c" else 1)


def _npz(data: bytes) -> list[_Placed]:
    """The arrays that are stored, not deflated, at the beginning of a zip file."""
    found: list[_Placed] = []
    at = 0
    while data[at : at + 4] == _ZIPPED and len(found) < _MOST_ARRAYS and len(data) >= at + 30:
        method, _, _, _, packed, size, name, extra = struct.unpack_from("<HHHIIIHH", data, at + 8)
        start = at + 30 + name + extra
        if packed == 0xFFFFFFFF:  # in the extra field, as numpy writes it
            size, packed = _wide_sizes(data[start - extra : start])
        if method or packed != size or start + size > len(data):
            break
        if data.startswith(_NPY, start):
            found += next(iter(_npy(data, start, start + size)), [])
        at = start + size
    return found


def _wide_sizes(extra: bytes) -> tuple[int, int]:
    """Size and packed size of a zip64 field; -1 where there is none."""
    if len(extra) >= 20 and extra[:2] == b"\1\0":
        size, packed = struct.unpack_from("<QQ", extra, 4)
        return size, packed
    return -1, -2


def _parquet(data: bytes) -> list[_Placed]:
    """The stored pages of numbers, without those that overlap others."""
    try:
        pages = sorted(islice(stored_numbers(data), _MOST_ARRAYS))
    except (ValueError, LookupError, TypeError, AttributeError):
        return []
    found: list[_Placed] = []
    end = 0
    for start, count, type_ in pages:
        if start >= end:
            found.append((start, Stretch(count, (TYPES[type_],))))
            end = start + found[-1][1].size
    return found


def _wav(data: bytes) -> _Placed | None:
    """The samples, a record of all channels each. Those of 24 bits are a byte and, above it, a signed number of 16."""
    at, types = 12, tuple[NumberType, ...]()
    while at + 8 <= len(data):
        name, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        at += 8
        if name == b"fmt " and at + 26 <= len(data):
            kind, channels, _, _, _, bits = struct.unpack_from("<HHIIHH", data, at)
            kind = int.from_bytes(data[at + 24 : at + 26], "little") if kind == 0xFFFE else kind
            sample = {
                (1, 8): ("u8",),
                (1, 16): ("i16",),
                (1, 24): ("u8", "i16"),
                (1, 32): ("i32",),
                (3, 32): ("f32",),
                (3, 64): ("f64",),
            }.get((kind, bits), ())
            types = tuple(TYPES[t] for t in sample) * min(channels, _MOST_FIELDS)
        elif name == b"data":
            records = min(size, len(data) - at) // max(sum(t.width for t in types), 1)
            return (at, Stretch(records, types)) if types and records else None
        at += size + size % 2
    return None
