"""A folder as an archive: an index of paths, and the contents of all files as ordinary members behind it.

    magic 3 · F1 · length of the index varint · index (an archive of its own) · members

The original of the members is all contents, one directly after the other, in the order of the index. Where a file ends has
nothing to do with where a member ends: many small files can share one, and a large file can have several.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from hashlib import blake2b

from kolmocli.archive.errors import ArchiveError
from kolmocli.archive.format.container import MAGIC, read_varint, varint

FOLDER_VERSION = 0xF1
"""Stands in the place of a member's versions: no format of members has the number 15, so older decoders ask for an update."""
MOST_ENTRIES = 1 << 17
MOST_INDEX_BYTES = 1 << 25
MOST_PATH_BYTES = 4096
MOST_NAME_BYTES = 255
"""A file system has no longer ones. All of these bound the memory that an index takes, to some 300 MB."""
NUL, SLASH = b"\0", b"/"
_CHECK_BYTES = 8


class Kind(IntEnum):
    FILE = 0
    PROGRAM = 1
    """A file that may be executed."""
    FOLDER = 2
    """One that is empty: the others are in the paths of what they hold."""
    LINK = 3


@dataclass(frozen=True, slots=True)
class Entry:
    """A path with its kind, size and target."""

    path: bytes
    """Relative to the folder, with `/` between names."""
    kind: Kind = Kind.FILE
    size: int = 0
    """Bytes of a file."""
    target: bytes = b""
    """Target of a link, as it stands in the link."""

    @property
    def is_file(self) -> bool:
        return self.kind in (Kind.FILE, Kind.PROGRAM)


@dataclass(frozen=True, slots=True)
class Parts:
    """A folder archive, taken apart."""

    index: bytes
    """An archive whose original `read_index` takes."""
    members: bytes
    """An archive whose original is all contents."""


def is_folder(archive: bytes) -> bool:
    return archive[:4] == MAGIC + bytes([FOLDER_VERSION])


def write_folder(index: bytes, members: bytes) -> bytes:
    return MAGIC + bytes([FOLDER_VERSION]) + varint(len(index)) + index + members


def read_folder(archive: bytes) -> Parts:
    """Index and members, both still packed.

    Raises:
        ArchiveError: when it is no folder archive, or is cut off within its index.
    """
    if not is_folder(archive):
        raise ArchiveError("not an archive of a folder")
    length, start = read_varint(archive, len(MAGIC) + 1)
    if start + length > len(archive):
        raise ArchiveError("the archive is truncated")
    return Parts(archive[start : start + length], archive[start + length :])


def write_index(entries: Sequence[Entry], members: bytes) -> bytes:
    """The original of the index: kinds, paths and targets, sizes, and a check of the members."""
    texts = [text for e in entries for text in ((e.path, e.target) if e.kind is Kind.LINK else (e.path,))]
    sizes = b"".join(varint(e.size) for e in entries if e.is_file)
    names = b"".join(text + b"\0" for text in texts)
    return (
        varint(len(entries)) + bytes(e.kind for e in entries) + varint(len(names)) + names + sizes + check_of(members)
    )


def check_of(members: bytes) -> bytes:
    return blake2b(members, digest_size=_CHECK_BYTES).digest()


def read_index(data: bytes, members: bytes) -> list[Entry]:
    """The entries, in the order of their contents. Every path lies inside of the folder, and none behind a link or a file.

    Raises:
        ArchiveError: when it is damaged, does not belong to these members, or has a path that is not allowed.
    """
    count, at = read_varint(data, 0)
    if count > min(MOST_ENTRIES, len(data)):
        raise ArchiveError(f"the archive has more than {MOST_ENTRIES} files, or its index is damaged")
    kinds = data[at : at + count]
    length, at = read_varint(data, at + count)
    texts = iter(data[at : at + length].split(b"\0"))
    at += length
    entries = []
    for kind in kinds:
        if kind > Kind.LINK:
            raise ArchiveError("the index has something that is neither file nor folder nor link")
        path = next(texts, b"")
        check_path(path)
        size, target = 0, b""
        if kind == Kind.LINK:
            target = next(texts, b"")
            if not 0 < len(target) <= MOST_PATH_BYTES:
                raise ArchiveError(f"{shown(path)}: a link to nowhere, or too far")
        elif kind != Kind.FOLDER:
            size, at = read_varint(data, at)
        entries.append(Entry(path, Kind(kind), size, target))
    if next(texts, b"?") or next(texts, None) is not None or data[at:] != check_of(members):
        raise ArchiveError("the index is damaged, or belongs to another archive")
    check_together(entries)
    return entries


def check_path(path: bytes) -> None:
    """
    Raises:
        ArchiveError: when the path is too long, or could lead out of the folder.
    """
    names = path.split(b"/")
    if len(path) > MOST_PATH_BYTES or max(map(len, names)) > MOST_NAME_BYTES:
        raise ArchiveError(f"{shown(path[:40])}…: a path that is too long")
    if any(name in (b"", b".", b"..") for name in names) or b"\0" in path:
        raise ArchiveError(f"{shown(path)}: a path that does not lie inside of the folder")


def check_together(entries: Sequence[Entry]) -> None:
    """
    Raises:
        ArchiveError: when a path is there twice, leads through a file or a link, or all of them through too many folders.
    """
    # with NUL between names, what lies behind a path comes right after it
    ordered = sorted((entry.path.replace(SLASH, NUL), entry.kind) for entry in entries)
    for (path, kind), (following, _) in itertools.pairwise(ordered):
        if following == path:
            raise ArchiveError(f"{shown(path.replace(NUL, SLASH))}: a path that the index has twice")
        if kind is not Kind.FOLDER and following.startswith(path + NUL):
            raise ArchiveError(f"{shown(following.replace(NUL, SLASH))}: a path that leads through a file or a link")
    if sum(path.count(NUL) for path, _ in ordered) > MOST_ENTRIES and _folders(ordered) > MOST_ENTRIES:
        raise ArchiveError(f"the paths lead through more than {MOST_ENTRIES} folders")


def _folders(ordered: Sequence[tuple[bytes, Kind]]) -> int:
    """Through how many different ones the paths lead."""
    count, before = 0, list[bytes]()
    for path, _ in ordered:
        names = path.split(NUL)[:-1]
        same = next(
            (i for i, (a, b) in enumerate(zip(before, names, strict=False)) if a != b), min(len(before), len(names))
        )
        count, before = count + len(names) - same, names
    return count


def shown(path: bytes) -> str:
    """The path for a person: bytes that are no UTF-8 as `\\xff`, and whatever a terminal might obey written out."""
    text = path.decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
