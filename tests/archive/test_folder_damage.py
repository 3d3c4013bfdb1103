"""Damaged archives of folders: an error or the right files, never other files, a hang, or a path that leads out."""

import functools
import random

import pytest

from kolmocli.archive.errors import ArchiveError
from kolmocli.archive.folders.packer import pack_folder
from kolmocli.archive.folders.reader import open_folder
from kolmocli.archive.format.folder import Entry, Kind, read_folder, write_folder, write_index
from kolmocli.archive.opener import decompress
from kolmocli.archive.options import Options
from kolmocli.archive.packer import compress
from kolmocli.errors import KolmoError

from . import samples

LIMIT = 1 << 20


def file(path, data, kind=Kind.FILE):
    return Entry(path, kind, len(data)), data


FOLDERS = {
    "all kinds": [
        file(b"a.txt", samples.text(300)),
        file(b"b.txt", samples.text(200, seed=1)),
        file(b"d/counter", samples.counter(60), Kind.PROGRAM),
        file(b"d/\xff\n", samples.SHORT["short floats"]),
        file(b"empty", b""),
        (Entry(b"e/f", Kind.FOLDER), b""),
        (Entry(b"link", Kind.LINK, target=b"../away"), b""),
    ],
    "typed": [file(b"walk", samples.SHORT["short walk"]), file(b"t.csv", samples.SHORT["short readings"])],
    "one file": [file(b"a", b"abc")],
    "nothing": [],
}


@functools.cache
def archive_of(name):
    return pack_folder(FOLDERS[name], Options(2))[0]


def contents(archive):
    """What stands at each path."""
    folder = open_folder(bytes(archive), LIMIT)
    made = {(entry.path, entry.kind, entry.target): b"" for entry in folder.entries}
    for entry, piece in folder.pieces(folder.entries):
        made[entry.path, entry.kind, entry.target] += piece
    return made


ORIGINALS = {name: {(e.path, e.kind, e.target): data for e, data in found} for name, found in FOLDERS.items()}


@pytest.mark.parametrize("name", FOLDERS)
def test_every_single_byte_flip(name):
    archive = archive_of(name)
    rng = random.Random(name)
    for position in range(len(archive)):
        for flip in {1 << rng.randrange(8), 255}:
            damaged = bytearray(archive)
            damaged[position] ^= flip
            try:
                assert contents(damaged) == ORIGINALS[name]  # bits that no codec reads
            except KolmoError:
                continue


@pytest.mark.parametrize("name", FOLDERS)
def test_every_truncation_and_every_rest_is_an_error(name):
    archive = archive_of(name)
    assert contents(archive) == ORIGINALS[name]
    for end in range(len(archive)):
        with pytest.raises(ArchiveError):
            contents(archive[:end])
    for rest in (b"\0", b"garbage", compress(b""), compress(b"abc"), archive):
        with pytest.raises(ArchiveError):
            contents(archive + rest)


def test_members_of_another_folder_are_refused():
    parts = {name: read_folder(archive_of(name)) for name in FOLDERS}
    for one, index in parts.items():
        for other, members in parts.items():
            mixed = write_folder(index.index, members.members)
            if one == other:
                assert contents(mixed) == ORIGINALS[one]
            else:
                with pytest.raises(ArchiveError):
                    contents(mixed)


def test_members_in_another_order_are_refused():
    first, second = compress(b"abc"), compress(b"xyz")
    found = [Entry(b"a", size=3), Entry(b"b", size=3)]

    index = compress(write_index(found, first + second))
    assert contents(write_folder(index, first + second))
    with pytest.raises(ArchiveError):
        contents(write_folder(index, second + first))


def test_a_folder_is_no_file_and_a_file_no_folder():
    with pytest.raises(ArchiveError, match="folder"):
        decompress(archive_of("one file"))
    with pytest.raises(ArchiveError, match="not an archive of a folder"):
        open_folder(compress(b"abc"))
