"""Archives as files: `open` for reading, as with gzip and zipfile.

with kolmo.open("readings.csv.klm") as file: ...
with kolmo.open("run.klm", "logs/train.csv") as file: ...
"""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path

from kolmocli.archive.errors import ArchiveError
from kolmocli.archive.folders.reader import open_folder
from kolmocli.archive.format.folder import is_folder
from kolmocli.archive.opener import DEFAULT_MAX_OUTPUT, RunPython, decompress
from kolmocli.errors import KolmoError, naming


def open(
    path: str | os.PathLike[str],
    member: str | bytes | None = None,
    *,
    max_output: int = DEFAULT_MAX_OUTPUT,
    run_python: RunPython | None = None,
) -> BytesIO:
    """The original of an archive, or one file of the archive of a folder, as a binary file in memory.

    Only what holds the file is decoded. Without `run_python` an archive that holds a Python program is refused.

    Raises:
        KolmoError: when the archive cannot be read.
        ArchiveError: when it is damaged, or has no such file.
        ArchiveLimitError: when its original is larger than `max_output` bytes.
        CodecMissing: when it needs a codec that is not installed.
    """
    try:
        archive = Path(path).read_bytes()
    except OSError as error:
        raise KolmoError(f"{path}: cannot be read: {error.strerror}") from None
    with naming(os.fspath(path)):
        if is_folder(archive):
            return BytesIO(_member(archive, member, max_output, run_python))
        if member is not None:
            raise ArchiveError("holds a single file; leave out the member")
        return BytesIO(decompress(archive, max_output, run_python))


def _member(archive: bytes, member: str | bytes | None, max_output: int, run_python: RunPython | None) -> bytes:
    folder = open_folder(archive, max_output)
    if member is None:
        raise ArchiveError(f"holds a folder of {len(folder.entries)} entries; name a file of it as the member")
    name = os.fsencode(member)
    found = [entry for entry in folder.within(name) if entry.path == name]
    if not found or not found[0].is_file:
        raise ArchiveError(f"{os.fsdecode(name)!r} is a folder or a link; name a file")
    return b"".join(piece for _, piece in folder.pieces(found, run_python))
