"""Find the numbers that a Parquet file stores as they are: plain pages and dictionaries of columns without a codec.

The footer says where the pages of each column begin, a header before each page how long it is. Both are written in Thrift's
compact protocol, of which this reads as much as they have. https://parquet.apache.org/docs/file-format/
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_MAGIC = b"PAR1"
_TYPES = {1: "i32", 2: "i64", 4: "f32", 5: "f64"}
"""By the number of the physical type."""
_STORED, _PLAIN = 0, (0, 2)
"""The number of no codec, and of the plain encoding, which dictionaries call otherwise."""
_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3
_HEADER_OF = {_DATA: 5, _DICTIONARY: 7, _DATA_2: 8}
"""For each kind of page the field with what its header says of the values."""
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_DEEPEST = 16


def is_parquet(data: bytes) -> bool:
    return data[:4] == _MAGIC and data[-4:] == _MAGIC and len(data) > 12


def stored_numbers(data: bytes) -> Iterator[tuple[int, int, str]]:
    """Start, count and type of the numbers of each page.

    Raises:
        ValueError, LookupError, TypeError: when the footer or the header of a page is no such thing.
    """
    size = int.from_bytes(data[-8:-4], "little")
    footer, _ = _struct(data, len(data) - 8 - size)
    for group in footer[4]:
        for column in group[1]:
            about = column[3]
            if about[4] == _STORED and about[1] in _TYPES:
                yield from _pages(data, about)


def _pages(data: bytes, about: dict[int, Any]) -> Iterator[tuple[int, int, str]]:
    type_ = _TYPES[about[1]]
    width = int(type_[1:]) // 8
    at = min(about.get(11, about[9]), about[9])
    end = min(at + about[7], len(data))
    while at < end:
        header, at = _struct(data, at)
        size = header[3]
        if size < 0 or at + size > end:
            raise ValueError("a page that does not end")
        values = header.get(_HEADER_OF.get(header[1], 0), {})
        # the values stand behind the levels, so at the end of the page
        count = min(values.get(1, 0), size // width)
        if values.get(4 if header[1] == _DATA_2 else 2) in _PLAIN and count > 0:
            yield at + size - count * width, count, type_
        at += size


def _struct(data: bytes, at: int, depth: int = 0) -> tuple[dict[int, Any], int]:
    """The fields by their numbers, and where they end."""
    if depth > _DEEPEST or at < 0:
        raise ValueError("a structure too deep, or before the beginning")
    fields, number = dict[int, Any](), 0
    while data[at]:
        step, kind = data[at] >> 4, data[at] & 15
        at += 1
        if step:
            number += step
        else:
            number, at = _integer(data, at)
        if kind in (_TRUE, _FALSE):
            fields[number] = kind == _TRUE
        else:
            fields[number], at = _value(data, at, kind, depth)
    return fields, at + 1


def _value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in (_LIST, _SET):
        count, kind = data[at] >> 4, data[at] & 15
        at += 1
        if count == 15:
            count, at = _varint(data, at)
        if count > len(data) - at:
            raise ValueError("a list longer than the file")
        items = []
        for _ in range(count):
            item, at = _value(data, at, _BYTE if kind in (_TRUE, _FALSE) else kind, depth + 1)
            items.append(item)
        return items, at
    if kind == _STRUCT:
        return _struct(data, at, depth + 1)
    if kind == _BINARY:
        length, at = _varint(data, at)
        return None, at + length
    if kind in (_BYTE, _DOUBLE):
        width = 1 if kind == _BYTE else 8
        return int.from_bytes(data[at : at + width], "little"), at + width
    if kind in (4, 5, 6):
        return _integer(data, at)
    raise ValueError("a kind of field that is not known")


def _integer(data: bytes, at: int) -> tuple[int, int]:
    value, at = _varint(data, at)
    return value >> 1 ^ -(value & 1), at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise ValueError("a number without an end")
