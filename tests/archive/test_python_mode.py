"""Python programs in archives: only where they are allowed, and only in the sandbox."""

import pytest

from kolmocli.archive.errors import ArchiveError
from kolmocli.archive.explanation import explain
from kolmocli.archive.format.container import PYTHON, read_member
from kolmocli.archive.opener import decompress
from kolmocli.archive.options import Options
from kolmocli.archive.packer import compress_with_reports
from kolmocli.archive.python_mode import PythonRunner, read_source, write_source

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
