"""Frames between the host and the supervisor: a fixed header, then a payload.

    magic "KF" · kind u8 · zero u8 · request u32 · length u32 · crc32 u32        (little endian)

The checksum is over the payload. Anything unexpected raises FrameError: the stream cannot be trusted
after it, and both sides end the connection. The host reads frames with this same file.
"""

import json
import struct
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

HEADER = struct.Struct("<2sBBIII")
MAGIC = b"KF"
HELLO, RUN, RESULT, PING = 1, 2, 3, 4
MAX_PAYLOAD = 80 << 20
"""Room for a program with 64 MiB of inputs, or with as much output."""

PROGRAM = struct.Struct("<cIII")
"""Kind, CPU time in ms, wall time in ms, memory in MiB; the text of the program follows."""
REPORT = struct.Struct("<iBxHIIII")
"""Wait status, reason for a kill, zero, cpu_us, wall_us, peak memory in KiB, program number; the output follows."""
ENDED, CPU, WALL, OUTPUT, LATE = range(5)
DSL, PYTHON, PLAIN, CALLS, SCRIPT, FILES = b"D", b"P", b"V", b"C", b"S", b"F"
"""Kinds of program. Of calls and scripts the length of the program (u32) comes before it. After it comes JSON, the calls
as [function, [arguments, keywords]], or each input with its length (u32). A script with files has these before its inputs, as one part
with its length: names and contents in turn, each with its length. The result of a script is what each run came to, with its
length: what it printed, and a last line (`said`)."""
KINDS = frozenset((DSL, PYTHON, PLAIN, CALLS, SCRIPT, FILES))
CPP, JAVASCRIPT = b"+", b"J"
"""Scripts in other languages, which containers of their own take."""
LENGTH = struct.Struct("<I")
STARVED = 4
"""Times its wall limit: what a program gets that waits for a processor."""


class FrameError(Exception):
    """Bytes that are not a frame."""


def encode(kind: int, request: int, payload: bytes = b"") -> bytes:
    return HEADER.pack(MAGIC, kind, 0, request, len(payload), zlib.crc32(payload)) + payload


def join(program: bytes, more: bytes) -> bytes:
    """A program and what comes after it."""
    return LENGTH.pack(len(program)) + program + more


def split(joined: bytes) -> tuple[bytes, list[Any]]:
    """The program, and the JSON that comes after it."""
    program, more = cut(joined)
    return program, json.loads(more)


def cut(joined: bytes) -> tuple[bytes, bytes]:
    """The program, and what comes after it as bytes."""
    (size,) = LENGTH.unpack_from(joined)
    end = LENGTH.size + size
    return joined[LENGTH.size : end], joined[end:]


def listed(parts: Iterable[bytes]) -> bytes:
    """Parts of any content, each with its length."""
    return b"".join(piece for part in parts for piece in (LENGTH.pack(len(part)), part))


def unlisted(data: bytes | memoryview) -> Iterator[memoryview]:
    """The parts again, not copied. Raises FrameError where the lengths do not fit."""
    view = memoryview(data)
    while view:
        if len(view) < LENGTH.size:
            raise FrameError("half a length")
        (size,) = LENGTH.unpack_from(view)
        if len(view) < LENGTH.size + size:
            raise FrameError("a part that is cut off")
        yield view[LENGTH.size : LENGTH.size + size]
        view = view[LENGTH.size + size :]


END = b"\n!"
"""Where the last line of a script begins: what is before it was printed."""


def said(words: str) -> bytes:
    """The last line of a script."""
    return END + words.replace("\n", " ")[:200].encode("utf-8", "replace") + b"\n"


class Reader:
    """Turns chunks of any size into frames."""

    def __init__(self, max_payload: int = MAX_PAYLOAD) -> None:
        self._buffer = bytearray()
        self._max = max_payload

    def feed(self, chunk: bytes) -> Iterator[tuple[int, int, bytes]]:
        """The frames (kind, request, payload) that are complete after this chunk."""
        buffer = self._buffer
        buffer += chunk
        at = 0
        try:
            while len(buffer) - at >= HEADER.size:
                magic, kind, zero, request, length, crc = HEADER.unpack_from(buffer, at)
                if magic != MAGIC or zero or length > self._max:
                    raise FrameError(f"no frame at {bytes(buffer[at : at + HEADER.size])!r}")
                end = at + HEADER.size + length
                if len(buffer) < end:
                    break
                payload = bytes(buffer[at + HEADER.size : end])
                if zlib.crc32(payload) != crc:
                    raise FrameError(f"wrong checksum in a frame of kind {kind}")
                at = end
                yield kind, request, payload
        finally:
            del buffer[:at]
