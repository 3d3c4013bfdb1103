"""The container: one member of an archive as bytes. `docs/archive-format.md` is its specification.

    magic 3 · versions 1 · layout 1 · sizes, or a section table · section payloads · digest 4

Members stand one behind the other. The header tells where everything lies, so a listing needs no payload.
Version 3 is written; versions 1, whose header is a little longer, and 2, which has fewer codecs, are read for ever.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from hashlib import blake2b

from kolmocli.archive.errors import ArchiveError

MAGIC = b"\x8bK\n"
FORMAT_VERSION = 3
READABLE_VERSIONS = (1, 2, 3)
LANGUAGE_VERSION = 1
DIGEST_BYTES = 4

RESIDUAL = 0
"""Tags 0..15: the residual, packed by the codec of that number."""
LAST_CODEC = {1: 5, 2: 5, 3: 7}
"""By version."""
PROGRAMS = 16
PYTHON = 17
"""A Python program: nothing that a decoder runs by itself."""
OPTIONAL = 128
"""A section with this bit may be skipped by a decoder that does not know it; any other may not."""
_SOLE_PROGRAMS = {2: 6, 3: 14}
_LISTED = 15
"""Low half of the layout byte: up to the last codec that of the only section, an only program stream, 15 a table follows."""


@dataclass(frozen=True, slots=True)
class Section:
    tag: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class Member:
    size: int
    """Bytes of the original."""
    sections: tuple[Section, ...]
    digest: bytes = b""
    version: int = FORMAT_VERSION
    length: int = field(default=0, compare=False)
    """Bytes of the whole member, header and digest included."""

    def section(self, first: int, last: int) -> Section | None:
        return next((s for s in self.sections if first <= s.tag <= last), None)


def digest(size: int, tags: bytes, data: bytes, version: int = FORMAT_VERSION) -> bytes:
    """BLAKE2b of the versions, the size, the section tags and the original data."""
    head = bytes([version << 4 | LANGUAGE_VERSION]) + size.to_bytes(8, "little") + tags
    return blake2b(data, digest_size=DIGEST_BYTES, key=head).digest()


def write_member(size: int, sections: tuple[Section, ...], data_digest: bytes) -> bytes:
    """The member as bytes. With more than one section each has a checksum of two bytes in the table."""
    most = max([size, *(len(s.payload) for s in sections)])
    digits = max((most.bit_length() + 3) // 4, 1)  # half-bytes, so that two numbers below 2^28 take 7 bytes
    out = bytearray(MAGIC)
    out.append(FORMAT_VERSION << 4 | LANGUAGE_VERSION)
    sole = _sole(sections)
    if sole is not None:
        out.append(digits << 4 | sole)
        out += (size | len(sections[0].payload) << 4 * digits).to_bytes(digits, "little")
    else:
        width = (digits + 1) // 2
        out += bytes([digits << 4 | _LISTED, len(sections)]) + size.to_bytes(width, "little")
        for section in sections:
            out.append(section.tag)
            out += len(section.payload).to_bytes(width, "little") + checksum(section.payload)
    for section in sections:
        out += section.payload
    return bytes(out + data_digest)


def _sole(sections: tuple[Section, ...]) -> int | None:
    """The low half of the layout byte for a member of one ordinary section."""
    if len(sections) != 1:
        return None
    tag = sections[0].tag
    if tag == PROGRAMS:
        return _SOLE_PROGRAMS[FORMAT_VERSION]
    return tag if tag <= LAST_CODEC[FORMAT_VERSION] else None


def varint(value: int) -> bytes:
    """Seven bits per byte, the lowest first; the highest bit is set on all but the last."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """The number that `varint` wrote there, and where it ends.

    Raises:
        ArchiveError: when there is none of at most nine bytes.
    """
    value = 0
    for i, byte in enumerate(data[position : position + 9]):
        value |= (byte & 127) << 7 * i
        if byte < 128:
            return value, position + i + 1
    raise ArchiveError("the archive is damaged: a number without an end")


def checksum(payload: bytes) -> bytes:
    """The low two bytes of the CRC-32 of a payload, little end first."""
    return (zlib.crc32(payload) & 0xFFFF).to_bytes(2, "little")


def read_member(data: bytes | memoryview, start: int = 0) -> Member:
    """The member that begins at `start`.

    Raises:
        ArchiveError: when the bytes are no member, are truncated, or need a newer version.
    """
    view = memoryview(data)
    if bytes(view[start : start + 3]) != MAGIC:
        where = f" at byte {start}" if start else ""
        raise ArchiveError(f"not a kolmo archive{where}")
    cursor = _Cursor(view, start + 3)
    versions = cursor.byte()
    version = versions >> 4
    if version not in READABLE_VERSIONS:
        raise ArchiveError(f"format version {version} is not known here: update kolmo")
    if versions & 15 != LANGUAGE_VERSION:
        raise ArchiveError(f"language version {versions & 15} is not known here: update kolmo")
    size, table = _table_1(cursor) if version == 1 else _table(cursor, version)
    sections = []
    for tag, length, check in table:
        payload = cursor.take(length)
        if check and checksum(payload) != check:
            raise ArchiveError(f"section {tag} is damaged")
        if not tag & OPTIONAL and tag not in (PROGRAMS, PYTHON) and tag > LAST_CODEC[version]:
            raise ArchiveError(f"section {tag} is not known here and cannot be skipped: update kolmo")
        sections.append(Section(tag, payload))
    return Member(size, tuple(sections), cursor.take(DIGEST_BYTES), version, cursor.position - start)


Table = list[tuple[int, int, bytes]]
"""Tag, length of the payload and its checksum (empty where there is none)."""


def _table(cursor: _Cursor, version: int) -> tuple[int, Table]:
    """The size of the original and the section table."""
    layout = cursor.byte()
    digits, sole = layout >> 4, layout & 15
    if not digits or (sole > LAST_CODEC[version] and sole not in (_SOLE_PROGRAMS[version], _LISTED)):
        raise ArchiveError("the header is damaged (layout)")
    if sole != _LISTED:
        both = cursor.integer(digits)
        length = both >> 4 * digits
        return both & ((1 << 4 * digits) - 1), [(PROGRAMS if sole == _SOLE_PROGRAMS[version] else sole, length, b"")]
    width, count = (digits + 1) // 2, cursor.byte()
    size = cursor.integer(width)
    return size, [(cursor.byte(), cursor.integer(width), cursor.take(2)) for _ in range(count)]


def _table_1(cursor: _Cursor) -> tuple[int, Table]:
    """The same in version 1 of the format."""
    layout = cursor.byte()
    width, count = layout >> 4, layout & 15
    if not 1 <= width <= 8:
        raise ArchiveError("the header is damaged (field width)")
    size = cursor.integer(width)
    return size, [(cursor.byte(), cursor.integer(width), cursor.take(2) if count > 1 else b"") for _ in range(count)]


class _Cursor:
    def __init__(self, view: memoryview, position: int) -> None:
        self.view = view
        self.position = position

    def take(self, length: int) -> bytes:
        end = self.position + length
        if end > len(self.view):
            raise ArchiveError("the archive is truncated")
        taken = bytes(self.view[self.position : end])
        self.position = end
        return taken

    def byte(self) -> int:
        return self.take(1)[0]

    def integer(self, width: int) -> int:
        return int.from_bytes(self.take(width), "little")
