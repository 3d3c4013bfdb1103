"""What a user of the library writes: bytes in, bytes out, and what is behind them."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from kolmocli import archive
from kolmocli.archive import ArchiveError, ArchiveLimitError, compress, decompress, explain

DATA = bytes(range(0, 99, 3)) * 50


@pytest.mark.parametrize("level", [0, 3, 6, 9])
def test_bytes_to_bytes(level: int) -> None:
    packed = compress(DATA, level=level)
    assert isinstance(packed, bytes)
    assert decompress(packed) == DATA


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
