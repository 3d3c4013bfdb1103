"""Frames between the host and the supervisor: a fixed header, then a payload.

    magic "KF" · kind u8 · zero u8 · request u32 · length u32 · crc32 u32        (little endian)

The checksum is over the payload. Anything unexpected raises FrameError: the stream cannot be trusted
after it, and both sides end the connection. The host reads frames with this same file.
"""

import json
import struct
import zlib
from collections.abc import Iterator
from typing import Any

HEADER = struct.Struct("<2sBBIII")
MAGIC = b"KF"
HELLO, RUN, RESULT, PING = 1, 2, 3, 4
MAX_PAYLOAD = 8 << 20

PROGRAM = struct.Struct("<cIII")
"""Kind, CPU time in ms, wall time in ms, memory in MiB; the text of the program follows."""
REPORT = struct.Struct("<iBxHIIII")
"""Wait status, reason for a kill, zero, cpu_us, wall_us, peak memory in KiB, program number; the output follows."""
ENDED, CPU, WALL, OUTPUT, LATE = range(5)
DSL, PYTHON, PLAIN, CALLS, SCRIPT = b"D", b"P", b"V", b"C", b"S"
"""Kinds of program. Of calls and scripts the length of the program (u32) comes before it, and JSON after it: the calls
as [function, [arguments, keywords]], or the inputs as strings."""
KINDS = frozenset((DSL, PYTHON, PLAIN, CALLS, SCRIPT))
LENGTH = struct.Struct("<I")
STARVED = 4
"""Times its wall limit: what a program gets that waits for a processor."""


class FrameError(Exception):
    """Bytes that are not a frame."""


def encode(kind: int, request: int, payload: bytes = b"") -> bytes:
    return HEADER.pack(MAGIC, kind, 0, request, len(payload), zlib.crc32(payload)) + payload


def join(program: bytes, more: str) -> bytes:
    """A program and what comes after it, as JSON."""
    return LENGTH.pack(len(program)) + program + more.encode()


def split(joined: bytes) -> tuple[bytes, list[Any]]:
    """The program, and what comes after it."""
    (size,) = LENGTH.unpack_from(joined)
    end = LENGTH.size + size
    return joined[LENGTH.size : end], json.loads(joined[end:])


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
