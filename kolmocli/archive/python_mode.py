"""Python programs in archives: run in the sandbox, never here, and only where the user allows it.

Such a program makes the value of its last statement: bytes, or a sequence of integers from 0 to 255.
"""

from __future__ import annotations

from dataclasses import dataclass

from kolmocli.archive.codecs.codecs import CODECS, unpack
from kolmocli.archive.codecs.packing import pack
from kolmocli.archive.errors import ArchiveError
from kolmocli.sandbox.base import Limits, Status
from kolmocli.sandbox.opening import Backend, open_sandbox

_MOST_SOURCE = 1 << 20
_LEAST_ITEMS = 4096
_BYTES_OF_AN_ITEM = 8
"""In the report of the sandbox, at most."""


@dataclass(frozen=True, slots=True)
class PythonRunner:
    """Runs the Python programs of archives in a sandbox that is opened for each and closed behind it."""

    backend: Backend = "auto"

    def __call__(self, source: str, size: int) -> bytes:
        """Run the program and return its bytes, at most `size`.

        Raises:
            ArchiveError: when it fails, meets a limit, or makes something else.
            EnvironmentMissing: when there is no sandbox.
        """
        room = max(size, _LEAST_ITEMS)
        limits = Limits(max_items=room, output_bytes=(1 << 20) + _BYTES_OF_AN_ITEM * room)
        with open_sandbox(self.backend, limits=limits, workers=1) as sandbox:
            [verdict] = sandbox.run(source)
        if verdict.status is not Status.OK:
            raise ArchiveError(f"its Python program ended with {verdict.status}: {verdict.detail or 'no reason given'}")
        value = verdict.value
        if value is None or len(value) > size or not all(0 <= item < 256 for item in value):
            raise ArchiveError(f"its Python program does not end with at most {size} bytes")
        return bytes(value)


def write_source(source: str) -> bytes:
    """The payload of the section: the number of a codec, and the source packed by it."""
    codec, payload = pack(source.encode())
    return bytes([codec.number]) + payload


def read_source(payload: bytes) -> str:
    if not payload or payload[0] not in CODECS:
        raise ArchiveError("the Python program is damaged")
    try:
        return unpack(payload[0], payload[1:], _MOST_SOURCE).decode()
    except UnicodeDecodeError:
        raise ArchiveError("the Python program is not text") from None
