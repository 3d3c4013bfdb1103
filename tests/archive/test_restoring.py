"""The archive of a folder on disk: all of it or nothing, and nothing outside of the target."""

import json
import os

import pytest

from kolmocli.archive.folders import restoring
from kolmocli.archive.format.container import MAGIC
from kolmocli.archive.format.folder import Entry, Kind, write_folder, write_index
from kolmocli.archive.packer import compress
from kolmocli.errors import KolmoError

from . import samples

NAME = b"\xff\n\x1b[31m"


def everything():
    """All paths below the current folder, with contents or targets."""
    found = {}
    for folder, _, files in os.walk(b"."):
        for name in files:
            path = os.path.join(folder, name)
            if os.path.islink(path):
                found[path] = os.readlink(path)
            else:
                with open(path, "rb") as file:
                    found[path] = file.read()
        found[folder] = None
    return found


def hostile(*entries, data=b""):
    members = compress(data, 0) if data else b""
    return write_folder(compress(write_index(entries, members)), members)


@pytest.fixture
def tree(kolmo, tmp_path):
    (tmp_path / "tree" / "in").mkdir(parents=True)
    (tmp_path / "tree" / "empty").mkdir()
    (tmp_path / "tree" / "in" / "a").write_bytes(samples.SMALL["mixed"])
    (tmp_path / "tree" / "b").write_bytes(b"")
    (tmp_path / "tree" / "run").write_text("#!")
    (tmp_path / "tree" / "run").chmod(0o755)
    os.symlink("in", tmp_path / "tree" / "link")
    os.symlink("/etc", tmp_path / "tree" / "etc")
    with open(os.path.join(os.fsencode(tmp_path / "tree"), NAME), "wb") as file:
        file.write(b"odd")
    return tmp_path / "tree"


def test_there_and_back(kolmo, tree):
    assert kolmo("compress", "-q", "-1", "tree/").code == 0
    os.rename("tree", "was")
    done = kolmo("decompress", "-v", "tree.klm")
    assert (done.code, done.out) == (0, b"")
    assert "7 entries" in done.err
    os.chdir("was")
    before = everything()
    os.chdir("../tree")
    assert everything() == before
    assert os.stat("run").st_mode & 0o777 == 0o777 & ~_umask()
    assert os.stat("b").st_mode & 0o777 == 0o666 & ~_umask()
    os.chdir("..")
    assert sorted(os.listdir(".")) == ["tree", "tree.klm", "was"]


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_list_shows_names_escaped(kolmo, tree):
    kolmo("compress", "-q", "-1", "tree")
    shown = kolmo("decompress", "--list", "tree.klm").out.decode()
    rows = {line.split()[0]: line for line in shown.splitlines()}
    assert rows["path"].split() == ["path", "size", "packed", "share", "method"]
    assert "\x1b" not in shown
    assert rows[r"\xff\n\x1b[31m"].split()[1] == "3"
    assert rows["link"].split()[1:3] == ["→", "in"]
    assert rows["empty/"].split()[-1] == "folder"
    assert rows["in/a"].split()[1] == str(len(samples.SMALL["mixed"]))
    listed = json.loads(kolmo("decompress", "-l", "--json", "tree.klm").out)["files"][0]
    entries = {os.fsencode(e["path"]): e for e in listed["entries"]}
    assert entries[NAME]["size"] == 3
    assert (entries[b"run"]["kind"], entries[b"etc"]["target"]) == ("program", "/etc")
    assert entries[b"in/a"]["method"]
    assert listed["packed"] == os.path.getsize("tree.klm")
    assert "OK" in kolmo("decompress", "-t", "tree.klm").err


def test_a_long_list_has_every_row(kolmo):
    entries = [Entry(b"%d" % i) for i in range(2500)]
    with open("x.klm", "wb") as file:
        file.write(hostile(*entries))
    lines = kolmo("decompress", "-l", "x.klm").out.decode().splitlines()
    assert len(lines) == 2502
    assert len({line.index("empty") for line in lines[1:-1]}) == 1


def test_members_by_name(kolmo, tree):
    kolmo("compress", "-q", "-1", "tree")
    assert kolmo("decompress", "tree.klm", "-m", "in/a", "-c").out == samples.SMALL["mixed"]
    assert kolmo("decompress", "tree.klm", "-m", "run", "--member", os.fsdecode(NAME), "-o", "-").out == b"#!odd"
    assert kolmo("decompress", "tree.klm", "-m", "in", "-m", "link", "-o", "some").code == 0
    assert sorted(os.listdir("some")) == ["in", "link"]
    assert os.listdir("some/in") == ["a"]
    for arguments, words in (
        (["-m", "nowhere"], "holds no nowhere"),
        (["-m", "in/../run"], "holds no"),
        (["-m", "link", "-c"], "--member"),
        (["-c"], "--member"),
        (["-m", "run", "--rm"], "--rm"),
        (["-l", "-m", "run"], "--member"),
    ):
        done = kolmo("decompress", "-q", "tree.klm", *arguments)
        assert done.code in (1, 2)
        assert words in done.err
        assert done.err.count("\n") == 1


def test_a_single_file_has_no_members(kolmo, tmp_path):
    (tmp_path / "a.klm").write_bytes(compress(b"abc"))
    done = kolmo("decompress", "a.klm", "-m", "a")
    assert (done.code, os.listdir(".")) == (2, ["a.klm"])
    assert "single file" in done.err


def test_several_files_in_one(kolmo, tmp_path):
    (tmp_path / "d").mkdir()
    for name in ("a", "d/b"):
        (tmp_path / name).write_text(name)
    assert kolmo("compress", "-q", "-1", "a", "d", "-o", "both.klm").code == 0
    assert kolmo("decompress", "both.klm").code == 0
    assert (tmp_path / "both" / "d" / "b").read_text() == "d/b"
    for arguments, words in (
        (["a", "d", "-c"], "-o FILE"),
        (["a", "-", "-o", "x.klm"], "standard input"),
        (["a", "a", "-o", "x.klm"], "twice"),
        (["d", "--rm"], "--rm"),
        (["a", "d", "-o", "a"], "is the input"),
        (["a", "d", "-o", "both.klm"], "-f"),
        (["a", "none", "-o", "x.klm"], "none: no such file"),
    ):
        done = kolmo("compress", "-q", *arguments)
        assert done.code in (1, 2)
        assert words in done.err
        assert sorted(os.listdir(".")) == ["a", "both", "both.klm", "d"]


def test_the_archive_is_not_in_itself(kolmo, tree):
    os.chdir("tree")
    assert kolmo("compress", "-q", ".", "-o", "all.klm").code == 0
    size = os.path.getsize("all.klm")
    assert kolmo("compress", "-qf", ".", "-o", "all.klm").code == 0
    assert os.path.getsize("all.klm") == size


@pytest.mark.parametrize("name", ["tree", "tree/", "tree/.", "./tree//."])
def test_the_archive_of_a_folder_stands_next_to_it(kolmo, tmp_path, tree, name):
    assert kolmo("compress", "-q", "-1", name).code == 0
    assert sorted(os.listdir(tmp_path)) == ["tree", "tree.klm"]


def test_what_is_no_file_is_left_out_with_a_word(kolmo, tree):
    os.mkfifo("tree/pipe")
    done = kolmo("compress", "tree")
    assert done.code == 0
    assert "warning: tree/pipe" in done.err


def test_nothing_is_overwritten_silently(kolmo, tree):
    kolmo("compress", "-q", "-1", "tree")
    (tree / "in" / "a").write_bytes(b"mine")
    before = everything()
    done = kolmo("decompress", "tree.klm")
    assert (done.code, everything()) == (1, before)
    assert "use -f" in done.err
    os.unlink("tree/link")
    os.symlink("/nowhere", "tree/link")
    assert kolmo("decompress", "-f", "tree.klm").code == 0
    assert (tree / "in" / "a").read_bytes() == samples.SMALL["mixed"]
    assert os.readlink("tree/link") == "in"


def test_what_is_new_joins_what_is_there(kolmo, tmp_path):
    (tmp_path / "x.klm").write_bytes(hostile(Entry(b"d/new"), Entry(b"e/f", Kind.FOLDER)))
    (tmp_path / "x" / "d").mkdir(parents=True)
    (tmp_path / "x" / "d" / "old").write_text("old")
    assert kolmo("decompress", "x.klm").code == 0
    assert sorted(os.listdir("x/d")) == ["new", "old"]
    assert os.listdir("x") and os.path.isdir("x/e/f")


@pytest.mark.parametrize("force", [[], ["-f"]])
def test_links_on_the_disk_are_not_followed(kolmo, tmp_path, force):
    """Two archives, the first with a link and the second with a file behind it: the classic way out."""
    (tmp_path / "away").mkdir()
    (tmp_path / "1.klm").write_bytes(hostile(Entry(b"d", Kind.LINK, target=b"../away")))
    (tmp_path / "2.klm").write_bytes(hostile(Entry(b"d/f", size=3), data=b"bad"))
    assert kolmo("decompress", "1.klm", "-o", "x").code == 0
    done = kolmo("decompress", "2.klm", "-o", "x", *force)
    assert done.code == 1
    assert "no folder" in done.err
    assert os.listdir("away") == []
    (tmp_path / "3.klm").write_bytes(hostile(Entry(b"d", size=3), data=b"new"))
    assert kolmo("decompress", "3.klm", "-o", "x", "-f").code == 0
    assert not os.path.islink("x/d")
    assert os.listdir("away") == []


def test_a_folder_is_never_replaced(kolmo, tmp_path):
    (tmp_path / "x.klm").write_bytes(hostile(Entry(b"d")))
    (tmp_path / "x" / "d").mkdir(parents=True)
    done = kolmo("decompress", "-f", "x.klm")
    assert (done.code, os.path.isdir("x/d")) == (1, True)
    done = kolmo("decompress", "x.klm", "-o", "no/such/folder")
    assert (done.code, done.err) == (1, "kolmo: error: x.klm: no/such: no such folder\n")
    (tmp_path / "file").write_text("mine")
    done = kolmo("decompress", "-f", "x.klm", "-o", "file")
    assert (done.code, (tmp_path / "file").read_text()) == (1, "mine")


@pytest.mark.parametrize("exists", [False, True])
def test_a_damaged_archive_leaves_nothing(kolmo, tmp_path, exists):
    data = samples.noise(3000)
    archive = bytearray(hostile(Entry(b"a", size=1000), Entry(b"b", size=2000), data=data))
    archive[-1] ^= 1
    good = bytes(archive[:-1]) + bytes([archive[-1] ^ 1])
    (tmp_path / "x.klm").write_bytes(archive)
    (tmp_path / "y.klm").write_bytes(_with_check(archive))
    if exists:
        (tmp_path / "x").mkdir()
        (tmp_path / "x" / "mine").write_text("mine")
    before = everything()
    for name in ("x.klm", "y.klm"):
        done = kolmo("decompress", name, "-o", "x")
        assert (done.code, everything()) == (1, before)
        assert "damaged" in done.err
    (tmp_path / "x.klm").write_bytes(good)
    assert kolmo("decompress", "x.klm").code == 0


def _with_check(archive):
    """The same with an index that knows of the damage, so that it is found only when the contents are decoded."""
    from kolmocli.archive.format.folder import read_folder

    members = read_folder(bytes(archive)).members
    entries = [Entry(b"a", size=1000), Entry(b"b", size=2000)]
    return write_folder(compress(write_index(entries, members)), members)


@pytest.mark.parametrize("failing", ["rename", "symlink", "sync"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
@pytest.mark.parametrize("exists", [False, True])
def test_what_fails_halfway_is_taken_back(tmp_path, monkeypatch, failing, error, exists):
    from kolmocli.archive.folders.reader import open_folder

    monkeypatch.chdir(tmp_path)
    link = Entry(b"new/z", Kind.LINK, target=b"a")
    folder = open_folder(hostile(Entry(b"a", size=3), Entry(b"new/c", size=4), link, data=b"neweven"))
    if exists:
        os.mkdir("x")
        with open("x/a", "w") as file:
            file.write("old")
    before, calls, real = everything(), [], getattr(os, failing)

    def fails(*arguments):
        calls.append(arguments)
        if len(calls) == (3 if exists and failing == "rename" else 1):
            raise error
        return real(*arguments)

    monkeypatch.setattr(restoring.os, failing, fails)
    with pytest.raises((KolmoError, KeyboardInterrupt)):
        restoring.restore(folder, folder.entries, "x", force=True)
    monkeypatch.undo()
    os.chdir(tmp_path)
    assert everything() == before
    restoring.restore(folder, folder.entries, "x", force=True)
    assert (tmp_path / "x" / "new" / "c").read_text() == "even"


def test_remove_reads_back_first(kolmo, tree, monkeypatch):
    kolmo("compress", "-q", "-1", "tree")
    assert kolmo("decompress", "--rm", "tree.klm", "-o", "x").code == 0
    assert not os.path.exists("tree.klm")
    kolmo("compress", "-q", "-1", "tree")
    monkeypatch.setattr(restoring, "reads_back", lambda *_: False)
    assert kolmo("decompress", "--rm", "tree.klm", "-o", "y").code == 1
    assert os.path.exists("tree.klm")


def test_compare_is_with_a_tar(kolmo, tree):
    shown = kolmo("compress", "-q", "--compare", "tree").out.decode().split()
    assert {"kolmo", "xz", "zstd"} <= set(shown)


def test_archives_of_folders_are_known_by_four_bytes(tmp_path, tree, kolmo):
    kolmo("compress", "-q", "-1", "tree")
    assert (tmp_path / "tree.klm").read_bytes()[:4] == MAGIC + b"\xf1"
