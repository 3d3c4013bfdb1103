"""A genome as values 0 to 7: A C G T are 0 1 2 3, and 4 5 6 7 in lower case, where repeats are masked.

FASTA or bare letters; lines may be as long as the genome. U is T. Letters for "one of several bases" (N, R, …) and
gaps have no value: the sequence breaks there, as it does between records.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from kolmocli.errors import UsageError
from kolmocli.tasks.files.blocks import Bytes
from kolmocli.tasks.files.lines import without_mark
from kolmocli.tasks.files.plain import CHUNK
from kolmocli.tasks.files.problems import Problems

_UNKNOWN_BASE, _NO_BASE = 254, 255


def _codes() -> bytes:
    table = bytearray([_NO_BASE]) * 256
    for letter in b"RYSWKMBDHVNX-.*":
        table[letter] = table[letter | 0x20] = _UNKNOWN_BASE
    for letters, value in ((b"A", 0), (b"C", 1), (b"G", 2), (b"TU", 3)):
        for letter in letters:
            table[letter], table[letter | 0x20] = value, value + 4
    return bytes(table)


_CODES = _codes()
_SPACE = b" \t\r\n"


class Genome:
    """Reads one file. `gaps` counts the letters that stand for no certain base."""

    def __init__(self, problems: Problems) -> None:
        self.gaps = 0
        self._problems = problems

    def read(self, stream: BinaryIO) -> Iterator[Bytes | None]:
        """Runs of bases, with a break wherever the sequence is not known to go on.

        Raises:
            UsageError: the file is FASTQ or in another encoding.
        """
        number, in_header, at_start = 1, False, True
        held = without_mark(stream.read(CHUNK), self._problems.name)
        if held.lstrip(_SPACE).startswith(b"@"):
            raise UsageError(f"{self._problems.name}: looks like FASTQ; convert it to FASTA first")
        while held:
            while held:
                if in_header or (at_start and held[:1] in (b">", b";")):
                    end = held.find(b"\n") + 1
                    in_header, part, held = not end, held[: end or None], held[end:] if end else b""
                    yield None
                else:
                    end = _next_header(held)
                    part, held = held[:end], held[end:]
                    yield from self._bases(part, number)
                number += part.count(b"\n")
                at_start = part.endswith(b"\n")
            held = stream.read(CHUNK)

    def _bases(self, part: bytes, number: int) -> Iterator[Bytes | None]:
        values = np.frombuffer(part.translate(_CODES, _SPACE), np.uint8)
        if not len(values) or values.max() < _UNKNOWN_BASE:
            yield values
            return
        if values.max() == _NO_BASE:
            self._name_letters(part, number)
        gap = values >= _UNKNOWN_BASE
        self.gaps += int(np.count_nonzero(values == _UNKNOWN_BASE))
        edges = np.flatnonzero(np.diff(gap)) + 1
        for stretch in np.split(values, edges):
            yield stretch if stretch[0] < _UNKNOWN_BASE else None

    def _name_letters(self, part: bytes, number: int) -> None:
        """Name the lines of letters that mean nothing in a genome."""
        for offset, line in enumerate(part.split(b"\n")):
            wrong = line.translate(None, _KNOWN)
            if wrong:
                self._problems.bad(number + offset, f"{chr(wrong[0])!r} is not a base")


_KNOWN = bytes(i for i in range(256) if _CODES[i] != _NO_BASE) + _SPACE


def _next_header(data: bytes) -> int:
    """Start of the next line that opens a record, or the end of the data."""
    places = [at + 1 for mark in (b"\n>", b"\n;") if (at := data.find(mark)) >= 0]
    return min(places, default=len(data))
