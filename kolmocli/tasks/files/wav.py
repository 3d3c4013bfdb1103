"""Samples of a WAV file of any rate, width and number of channels, as 16-bit mono, chunk by chunk.

The header is not believed: sizes are checked against what is there. Written anew because the standard library's
`wave` knows neither floating-point samples nor files that end early.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from kolmocli.errors import UsageError
from kolmocli.tasks.files.plain import CHUNK
from kolmocli.tasks.files.problems import Problems

_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
_UNTIL_THE_END = (0, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
"""Sizes that a writer leaves which could not go back to fill them in."""
_MAX_CHANNELS = 256
_MAX_FORMAT = 1024


@dataclass(frozen=True, slots=True)
class Format:
    """`width` in bytes per sample, `rate` in samples per second, per channel."""

    floating: bool
    channels: int
    rate: int
    width: int


class Wav:
    """One file. `format` is known once `read` has begun."""

    format: Format

    def __init__(self, stream: BinaryIO, problems: Problems) -> None:
        self._stream = stream
        self._problems = problems
        self.format, self._size = self._header()

    def samples(self) -> Iterator[NDArray[np.int16]]:
        """The mean of the channels; wider samples lose their low bits, 1.0 becomes 32,767.

        A header that promises more than there is, or samples that are no number, are bad places.
        """
        frame = self.format.channels * self.format.width
        limit = None if self._size in _UNTIL_THE_END else self._size
        taken, held = 0, b""
        while chunk := self._stream.read(CHUNK if limit is None else min(CHUNK, limit - taken)):
            taken += len(chunk)
            held += chunk
            whole = len(held) // frame * frame
            if whole:
                yield self._mono(held[:whole])
            held = held[whole:]
        if limit is not None and taken < limit:
            self._problems.bad(
                "header", f"promises {limit:,} bytes of samples, {taken:,} are there and were taken", left_out=False
            )
        if held:
            self._problems.bad("end", f"{len(held)} bytes are no whole sample of {frame}")

    def _mono(self, data: bytes) -> NDArray[np.int16]:
        samples = self._numbers(data).reshape(-1, self.format.channels)
        mean = samples[:, 0] if samples.shape[1] == 1 else samples.mean(axis=1, dtype=np.float64)
        return mean.astype(np.int16)

    def _numbers(self, data: bytes) -> NDArray[np.int16]:
        if self.format.floating:
            values = np.frombuffer(data, f"<f{self.format.width}")
            finite = np.isfinite(values)
            if not finite.all():
                self._problems.bad(
                    "samples", f"{np.count_nonzero(~finite):,} are not numbers and were taken as 0", left_out=False
                )
                values = np.where(finite, values, 0)
            return np.rint(np.clip(values, -1.0, 1.0) * 32767).astype(np.int16)
        match self.format.width:
            case 1:  # the only unsigned width
                return (np.frombuffer(data, np.uint8).astype(np.int16) - 128) << 8
            case 2:
                return np.frombuffer(data, "<i2").astype(np.int16)
            case width:
                bytes_of = np.frombuffer(data, np.uint8).reshape(-1, width)
                return np.ascontiguousarray(bytes_of[:, -2:]).view("<i2").reshape(-1).astype(np.int16)

    def _header(self) -> tuple[Format, int]:
        """The format, and the size of the samples that the header claims; the stream then stands at the first."""
        name = self._problems.name
        start = self._stream.read(12)
        if len(start) < 12 or start[:4] not in (b"RIFF", b"RF64") or start[8:] != b"WAVE":
            raise UsageError(f"{name}: not a WAV file (no RIFF header)")
        found: Format | None = None
        while True:
            head = self._stream.read(8)
            if len(head) < 8:
                raise UsageError(f"{name}: a WAV file without {'samples' if found else 'a format'}")
            kind, size = head[:4], struct.unpack("<I", head[4:])[0]
            if kind == b"data":
                if found is None:
                    raise UsageError(f"{name}: a WAV file whose samples come before their format")
                return found, size
            if kind == b"fmt ":
                if not 16 <= size <= _MAX_FORMAT:
                    raise UsageError(
                        f"{name}: a WAV header with a format of {size} bytes; it has 16 to {_MAX_FORMAT:,}"
                    )
                found = self._format(self._stream.read(size + size % 2))
            else:
                self._skip(size + size % 2)

    def _format(self, data: bytes) -> Format:
        name = self._problems.name
        if len(data) < 16:
            raise UsageError(f"{name}: the WAV header ends early")
        code, channels, rate, _, align, bits = struct.unpack("<HHIIHH", data[:16])
        if code == _EXTENSIBLE and len(data) >= 26:
            code = struct.unpack("<H", data[24:26])[0]
        width = (bits + 7) // 8
        if code not in (_PCM, _FLOAT) or width not in ((4, 8) if code == _FLOAT else (1, 2, 3, 4)):
            raise UsageError(
                f"{name}: WAV format {code} with {bits} bits is not read; convert it to PCM, such as with sox or ffmpeg"
            )
        if not 1 <= channels <= _MAX_CHANNELS or rate < 1:
            raise UsageError(f"{name}: a WAV header with {channels} channels at {rate} samples per second")
        if align != channels * width:
            self._problems.bad(
                "header", f"says {align} bytes per sample; {channels} × {width} were taken", left_out=False
            )
        return Format(code == _FLOAT, channels, rate, width)

    def _skip(self, size: int) -> None:
        while size and (gone := len(self._stream.read(min(size, CHUNK)))):
            size -= gone
