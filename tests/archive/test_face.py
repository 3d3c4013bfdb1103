"""What a user of the library writes: bytes in, bytes out, and what is behind them."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from kolmocli import archive
from kolmocli.archive import ArchiveError, ArchiveLimitError, compress, decompress, explain
from kolmocli.archive.format.container import PYTHON, Section, digest, write_member
from kolmocli.archive.format.folder import Entry, Kind, write_folder, write_index
from kolmocli.archive.python_mode import write_source
from kolmocli.errors import KolmoError, UsageError

DATA = bytes(range(0, 99, 3)) * 50


@pytest.mark.parametrize("level", [0, 3, 6, 9])
def test_bytes_to_bytes(level: int) -> None:
    packed = compress(DATA, level=level)
    assert isinstance(packed, bytes)
    assert decompress(packed) == DATA


@pytest.mark.parametrize(
    "data", [bytearray(b"1,2\n" * 30), memoryview(b"1,2\n" * 60)[::2], np.arange(70), np.arange(70).astype(">i4")[::-1]]
)
def test_what_has_bytes_to_bytes(data: memoryview) -> None:
    assert decompress(compress(data, level=2)) == memoryview(data).tobytes()


def test_arguments_of_compress() -> None:
    assert compress(DATA, level=np.int64(2), seconds=math.inf) == compress(DATA, level=2)  # type: ignore[arg-type]
    for level in (-1, 10, 6.5):
        with pytest.raises(UsageError, match="from 0 to 9"):
            compress(DATA, level=level)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="bytes-like"):
        compress("text")  # type: ignore[arg-type]


def test_the_usual_level_is_six() -> None:
    assert compress(DATA) == compress(DATA, 6)


def test_seconds_are_counted_from_the_call() -> None:
    """Data for which the search takes far longer."""
    data = b"".join(i.to_bytes(4, "little") for i in range(0, 3 << 18, 3))
    began = time.monotonic()
    packed = compress(data, level=9, seconds=2.0)
    assert time.monotonic() - began < 20
    assert decompress(packed) == data


def test_what_is_wrong_with_an_archive() -> None:
    with pytest.raises(ArchiveError, match="not a kolmo archive"):
        decompress(b"PK\x03\x04")
    with pytest.raises(ArchiveLimitError, match="more than the limit of 10"):
        decompress(compress(DATA), max_output=10)


def test_an_explanation_prints_and_can_be_looked_into() -> None:
    explanation = explain(compress(DATA) + compress(b"\x00\xff"))
    first, second = explanation.members
    assert (first.size, second.size) == (len(DATA), 2)
    assert [(block.start, block.start + block.count) for block in first.blocks] == [(0, 33), (33, len(DATA))]
    assert first.blocks[0].program == "sequence_1 = range_func_interval(0, 99, 3)"
    assert str(explanation).splitlines()[:3] == [
        f"# member 1: {len(DATA)} bytes in {first.packed}, 2 blocks",
        "# items 0..32",
        "sequence_1 = range_func_interval(0, 99, 3)",
    ]


def test_everything_that_is_named_is_there() -> None:
    assert set(archive.__all__) <= set(dir(archive))
    assert all(getattr(archive, name) for name in archive.__all__)
    with pytest.raises(AttributeError, match="no attribute 'unzip'"):
        _ = archive.unzip


def test_the_face_is_light_and_the_rest_needs_no_torch() -> None:
    script = (
        "import sys, kolmocli.archive as a\n"
        "assert not {'torch', 'numpy', 'docker', 'kolmocli.archive.packer'} & sys.modules.keys()\n"
        "assert a.decompress(a.compress(b'abc' * 100)) == b'abc' * 100\n"
        "assert not {'torch', 'docker'} & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_an_archive_as_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.klm").write_bytes(compress(DATA))
    with archive.open(tmp_path / "a.klm") as file:
        assert (file.read(3), file.seek(-2, 2), file.read()) == (DATA[:3], len(DATA) - 2, DATA[-2:])
    with pytest.raises(ArchiveError, match=r"a\.klm: holds a single file"):
        archive.open(tmp_path / "a.klm", "a")
    with pytest.raises(ArchiveLimitError, match="limit of 10"):
        archive.open(tmp_path / "a.klm", max_output=10)
    with pytest.raises(KolmoError, match=r"none\.klm: cannot be read: No such file"):
        archive.open(tmp_path / "none.klm")


def test_one_file_of_a_folder(tmp_path: Path) -> None:
    entries = [Entry(b"d/a", size=3), Entry(b"\xff", size=2), Entry(b"l", Kind.LINK, target=b"d/a"), Entry(b"e")]
    members = compress(b"abc") + compress(b"de")
    (tmp_path / "x.klm").write_bytes(write_folder(compress(write_index(entries, members)), members))
    assert archive.open(str(tmp_path / "x.klm"), "d/a").read() == b"abc"
    assert archive.open(tmp_path / "x.klm", b"\xff").read() == b"de"
    assert archive.open(tmp_path / "x.klm", os.fsdecode(b"\xff")).read() == b"de"
    assert archive.open(tmp_path / "x.klm", "e").read() == b""
    for member, words in (
        (None, "a folder of 4 entries"),
        ("d", "name a file"),
        ("l", "name a file"),
        ("b", "holds no b"),
    ):
        with pytest.raises(ArchiveError, match=words):
            archive.open(tmp_path / "x.klm", member)


def test_a_python_program_is_not_run_unless_allowed(tmp_path: Path) -> None:
    data, ran = b"made by a program", []
    section = Section(PYTHON, write_source("output = b'made by a program'"))
    member = write_member(len(data), (section,), digest(len(data), bytes([PYTHON]), data))
    entries = [Entry(b"a", size=len(data))]
    (tmp_path / "one.klm").write_bytes(member)
    (tmp_path / "x.klm").write_bytes(write_folder(compress(write_index(entries, member)), member))

    def run(source: str, size: int) -> bytes:
        ran.append(source)
        return data

    for name, path in (("one.klm", None), ("x.klm", "a")):
        with pytest.raises(ArchiveError, match="Python program"):
            archive.open(tmp_path / name, path)
        assert not ran
        assert archive.open(tmp_path / name, path, run_python=run).read() == data
        assert ran.pop()
