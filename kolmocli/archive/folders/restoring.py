"""The files of an archive on disk, all of them or none.

Everything is decoded into a folder of its own next to the target, where no other process writes, and only then takes its place: by one
rename where there is no target yet, otherwise file by file, with what was there before put back should one of them fail.

No path of an archive leads out of the folder, through a link, or twice to one place: `read_index` sees to that. Links are made
last, with the text that they had, and are never followed, neither those of the archive nor those that the target has.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kolmocli.archive.folders.reader import Folder
from kolmocli.archive.format.folder import Entry, Kind, shown
from kolmocli.archive.opener import RunPython
from kolmocli.errors import KolmoError


def restore(
    folder: Folder, wanted: Sequence[Entry], target: str, force: bool = False, run_python: RunPython | None = None
) -> None:
    """Write these entries below the folder `target`, which may exist. Files that exist are overwritten only with `force`.

    Raises:
        KolmoError: when something stands in the way or cannot be written. Then, and when the archive is damaged, nothing has changed.
    """
    place = Path(target)
    try:
        _refuse_what_exists(wanted, place, force)
        exists = place.is_dir()
        if not exists and not place.parent.is_dir():
            raise KolmoError(f"{place.parent}: no such folder")
        with tempfile.TemporaryDirectory(prefix=".kolmo-", dir=place if exists else place.parent) as staging:
            new, old = os.path.join(staging, "new"), os.path.join(staging, "old")
            os.mkdir(new)
            _write(folder, wanted, os.fsencode(new), run_python)
            os.sync()  # one call for thousands of files: the archive may be removed as soon as they have their places
            if exists:
                _move_in(wanted, os.fsencode(new), os.fsencode(old), os.fsencode(place))
            else:
                os.rename(new, place)
    except OSError as error:
        where = error.filename2 or error.filename or target
        raise KolmoError(f"{shown(os.fsencode(where))}: cannot be written: {error.strerror}") from None


def _refuse_what_exists(wanted: Sequence[Entry], place: Path, force: bool) -> None:
    """
    Raises:
        KolmoError: when the target is no folder, or has what must not be overwritten, or a link where the archive has a folder.
    """
    if not os.path.lexists(place):
        return
    if not place.is_dir():
        raise KolmoError(f"{place}: exists already and is no folder; name another with -o")
    root = os.fsencode(place)
    for entry in wanted:
        at = root
        names = entry.path.split(b"/")
        for i, name in enumerate(names, start=1):
            at = os.path.join(at, name)
            try:
                mode = os.lstat(at).st_mode
            except FileNotFoundError:
                break
            folder_due = i < len(names) or entry.kind is Kind.FOLDER
            if folder_due and not stat.S_ISDIR(mode):
                raise KolmoError(f"{shown(at)}: exists already and is no folder, as it is in the archive")
            if not folder_due and stat.S_ISDIR(mode):
                raise KolmoError(f"{shown(at)}: exists already and is a folder")
            if not folder_due and not force:
                raise KolmoError(f"{shown(at)}: exists already; use -f to overwrite it")


def _write(folder: Folder, wanted: Sequence[Entry], root: bytes, run_python: RunPython | None) -> None:
    """All entries below a new and empty folder."""
    for entry in wanted:
        path = os.path.join(root, entry.path)
        os.makedirs(path if entry.kind is Kind.FOLDER else os.path.dirname(path), exist_ok=True)
        if entry.is_file and not entry.size:
            os.close(_created(path, entry))
    with contextlib.ExitStack() as stack:
        current: Entry | None = None
        for entry, piece in folder.pieces(wanted, run_python):
            if entry is not current:
                stack.close()
                current = entry
                file = stack.enter_context(os.fdopen(_created(os.path.join(root, entry.path), entry), "wb"))
            file.write(piece)
    for entry in wanted:
        if entry.kind is Kind.LINK:
            os.symlink(entry.target, os.path.join(root, entry.path))


def reads_back(folder: Folder, target: str, run_python: RunPython | None = None) -> bool:
    """Whether the files on disk are what a second decoding makes."""
    at = dict.fromkeys(folder.entries, 0)
    for entry, piece in folder.pieces(folder.entries, run_python):
        with open(os.path.join(os.fsencode(target), entry.path), "rb") as file:
            file.seek(at[entry])
            if file.read(len(piece)) != piece:
                return False
        at[entry] += len(piece)
    return True


def _created(path: bytes, entry: Entry) -> int:
    mode = 0o777 if entry.kind is Kind.PROGRAM else 0o666
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)


def _move_in(wanted: Sequence[Entry], new: bytes, old: bytes, place: bytes) -> None:
    """Everything from its staging place to the target; what it replaces waits in `old` until all of it is there."""
    done: list[tuple[bytes, bytes | None]] = []
    folders: list[bytes] = []
    try:
        for i, entry in enumerate(wanted):
            at = os.path.join(place, entry.path)
            _make_folders(at if entry.kind is Kind.FOLDER else os.path.dirname(at), folders)
            if entry.kind is Kind.FOLDER:
                continue
            kept = os.path.join(old, b"%d" % i) if os.path.lexists(at) else None
            done.append((at, kept))
            if kept is not None:
                os.makedirs(old, exist_ok=True)
                os.rename(at, kept)
            os.rename(os.path.join(new, entry.path), at)
    except BaseException:
        for at, kept in reversed(done):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(at) if kept is None else os.replace(kept, at)
        for path in reversed(folders):
            os.rmdir(path)
        raise


def _make_folders(path: bytes, made: list[bytes]) -> None:
    missing = []
    while not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for path in reversed(missing):
        os.mkdir(path)
        made.append(path)
