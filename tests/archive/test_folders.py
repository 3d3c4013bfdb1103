"""Archives of folders: what is kept, what shares a member, and that a second decoder agrees with the page."""

import os
import random
import struct

import pytest

from kolmocli.archive.errors import ArchiveError, ArchiveLimitError
from kolmocli.archive.folders.packer import pack_folder
from kolmocli.archive.folders.reader import open_folder
from kolmocli.archive.folders.tree import inner_path, read_tree
from kolmocli.archive.format.container import varint
from kolmocli.archive.format.folder import (
    Entry,
    Kind,
    check_of,
    check_together,
    read_index,
    shown,
    write_folder,
    write_index,
)
from kolmocli.archive.opener import decompress, members
from kolmocli.archive.options import Options
from kolmocli.archive.packer import compress
from kolmocli.errors import KolmoError

from . import independent, samples

TEXTS = {f"page {i}.txt".encode(): samples.text(900, seed=i) for i in range(6)}
COUNTERS = {f"c/x.{i}".encode(): samples.counter(300, start=i, step=i + 3) for i in range(3)}
ODD = {
    b"new\nline": b"1",
    b"\xff\xfe": b"2",
    b"\x1b[31mred": b"3",
    "ü".encode(): b"4",
    b"-f": b"5",
    b"back\\slash": b"6",
}


def found(files):
    return [(Entry(path, Kind.FILE, len(data)), data) for path, data in sorted(files.items())]


def packed(files, level=6):
    return pack_folder(found(files), Options(level))[0]


def contents(archive):
    folder = open_folder(archive)
    made = {entry.path: b"" for entry in folder.entries if entry.is_file}
    for entry, piece in folder.pieces(folder.entries):
        made[entry.path] += piece
    return made


@pytest.fixture
def tree(tmp_path):
    """A folder with one of everything."""
    root = tmp_path / "tree"
    (root / "deep" / "er").mkdir(parents=True)
    (root / "empty" / "too").mkdir(parents=True)
    (root / "deep" / "er" / "text").write_bytes(samples.text(500))
    (root / "nothing").touch()
    (root / "run").write_text("#!/bin/sh\n")
    (root / "run").chmod(0o755)
    for name, data in ODD.items():
        with open(os.path.join(os.fsencode(root), name), "wb") as file:
            file.write(data)
    os.symlink("deep/er/text", root / "inside")
    os.symlink("/etc/passwd", root / "outside")
    os.symlink("../nowhere", root / "broken")
    return root


def test_everything_in_a_folder_is_in_its_archive(tree):
    archive = pack_folder(read_tree([str(tree)]).entries, Options(1))[0]
    kinds = {entry.path: entry.kind for entry in open_folder(archive).entries}
    assert kinds[b"run"] is Kind.PROGRAM
    assert kinds[b"empty/too"] is Kind.FOLDER
    assert b"empty" not in kinds
    assert kinds[b"broken"] is Kind.LINK
    made = contents(archive)
    assert made[b"deep/er/text"] == samples.text(500)
    assert made[b"nothing"] == b""
    assert made.items() >= ODD.items()


def test_a_second_decoder_agrees(tree):
    for archive in (
        pack_folder(read_tree([str(tree)]).entries, Options(6))[0],
        packed(TEXTS | COUNTERS),
        packed({}),
    ):
        told = independent.decode_folder(archive)
        folder = open_folder(archive)
        assert told.keys() == {entry.path for entry in folder.entries}
        for path, data in contents(archive).items():
            assert told[path][0] == data
        for entry in folder.entries:
            if entry.kind is Kind.LINK:
                assert told[entry.path] == entry.target
            elif entry.kind is Kind.FOLDER:
                assert told[entry.path] is None
            else:
                assert told[entry.path][1] == (entry.kind is Kind.PROGRAM)


def test_the_same_folder_makes_the_same_bytes(tree):
    once = pack_folder(read_tree([str(tree)]).entries, Options(3))[0]
    for name in ("run", "nothing"):
        os.utime(tree / name, (1, 1))
    (tree / "run").chmod(0o700)
    listed = os.listdir
    try:
        os.listdir = lambda path: sorted(listed(path), reverse=True)
        again = pack_folder(read_tree([str(tree)]).entries, Options(3))[0]
    finally:
        os.listdir = listed
    assert once == again


def test_like_files_share_a_member_and_programs_stand_alone():
    archive = packed(TEXTS | COUNTERS)
    folder = open_folder(archive)
    sizes = sorted(m.size for m in members(folder.parts.members))
    assert sizes == [1200, 1200, 1200, sum(map(len, TEXTS.values()))]
    shares = dict(folder.shares())
    assert all(share.methods == ("programs",) for e, share in shares.items() if e.path in COUNTERS)
    assert sum(share.packed for share in shares.values()) == pytest.approx(len(folder.parts.members))
    alone = sum(len(compress(data)) for data in (TEXTS | COUNTERS).values())
    assert len(archive) < alone


def test_packed_files_are_not_in_the_way_of_others():
    noise = {f"{i}.txt".encode(): samples.noise(3000, seed=i) for i in range(3)}
    sizes = [m.size for m in members(open_folder(packed(TEXTS | noise)).parts.members)]
    assert sorted(sizes) == [sum(map(len, TEXTS.values())), 9000]


def test_a_file_larger_than_a_member_has_several(monkeypatch):
    from kolmocli.archive import packer as members_packer
    from kolmocli.archive.folders import packer

    for module in (packer, members_packer):
        monkeypatch.setattr(module, "MEMBER_BYTES", 4000)
        monkeypatch.setattr(module, "PART_BYTES", 1000)
    files = {b"large": samples.noise(9000), b"small": samples.noise(50), b"text": samples.text(3000)}
    for level in (0, 3):
        archive = packed(files, level)
        assert contents(archive) == files
        assert max(m.size for m in members(open_folder(archive).parts.members)) <= 4000


def test_only_the_members_that_are_asked_for_are_decoded(monkeypatch):
    from kolmocli.archive.folders import reader

    decoded = []
    decode = reader.decode_member
    monkeypatch.setattr(reader, "decode_member", lambda m, **how: decoded.append(m.size) or decode(m, **how))
    folder = open_folder(packed(TEXTS | COUNTERS))
    wanted = folder.within(b"c/x.1")
    assert b"".join(piece for _, piece in folder.pieces(wanted)) == COUNTERS[b"c/x.1"]
    assert decoded == [1200]
    assert len(folder.within(b"c/")) == 3
    with pytest.raises(ArchiveError, match=r"holds no c/x\.4; did you mean c/x\.2"):
        folder.within(b"c/x.4")


def test_a_file_may_span_members(monkeypatch):
    """Of 20 bytes in members of 8 there are files that begin, end, and lie in the middle of one."""
    data = bytes(range(20))
    parts = b"".join(compress(data[at : at + 8], 0) for at in range(0, 20, 8)) + compress(b"")
    entries = [Entry(b"a", size=3), Entry(b"b", size=15), Entry(b"c", size=2), Entry(b"d")]
    archive = write_folder(compress(write_index(entries, parts)), parts)
    assert contents(archive) == {b"a": data[:3], b"b": data[3:18], b"c": data[18:], b"d": b""}
    assert independent.decode_folder(archive)[b"b"] == (data[3:18], False)
    shares = dict(open_folder(archive).shares())
    whole = len(parts) - len(compress(b""))
    assert sum(share.packed for share in shares.values()) == pytest.approx(whole)


@pytest.mark.parametrize(
    "path",
    [
        b"/etc/passwd",
        b"../up",
        b"a/../../up",
        b"a/..",
        b".",
        b"./a",
        b"a//b",
        b"a/",
        b"",
        b"a\0b",
        b"n" * 256,
        b"d/" * 2100 + b"f",
    ],
)
def test_no_path_leads_out_of_the_folder(path):
    index = varint(1) + b"\0" + varint(len(path) + 1) + path + b"\0" + varint(0) + check_of(b"")
    with pytest.raises(ArchiveError):
        open_folder(write_folder(compress(index), b""))


@pytest.mark.parametrize(
    "entries",
    [
        [Entry(b"a", Kind.LINK, target=b"/etc"), Entry(b"a/passwd")],
        [Entry(b"a/b/c"), Entry(b"a", Kind.LINK, target=b"/etc")],
        [Entry(b"a"), Entry(b"a-"), Entry(b"a/b")],
        [Entry(b"a"), Entry(b"a")],
        [Entry(b"a", Kind.FOLDER), Entry(b"a")],
        [Entry(b"a", Kind.LINK, target=b"b"), Entry(b"a")],
        [Entry(b"a", Kind.LINK, target=b"")],
        [Entry(b"a", Kind.LINK, target=b"x" * 4097)],
    ],
)
def test_no_path_leads_through_a_link_or_a_file(entries):
    with pytest.raises(ArchiveError):
        open_folder(write_folder(compress(write_index(entries, b"")), b""))
    entries = [Entry(b"a", Kind.FOLDER), Entry(b"a/b"), Entry(b"a.b", Kind.LINK, target=b"a")]
    assert len(open_folder(write_folder(compress(write_index(entries, b"")), b"")).entries) == 3


def test_sizes_that_lie_are_refused():
    data = compress(b"abc")
    for size in (2, 4):
        with pytest.raises(ArchiveError, match=r"not as long|declares 3"):
            open_folder(write_folder(compress(write_index([Entry(b"a", size=size)], data)), data))
    with pytest.raises(ArchiveLimitError, match="limit of 2"):
        open_folder(write_folder(compress(write_index([Entry(b"a", size=3)], data)), data), 2)
    with pytest.raises(ArchiveError, match="another archive"):
        open_folder(write_folder(compress(write_index([Entry(b"a", size=3)], data)), compress(b"abd")))


def test_what_an_index_may_not_hold():
    many = varint(1 << 40) + b"\0" * 100
    too_many = varint((1 << 17) + 1) + bytes((1 << 17) + 1)
    for index in (many, too_many, b"", b"\1\7", varint(1) + b"\4" + varint(2) + b"a\0" + check_of(b"")):
        with pytest.raises(ArchiveError):
            read_index(index, b"")
    with pytest.raises(ArchiveLimitError):
        open_folder(write_folder(compress(bytes((1 << 25) + 1), 0), b""))


def test_not_too_many_folders():
    """Paths that share their folders are many, and paths that do not are folders by the million."""
    deep = b"/".join([b"d"] * 1000)
    together = [Entry(b"%b/%d" % (deep, i)) for i in range(400)]
    check_together(together)
    apart = [Entry(b"%d/%b/f" % (i, deep)) for i in range(200)]
    check_together(apart[:100])
    with pytest.raises(ArchiveError, match="folders"):
        check_together(apart)


def test_a_folder_in_a_folder_is_a_file_and_no_member():
    inner = packed(COUNTERS)
    outer = packed({b"inner.klm": inner})
    assert contents(outer) == {b"inner.klm": inner}
    with pytest.raises(ArchiveError):
        open_folder(write_folder(compress(write_index([Entry(b"a", size=9)], inner)), inner))
    with pytest.raises(ArchiveError):
        open_folder(write_folder(inner, b""))
    with pytest.raises(ArchiveError, match="folder"):
        decompress(outer)


def test_names_as_tar_has_them(tmp_path, monkeypatch):
    assert inner_path(b"/a/b") == b"a/b"
    assert inner_path(b"../../a/./b//c") == b"a/b/c"
    with pytest.raises(KolmoError, match="no name of its own"):
        inner_path(b"..")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d").mkdir()
    for name in ("a", "d/a", "d/b"):
        (tmp_path / name).write_text(name)
    assert [e.path for e, _ in read_tree(["a", "d"]).entries] == [b"a", b"d/a", b"d/b"]
    assert [e.path for e, _ in read_tree(["d"], but="d/b").entries] == [b"a"]
    with pytest.raises(KolmoError, match="twice"):
        read_tree(["a", "./a"])
    os.mkfifo("d/pipe")
    assert read_tree(["d"]).left_out == ("d/pipe",)


def test_what_is_shown_of_a_name():
    assert shown(b"a\nb\x1b[0m\xff") == r"a\nb\x1b[0m\xff"
    assert shown("naïve ü".encode()) == "naïve ü"


def test_a_time_budget_holds_for_a_folder():
    import time

    files = {b"%d" % i: struct.pack("<400d", *(random.Random(i).gauss(0, 1) for _ in range(400))) for i in range(20)}
    archive, _ = pack_folder(found(files), Options(9, deadline=time.monotonic() - 1))
    assert contents(archive) == files
