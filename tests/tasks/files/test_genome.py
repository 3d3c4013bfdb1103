"""FASTA: letters to values, records and gaps to breaks."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kolmocli.errors import UsageError
from kolmocli.tasks.files.fasta import Genome
from kolmocli.tasks.files.plain import CHUNK
from kolmocli.tasks.files.problems import Problems


def stretches(data: bytes, warnings: list[str] | None = None, strict: bool = False) -> tuple[list[str], int]:
    """What lies between two breaks, as digits, and the number of uncertain bases."""
    genome = Genome(Problems("g.fa", (warnings if warnings is not None else []).append, strict))
    found, held = [], ""
    for run in genome.read(io.BytesIO(data)):
        if run is None:
            found.append(held)
            held = ""
        else:
            held += "".join(map(str, run.tolist()))
    return [s for s in [*found, held] if s], genome.gaps


def test_bases_and_masked_bases() -> None:
    assert stretches(b">x\nACGTU\nacgtu\r\n") == (["0123345677"], 0)


def test_records_and_comments_are_breaks() -> None:
    assert stretches(b"; old style\n>one ACGT\nAC\nGT\n\n>two\nTTT\n>empty\n>three\nA") == (["0123", "333", "0"], 0)


def test_bare_letters_without_a_header() -> None:
    assert stretches(b"acgt\nACGT") == (["45670123"], 0)


def test_uncertain_bases_are_gaps_and_counted() -> None:
    warnings: list[str] = []
    assert stretches(b">x\nACNNNNGT\nRAnC-\n", warnings) == (["01", "23", "0", "1"], 7)
    assert warnings == []


def test_a_letter_that_is_no_base_is_named_by_line() -> None:
    warnings: list[str] = []
    assert stretches(b">x\nACGT\nACEGT\n>y\nAC\x00\xffGT\n", warnings) == (["012301", "23", "01", "23"], 0)
    assert warnings == ["g.fa:3: skipped: 'E' is not a base", "g.fa:5: skipped: '\\x00' is not a base"]
    with pytest.raises(UsageError, match=r"g\.fa:3: 'E' is not a base"):
        stretches(b">x\nACGT\nACEGT\n", strict=True)


@given(st.integers(-3, 3), st.integers(1, 3))
def test_chunk_borders_do_not_matter(shift: int, records: int) -> None:
    """Headers and line ends come to lie on both sides of a border; a line is longer than a chunk."""
    body = b"ACGT" * (CHUNK // 4)
    data = b"".join(b">r%d\n%s\nTT\n" % (i, body[: CHUNK + shift - 4]) for i in range(records))
    expected = "".join(map(str, np.frombuffer(body[: CHUNK + shift - 4].translate(_DIGITS), np.uint8).tolist())) + "33"
    assert stretches(data) == ([expected] * records, 0)


_DIGITS = bytes(b"ACGT".find(i) % 256 for i in range(256))


def test_fastq_is_refused_with_the_mend() -> None:
    with pytest.raises(UsageError, match=r"g\.fa: looks like FASTQ; convert it"):
        stretches(b"\n@read1\nACGT\n+\nIIII\n")
