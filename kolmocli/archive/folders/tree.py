"""Files, folders and links on disk as the entries of an archive, the same for the same names and contents.

Kept: paths byte for byte, contents, whether a file may be executed, links as links, empty folders. Not kept: times, owners and
other permissions, so that the same folder makes the same archive on every machine.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from kolmocli.archive.errors import ArchiveError
from kolmocli.archive.format.folder import MOST_ENTRIES, Entry, Kind, check_path, check_together, shown
from kolmocli.errors import KolmoError

Found = tuple[Entry, bytes]
"""An entry, and its contents where it is a file."""


@dataclass(frozen=True, slots=True)
class Tree:
    """Files and folders to pack."""

    entries: tuple[Found, ...]
    """By path."""
    left_out: tuple[str, ...] = ()
    """Paths that are neither file nor folder nor link."""


def read_tree(names: Iterable[str], but: str | None = None) -> Tree:
    """All that is at or below these names; of a single folder, what is in it. `but` is a file to leave out, the archive itself.

    Raises:
        KolmoError: when something cannot be read, or two names are one in the archive.
    """
    names = list(names)
    found: list[Found] = []
    left_out: list[str] = []
    not_this = os.stat(but) if but is not None and os.path.isfile(but) else None

    def leave(path: bytes) -> None:
        left_out.append(shown(path))

    for name in map(os.fsencode, names):
        inside = b"" if len(names) == 1 and os.path.isdir(name) else inner_path(name)
        for entry, contents in _below(name, inside, not_this, leave):
            found.append((entry, contents))
            if len(found) > MOST_ENTRIES:
                raise KolmoError(f"{names[0]}: more than {MOST_ENTRIES} files are too many for one archive")
    found.sort(key=lambda pair: pair[0].path)
    try:
        for entry, _ in found:
            check_path(entry.path)
        check_together([entry for entry, _ in found])
    except ArchiveError as error:
        raise KolmoError(f"cannot be in one archive: {error}") from None
    return Tree(tuple(found), tuple(left_out))


def inner_path(name: bytes) -> bytes:
    """The path of a named file in the archive: the name without `/`, `.` and `..` before it, as tar has it."""
    parts = [part for part in os.path.normpath(name).split(b"/") if part not in (b"", b".", b"..")]
    if not parts:
        raise KolmoError(f"{shown(name)}: has no name of its own in an archive; name what is in it")
    return b"/".join(parts)


def _below(path: bytes, inside: bytes, but: os.stat_result | None, leave: Callable[[bytes], None]) -> Iterator[Found]:
    """The entries of what is at the path. `inside` is its path in the archive, empty for the archive's own folder."""
    try:
        status = os.lstat(path) if inside else os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            within = sorted(os.listdir(path))
            if not within and inside:
                yield Entry(inside, Kind.FOLDER), b""
            for name in within:
                yield from _below(os.path.join(path, name), inside + b"/" + name if inside else name, but, leave)
        elif stat.S_ISLNK(status.st_mode):
            yield Entry(inside, Kind.LINK, target=os.readlink(path)), b""
        elif not stat.S_ISREG(status.st_mode):
            leave(path)
        elif but is None or not os.path.samestat(status, but):
            with open(path, "rb") as file:
                contents = file.read()
            kind = Kind.PROGRAM if status.st_mode & stat.S_IXUSR else Kind.FILE
            yield Entry(inside, kind, len(contents)), contents
    except FileNotFoundError:
        raise KolmoError(f"{shown(path)}: no such file") from None
    except OSError as error:
        raise KolmoError(f"{shown(path)}: cannot be read: {error.strerror}") from None
