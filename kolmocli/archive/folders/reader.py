"""Read the archive of a folder: its entries, and the contents of some or all of its files, without any disk."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from kolmocli.archive.codecs.codecs import CODECS
from kolmocli.archive.errors import ArchiveError, ArchiveLimitError
from kolmocli.archive.format.container import PROGRAMS, PYTHON, Member
from kolmocli.archive.format.folder import MOST_INDEX_BYTES, Entry, Parts, is_folder, read_folder, read_index, shown
from kolmocli.archive.opener import DEFAULT_MAX_OUTPUT, RunPython, checked_members, decode_member, decompress
from kolmocli.errors import suggest

_ANY = 1 << 63
"""Bytes: `open_folder` compares what members declare with what files do, which is bounded."""
_KINDS = {PROGRAMS: "programs", PYTHON: "python"}


@dataclass(frozen=True, slots=True)
class Share:
    """Size of a file in the archive."""

    packed: float = 0.0
    """Bytes: of a member that several files share as many as the share of its original that the file is."""
    methods: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Folder:
    """An opened archive: its index is decoded and checked, its contents are not."""

    entries: list[Entry]
    """In the order of their contents."""
    parts: Parts

    @property
    def size(self) -> int:
        return sum(entry.size for entry in self.entries)

    def within(self, path: bytes) -> list[Entry]:
        """Entries at the path, or below it.

        Raises:
            ArchiveError: when there is nothing.
        """
        path = path.rstrip(b"/")
        found = [e for e in self.entries if e.path == path or e.path.startswith(path + b"/")]
        if not found:
            near = suggest(shown(path), [shown(e.path) for e in self.entries[:1000]])
            raise ArchiveError(f"holds no {shown(path)}" + (f"; {near}" if near.startswith("did") else ""))
        return found

    def pieces(self, wanted: Collection[Entry], run_python: RunPython | None = None) -> Iterator[tuple[Entry, bytes]]:
        """The contents of these files, in one or more pieces each, in the order of the archive. Only the members that hold some of
        them are decoded, one at a time.

        Raises:
            ArchiveError: when one of the members is damaged.
        """
        asked = set(wanted)
        spans = ((start, end, entry) for start, end, entry in self._spans() if entry in asked)
        start, end, entry = next(spans, (0, 0, None))
        low = 0
        for member in self._members():
            high = low + member.size
            if entry is None:
                return
            if start < high:
                data = decode_member(member, run_python=run_python)
                while entry is not None and start < high:
                    yield entry, data[max(start - low, 0) : end - low]
                    if end > high:
                        break
                    start, end, entry = next(spans, (0, 0, None))
            low = high

    def shares(self) -> Iterator[tuple[Entry, Share]]:
        """Size of each entry in the archive, without decoding."""
        members = self._members()
        member, low, high = None, 0, 0
        for start, end, entry in self._spans():
            packed, methods = 0.0, dict[str, None]()
            while True:
                if member is not None and member.size and high > start:
                    packed += member.length * (min(end, high) - max(start, low)) / member.size
                    methods |= dict.fromkeys(methods_of(member))
                if high >= end:
                    break
                member = next(members)
                low, high = high, high + member.size
            yield entry, Share(packed, tuple(methods))
        for entry in self.entries:
            if not entry.size:
                yield entry, Share()

    def _spans(self) -> Iterator[tuple[int, int, Entry]]:
        """Start and end of the contents of each file that has some."""
        at = 0
        for entry in self.entries:
            if entry.size:
                yield at, at + entry.size, entry
                at += entry.size

    def _members(self) -> Iterator[Member]:
        return checked_members(self.parts.members, _ANY) if self.parts.members else iter(())


def open_folder(archive: bytes, max_output: int = DEFAULT_MAX_OUTPUT) -> Folder:
    """The archive of a folder with its index.

    Raises:
        ArchiveError: when it is damaged, or is none.
        ArchiveLimitError: when its files together, or its index, are larger than they may be.
    """
    parts = read_folder(archive)
    if is_folder(parts.index):
        raise ArchiveError("the archive is damaged: its index is the archive of a folder")
    folder = Folder(read_index(decompress(parts.index, MOST_INDEX_BYTES), parts.members), parts)
    if folder.size > max_output:
        raise ArchiveLimitError(f"the archive declares {folder.size} bytes, more than the limit of {max_output}")
    if sum(member.size for member in folder._members()) != folder.size:
        raise ArchiveError("the members are not as long as the files together: the archive is damaged")
    return folder


def methods_of(member: Member) -> tuple[str, ...]:
    """Names of the sections of a member, for a list."""
    tags = [section.tag for section in member.sections]
    return tuple(CODECS[tag].name if tag in CODECS else _KINDS.get(tag, "optional") for tag in tags)
