"""Lines of a text file, one at a time, however long: what does not fit in memory is named and skipped."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import BinaryIO

from kolmocli.errors import UsageError
from kolmocli.tasks.files.problems import Problems

MAX_LINE = 8 << 20
"""Bytes of a line of records. A sequence that long could not be a prompt by a factor of thousands."""
_OTHER_ENCODINGS = (
    (codecs.BOM_UTF32_LE, "UTF-32"), (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"), (codecs.BOM_UTF16_BE, "UTF-16"),
)  # fmt: skip
_PACKED = {
    b"\x28\xb5\x2f\xfd": "packed by zstd; unpack it first: zstd -d", b"BZh": "packed by bzip2; unpack it first: bunzip2",
    b"\xfd7zXZ": "packed by xz; unpack it first: unxz", b"PK\x03\x04": "a zip file; unpack it first: unzip",
    b"version https://git-lfs": "a pointer of Git LFS and not the file; get it first: git lfs pull",
}  # fmt: skip
"""What files begin with that hold no text."""


def text_lines(stream: BinaryIO, problems: Problems) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers from 1 and without their line ends.

    Raises:
        UsageError: the file begins with the mark of another encoding than UTF-8, or of a packer other than gzip.
    """
    number = 0
    while line := stream.readline(MAX_LINE + 1):
        number += 1
        if number == 1:
            line = without_mark(line, problems.name)
        if len(line) > MAX_LINE and not line.endswith(b"\n"):
            _skip_rest(stream)
            problems.bad(number, f"longer than {MAX_LINE >> 20} MiB")
            continue
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            problems.bad(number, f"not UTF-8 ({error.reason} at byte {error.start + 1})")
            continue
        if "\0" in text:
            problems.bad(number, "holds a zero byte; is it UTF-16? Convert it first: iconv -f UTF-16LE -t UTF-8")
            continue
        if text.strip():
            yield number, text.rstrip("\r\n")


def without_mark(start: bytes, name: str) -> bytes:
    """The beginning of a text file without the byte-order mark of UTF-8.

    Raises:
        UsageError: it has the mark of UTF-16 or UTF-32, or is packed otherwise than by gzip.
    """
    for mark, said in _PACKED.items():
        if start.startswith(mark):
            raise UsageError(f"{name}: {said}")
    for mark, encoding in _OTHER_ENCODINGS:
        if start.startswith(mark):
            raise UsageError(f"{name}: {encoding}, not UTF-8; convert it first: iconv -f {encoding} -t UTF-8")
    return start.removeprefix(codecs.BOM_UTF8)


def _skip_rest(stream: BinaryIO) -> None:
    while (piece := stream.readline(1 << 16)) and not piece.endswith(b"\n"):
        pass
