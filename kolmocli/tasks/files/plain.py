"""Bytes as they are, and UTF-8 text that really is UTF-8."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from kolmocli.tasks.files.blocks import Bytes
from kolmocli.tasks.files.lines import without_mark
from kolmocli.tasks.files.problems import Problems

CHUNK = 1 << 17
"""Bytes that are worked on at once: the text made of them stays in the processor's cache."""


def read_bytes(stream: BinaryIO) -> Iterator[Bytes]:
    """The bytes of a stream, chunk by chunk."""
    while chunk := stream.read(CHUNK):
        yield np.frombuffer(chunk, np.uint8)


def read_text(stream: BinaryIO, problems: Problems) -> Iterator[Bytes | None]:
    """The UTF-8 bytes of a text. A line that is not UTF-8 is left out, and the text breaks there."""
    number, held = 1, without_mark(stream.read(CHUNK), problems.name)
    chunk = held
    while chunk:
        chunk = stream.read(CHUNK)
        piece, held = _whole_lines(held + chunk) if chunk else (held, b"")
        try:
            piece.decode("utf-8")
            yield np.frombuffer(piece, np.uint8)
        except UnicodeDecodeError:
            yield from _good_lines(piece, number, problems)
        number += piece.count(b"\n")


def _whole_lines(data: bytes) -> tuple[bytes, bytes]:
    """Up to the last line end; in a line without an end, up to the last whole character."""
    end = data.rfind(b"\n") + 1
    if not end:
        end = len(data)
        while end > max(1, len(data) - 4) and data[end - 1] & 0xC0 == 0x80:  # the inside of a character
            end -= 1
        end -= data[end - 1] >= 0xC0  # its first byte
    return data[:end], data[end:]


def _good_lines(piece: bytes, number: int, problems: Problems) -> Iterator[Bytes | None]:
    for line in piece.splitlines(keepends=True):  # of bytes: at \n, \r and \r\n only
        try:
            line.decode("utf-8")
            yield np.frombuffer(line, np.uint8)
        except UnicodeDecodeError as error:
            problems.bad(number, f"not UTF-8 ({error.reason} at byte {error.start + 1})")
            yield None
        number += line.endswith(b"\n")
