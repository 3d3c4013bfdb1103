"""Python programs in archives: only where they are allowed, and only in the sandbox."""

import re

import pytest

from kolmocli.archive.errors import ArchiveError
from kolmocli.archive.explanation import explain
from kolmocli.archive.format.container import PYTHON, read_member
from kolmocli.archive.opener import decompress
from kolmocli.archive.options import Options
from kolmocli.archive.packer import compress_with_reports
from kolmocli.archive.python_mode import PythonRunner, read_source, write_source
from tests.conftest import NO_ENGINE

SOURCE = "a, out = 1, []\nfor i in range(900):\n    a = a * 7 % 65537 ^ i\n    out.append(a % 256)\nout\n"
RUNNER = PythonRunner("embedded")


def made():
    names = {}
    exec(SOURCE, names)  # the test's own text
    return bytes(names["out"])


@pytest.fixture(scope="module")
def archive():
    return compress_with_reports(made() + b"and the rest", Options(level=4, python=SOURCE, run_python=RUNNER))[0]


def test_it_comes_back_in_the_sandbox_only(archive):
    assert len(archive) < 200
    with pytest.raises(ArchiveError, match="--allow-python"):
        decompress(archive)
    assert decompress(archive, run_python=RUNNER) == made() + b"and the rest"


def test_listing_and_explaining_run_nothing(archive):
    assert read_member(archive).section(PYTHON, PYTHON)
    [member] = explain(archive).members
    assert member.python == SOURCE
    assert str(member).endswith(SOURCE)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("[1, 2, 3]", "does not make the data"),
        ("[300]", "at most 912 bytes"),
        ("list(range(99999))", "ended with|at most 912 bytes"),
        ("1 / 0", "ended with RUNTIME"),
    ],
)
def test_programs_that_make_something_else_are_refused(source, words):
    with pytest.raises(ArchiveError, match=words):
        compress_with_reports(made() + b"and the rest", Options(level=0, python=source, run_python=RUNNER))


def test_a_program_that_fails_is_said_with_the_file_that_it_should_make(kolmo, tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", NO_ENGINE["DOCKER_HOST"])
    (tmp_path / "a").write_bytes(made())
    (tmp_path / "make.py").write_text("[1, 2, 3]")
    done = kolmo("compress", "-0", "a", "--program", "make.py", "--allow-python")
    assert done.code == 1
    assert "kolmo: error: a: " in done.err


def test_a_damaged_source_is_an_error(archive):
    assert read_source(write_source(SOURCE)) == SOURCE
    for payload in (b"", b"\x09", b"\x00\xff"):
        with pytest.raises(ArchiveError):
            read_source(payload)
    for position in range(0, len(archive), 7):
        damaged = bytearray(archive)
        damaged[position] ^= 1
        with pytest.raises(ArchiveError):
            decompress(bytes(damaged))


# --- archives from strangers


def lying(source):
    """An archive whose program is not what made its data."""
    return compress_with_reports(
        made() + b"and the rest", Options(level=0, python=source, run_python=lambda source, size: made())
    )[0]


HOSTILE = {
    "it never ends": ("while True:\n    pass\n", "TLE_"),
    "it takes all memory": ("x = [1]\nwhile True:\n    x = x + x\n", "MLE"),
    "it prints for ever": ("while True:\n    print('x' * 10**5)\n", "TLE_|OLE"),
    "it reads a file": ("open('/etc/passwd', 'rb').read()\n", "RUNTIME|DENIED"),
    "it leaves": (
        "import os\nos._exit(0)\n",
        {"embedded": "DENIED", "docker": "RUNTIME: ended before its last statement"},
    ),
    "its words draw on a terminal": ("raise ValueError('\\x1b[2J\\x07 one\\ntwo\\r\\n' * 50)\n", "RUNTIME: ValueError"),
    "it is no Python": ("x = '\x1b[2J\n", "SYNTAX"),
    "it makes too much": ("[1] * 10**5\n", "OLE"),
    "it makes too little": ("b'abc'\n", "the decoded data are not the original"),
    "it makes other bytes": ("bytes(912 - 12)\n", "the decoded data are not the original"),
    "it makes no bytes": ("[-1, 10**400] * 400\n", "does not end with at most 912 bytes"),
    "it makes nothing": ("x = None\n", "the decoded data are not the original|does not end with"),
}
BACKENDS = ["embedded", pytest.param("docker", marks=pytest.mark.docker)]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("source", "words"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_program_is_one_line_and_nothing_is_lost(kolmo, tmp_path, monkeypatch, backend, source, words):
    """Neither the file that it would overwrite nor the archive that it came in."""
    if backend == "embedded":
        monkeypatch.setenv("DOCKER_HOST", NO_ENGINE["DOCKER_HOST"])
    archive = lying(source)
    (tmp_path / "a.klm").write_bytes(archive)
    (tmp_path / "a").write_bytes(b"precious")
    done = kolmo("decompress", "--allow-python", "-f", "--rm", "a.klm")
    assert done.code == 1
    said = [line for line in done.err.splitlines() if not line.startswith("sandbox: embedded")]
    assert len(said) == 1, said
    assert said[0].startswith("kolmo: error: a.klm: ")
    assert said[0].isprintable()
    assert re.search(words if isinstance(words, str) else words[backend], said[0]), said[0]
    assert ((tmp_path / "a").read_bytes(), (tmp_path / "a.klm").read_bytes()) == (b"precious", archive)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a", "a.klm"]


@pytest.mark.docker
@pytest.mark.parametrize(
    "source",
    [
        "import os\nwhile True:\n    os.fork()\n",
        "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n",
        "import socket\nsocket.create_connection(('127.0.0.1', 80), 1)\n",
    ],
    ids=["forks", "kills", "connects"],
)
def test_what_only_containers_hold_is_held_there(source):
    with pytest.raises(ArchiveError, match="its Python program ended with"):
        decompress(lying(source), run_python=PythonRunner("docker"))


def test_looking_at_a_hostile_archive_draws_nothing(kolmo, tmp_path):
    (tmp_path / "a.klm").write_bytes(lying("# \x1b[2J\x1b]0;owned\x07\nwhile True:\n    pass\n"))
    for option in ("--list", "--explain"):
        done = (
            kolmo("decompress", "-t", option, "a.klm")
            if option == "--explain"
            else kolmo("decompress", option, "a.klm")
        )
        assert b"\x1b" not in done.out + done.err.encode()
        assert b"\x07" not in done.out
