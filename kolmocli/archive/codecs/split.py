"""Bytes that are several things: a header before numbers, records of several fields, the columns of a table.

The data are runs, a run is records, a record is fields. Each field of a run belongs to a part; a part is the fields that
belong to it, one behind the other, and has a codec of its own.

    runs varint · per run: records varint · fields varint · per field: width varint · part varint
    parts varint · per part: codec 1 · length of its payload varint (but for the last) · … · the payloads
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kolmocli.archive.errors import ArchiveError
from kolmocli.archive.format.container import read_varint, varint

_MOST_FIELDS = 1 << 16
"""In all runs together, and so of parts. It bounds the work on a header that lies."""


@dataclass(frozen=True, slots=True)
class Field:
    """Bytes at the same place of every record, and the part to which they belong."""

    width: int
    part: int


@dataclass(frozen=True, slots=True)
class Run:
    """Records of the same fields, one behind the other."""

    records: int
    fields: tuple[Field, ...]

    @property
    def width(self) -> int:
        return sum(field.width for field in self.fields)


Runs = tuple[Run, ...]


def parts_of(data: bytes, runs: Runs) -> list[bytes]:
    """Bytes of each part. The runs are as long as the data."""
    parts = [bytearray() for _ in range(_parts(runs))]
    position = 0
    for run in runs:
        table = np.frombuffer(data, np.uint8, run.records * run.width, position).reshape(run.records, run.width)
        at = 0
        for field in run.fields:
            parts[field.part] += table[:, at : at + field.width].tobytes()
            at += field.width
        position += table.size
    return list(map(bytes, parts))


def _joined(parts: Sequence[bytes], runs: Sequence[Run]) -> bytes:
    """The data of the parts."""
    taken = [0] * len(parts)
    out = bytearray()
    for run in runs:
        table = np.empty((run.records, run.width), np.uint8)
        at = 0
        for field in run.fields:
            size = run.records * field.width
            own = np.frombuffer(parts[field.part], np.uint8, size, taken[field.part])
            table[:, at : at + field.width] = own.reshape(run.records, field.width)
            taken[field.part] += size
            at += field.width
        out += table.tobytes()
    return bytes(out)


def write_split(runs: Runs, packed: Sequence[tuple[int, bytes]]) -> bytes:
    """The payload: `packed` has the codec and the payload of each part."""
    out = bytearray(varint(len(runs)))
    for run in runs:
        out += varint(run.records) + varint(len(run.fields))
        for field in run.fields:
            out += varint(field.width) + varint(field.part)
    out += varint(len(packed))
    for i, (codec, payload) in enumerate(packed):
        out += bytes([codec]) + (varint(len(payload)) if i + 1 < len(packed) else b"")
    return bytes(out + b"".join(payload for _, payload in packed))


def read_split(payload: bytes, size: int, unpack: Callable[[int, bytes, int], bytes]) -> bytes:
    """The data, from the codec of each part: `unpack` takes its number, a payload and the bytes that it makes.

    Raises:
        ArchiveError: when the payload is damaged, or makes more than `size` bytes.
    """
    runs, position = _read_runs(payload)
    if sum(run.records * run.width for run in runs) > size:
        raise ArchiveError(f"the residual has more than the {size} bytes that it may have")
    sizes = [0] * _parts(runs)
    for run in runs:
        for field in run.fields:
            sizes[field.part] += run.records * field.width
    count, position = read_varint(payload, position)
    if count != len(sizes):
        raise ArchiveError("the residual has other parts than its fields belong to")
    codecs = list[int]()
    lengths = list[int | None]()
    for i in range(count):
        codecs += payload[position : position + 1]
        position += 1
        if i + 1 < count:
            own, position = read_varint(payload, position)
            lengths.append(own)
    parts = []
    for codec, part_size, length in zip(codecs, sizes, [*lengths, None], strict=False):
        end = len(payload) if length is None else position + length
        if end > len(payload):
            raise ArchiveError("the residual ends early")
        parts.append(unpack(codec, payload[position:end], part_size))
        if len(parts[-1]) != part_size:
            raise ArchiveError("a part of the residual is shorter than its fields")
        position = end
    if len(parts) != count or position != len(payload):
        raise ArchiveError("the residual ends early or has bytes behind its end")
    return _joined(parts, [run for run in runs if run.records])  # an empty one may be of any width


def _parts(runs: Runs) -> int:
    return max((field.part + 1 for run in runs for field in run.fields), default=0)


def _read_runs(payload: bytes) -> tuple[Runs, int]:
    count, position = read_varint(payload, 0)
    runs, left = [], _MOST_FIELDS
    for _ in range(count):
        records, position = read_varint(payload, position)
        number, position = read_varint(payload, position)
        left -= number
        if left < 0 or not number:
            raise ArchiveError("the residual has a run without fields, or too many of them")
        fields = []
        for _ in range(number):
            width, position = read_varint(payload, position)
            part, position = read_varint(payload, position)
            if not width or part >= _MOST_FIELDS:
                raise ArchiveError("the residual has a field without bytes, or of no part")
            fields.append(Field(width, part))
        runs.append(Run(records, tuple(fields)))
    return tuple(runs), position
