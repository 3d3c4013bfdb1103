"""The container: one member of an archive as bytes. `docs/archive-format.md` is its specification.

    magic 3 · versions 1 · layout 1 · size · section table · section payloads · digest 4

Members stand one behind the other. The header tells where everything lies, so a listing needs no payload.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from hashlib import blake2b

from kolmocli.archive.errors import ArchiveError

MAGIC = b"\x8bK\n"
FORMAT_VERSION = 1
LANGUAGE_VERSION = 1
DIGEST_BYTES = 4

RESIDUAL = 0
"""Tags 0..15: the residual, packed by the codec of that number."""
PROGRAMS = 16
OPTIONAL = 128
"""A section with this bit may be skipped by a decoder that does not know it; any other may not."""
COMMENT = 128
MAX_SECTIONS = 15


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
    length: int = field(default=0, compare=False)
    """Bytes of the whole member, header and digest included."""

    def section(self, first: int, last: int) -> Section | None:
        return next((s for s in self.sections if first <= s.tag <= last), None)


def digest(size: int, tags: bytes, data: bytes) -> bytes:
    """BLAKE2b of the versions, the size, the section tags and the original data."""
    head = bytes([FORMAT_VERSION << 4 | LANGUAGE_VERSION]) + size.to_bytes(8, "little") + tags
    return blake2b(data, digest_size=DIGEST_BYTES, key=head).digest()


def write_member(size: int, sections: tuple[Section, ...], data_digest: bytes) -> bytes:
    """The member as bytes. With more than one section each has a checksum of two bytes in the table."""
    width = max((max([size, *(len(s.payload) for s in sections)]).bit_length() + 7) // 8, 1)
    out = bytearray(MAGIC)
    out.append(FORMAT_VERSION << 4 | LANGUAGE_VERSION)
    out.append(width << 4 | len(sections))
    out += size.to_bytes(width, "little")
    for section in sections:
        out.append(section.tag)
        out += len(section.payload).to_bytes(width, "little")
        if len(sections) > 1:
            out += checksum(section.payload)
    for section in sections:
        out += section.payload
    return bytes(out + data_digest)


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
    versions, layout = cursor.byte(), cursor.byte()
    if versions >> 4 != FORMAT_VERSION:
        raise ArchiveError(f"format version {versions >> 4} is not known here: update kolmo")
    if versions & 15 != LANGUAGE_VERSION:
        raise ArchiveError(f"language version {versions & 15} is not known here: update kolmo")
    width, count = layout >> 4, layout & 15
    if not 1 <= width <= 8:
        raise ArchiveError("the header is damaged (field width)")
    size = cursor.integer(width)
    table = []
    for _ in range(count):
        tag, length = cursor.byte(), cursor.integer(width)
        table.append((tag, length, cursor.take(2) if count > 1 else b""))
    sections = []
    for tag, length, check in table:
        payload = cursor.take(length)
        if check and checksum(payload) != check:
            raise ArchiveError(f"section {tag} is damaged")
        if not tag & OPTIONAL and tag != PROGRAMS and tag > 5:
            raise ArchiveError(f"section {tag} is not known here and cannot be skipped: update kolmo")
        sections.append(Section(tag, payload))
    return Member(size, tuple(sections), cursor.take(DIGEST_BYTES), cursor.position - start)


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
