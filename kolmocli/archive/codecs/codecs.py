"""The codecs of the residual: bytes in, the shortest of several forms out, and bounded decoding.

All are raw streams without the container of the standard tool: no name, no date, no second checksum. So an archive
with its own header stays close to the standard file. zstandard, brotli and pcodec are used where they are installed.
numpy, which numbers need, is not imported for the others: it would take longer than decoding most archives does.
"""

from __future__ import annotations

import bz2
import importlib
import lzma
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from kolmocli.archive.errors import ArchiveError, CodecMissing

_BZ2_MAGIC = b"BZh9"
_MAX_WINDOW_LOG = 27
"""The largest window of any codec is 128 MiB: what decoding may take on top of the output."""


QUICKEST, QUICK, STRONG = -1, 3, 4
"""Levels: deflate in a fraction of a second, the codecs in seconds, and from `STRONG` on as small as they can."""
_SLICE = 1 << 16
_PACE_SECONDS = 1.5
_HOPELESS = 1.5
"""A codec that after some time would, at its pace, take this many times what it may is given up."""


@dataclass(frozen=True, slots=True)
class Packer:
    """One stream of a codec. The payload is `prefix` and the output, less its first `dropped` bytes."""

    feed: Callable[[Any], bytes]
    finish: Callable[[], bytes]
    prefix: bytes = b""
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class Codec:
    number: int
    name: str
    packers: Callable[[int, int], Iterator[Packer]]
    """(size of the data, level) to the streams of which the shortest is kept."""
    decode: Callable[[bytes, int], bytes]
    """(payload, size) to at most `size` + 1 bytes; raises ArchiveError for a damaged payload."""
    speeds: tuple[float, float] = (1e9, 1e9)
    """Bytes packed per second by one core below `STRONG`, and from there on, roughly: for time budgets."""
    unpacking: float = 1e9
    """Bytes unpacked per second, at the least."""
    package: str | None = None
    """Package to install in addition to the standard library."""

    def encode(self, data: bytes, level: int, until: float | None = None) -> bytes | None:
        """The payload; None where it would not be there `until` a moment of `time.monotonic`."""
        best: bytes | None = None
        for packer in self.packers(len(data), level):
            output = _output(packer, data, until)
            if output is None:
                break
            payload = packer.prefix + output[packer.dropped :]
            if best is None or len(payload) < len(best):
                best = payload
            if len(best) > len(data):  # noise, to the other streams too
                break
        return best

    def seconds(self, size: int, level: int) -> float:
        """About what it takes to pack the data."""
        return size / self.speeds[level >= STRONG]


def _output(packer: Packer, data: bytes, until: float | None) -> bytes | None:
    """Output of the packer; slice by slice where time may run out, with the same bytes."""
    if until is None:
        return packer.feed(data) + packer.finish()
    view, parts, began = memoryview(data), [], time.monotonic()
    for at in range(0, len(data), _SLICE):
        parts.append(packer.feed(view[at : at + _SLICE]))
        now = time.monotonic()
        all_of_it = (now - began) * len(data) / min(at + _SLICE, len(data))
        if now > until or (now - began > _PACE_SECONDS and all_of_it > _HOPELESS * (until - began)):
            return None
    return b"".join(parts) + packer.finish()


def _stored(size: int, level: int) -> Iterator[Packer]:
    yield Packer(bytes, bytes)


def _unstored(payload: bytes, size: int) -> bytes:
    return payload[: size + 1]


def _deflate(size: int, level: int) -> Iterator[Packer]:
    packer = zlib.compressobj(9 if level >= STRONG else 6 if level > QUICKEST else 1, zlib.DEFLATED, -15, 9)
    yield Packer(packer.compress, packer.flush)


def _inflate(payload: bytes, size: int) -> bytes:
    unpacker = zlib.decompressobj(-15)
    return _bounded(unpacker.decompress, unpacker, payload, size, zlib.error)


def _bz2(size: int, level: int) -> Iterator[Packer]:
    packer = bz2.BZ2Compressor(9)
    yield Packer(packer.compress, packer.flush, dropped=len(_BZ2_MAGIC))


def _unbz2(payload: bytes, size: int) -> bytes:
    unpacker = bz2.BZ2Decompressor()
    return _bounded(unpacker.decompress, unpacker, _BZ2_MAGIC + payload, size, OSError, ValueError)


def _lzma_filter(size: int, properties: int, level: int = 9) -> list[dict[str, Any]]:
    """Raw LZMA1. The dictionary is the next power of two from the size on, which both sides know."""
    window = min(max(12, (size - 1).bit_length()), 26)
    lc, rest = properties % 9, properties // 9
    return [
        {
            "id": lzma.FILTER_LZMA1,
            "preset": level | lzma.PRESET_EXTREME if level >= 6 else level,
            "dict_size": 1 << window,
            "lc": lc,
            "lp": rest % 5,
            "pb": rest // 5,
        }
    ]


_LZMA_PROPERTIES = (3 + 9 * (0 + 5 * 2), 3 + 9 * (0 + 5 * 0), 0 + 9 * (2 + 5 * 2))
"""lc=3 pb=2 as xz has it; pb=0 for text; lc=0 lp=2 for words of four bytes. Byte = lc + 9 (lp + 5 pb)."""


def _lzma(size: int, level: int) -> Iterator[Packer]:
    for properties in _LZMA_PROPERTIES[: 1 if level < 6 else 3]:
        packer = lzma.LZMACompressor(lzma.FORMAT_RAW, filters=_lzma_filter(size, properties, max(level, 0)))
        yield Packer(packer.compress, packer.flush, bytes([properties]))


def _unlzma(payload: bytes, size: int) -> bytes:
    if not payload or payload[0] % 9 + payload[0] // 9 % 5 > 4 or payload[0] >= 9 * 5 * 5:
        raise ArchiveError("the residual has no valid LZMA properties")
    unpacker = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=_lzma_filter(size, payload[0]))
    return _bounded(unpacker.decompress, unpacker, payload[1:], size, lzma.LZMAError, EOFError)


def _bounded(
    decompress: Callable[[bytes, int], bytes], unpacker: Any, payload: bytes, size: int, *errors: type[Exception]
) -> bytes:
    """All output up to `size` + 1 bytes; the stream must end there, with nothing behind it."""
    try:
        data = decompress(payload, size + 1)
        while not unpacker.eof and len(data) <= size:
            more = decompress(getattr(unpacker, "unconsumed_tail", b""), size + 1 - len(data))
            if not more:
                break
            data += more
    except errors as error:
        raise ArchiveError(f"the residual is damaged ({error})") from None
    if len(data) <= size and (not unpacker.eof or unpacker.unused_data):
        raise ArchiveError("the residual ends early or has bytes behind its end")
    return data


def _zstd(size: int, level: int) -> Iterator[Packer]:
    import zstandard

    parameters = zstandard.ZstdCompressionParameters.from_level(
        {9: 22, 8: 20, 7: 19}.get(level, 19 if level >= STRONG else 9),
        source_size=size,
        format=zstandard.FORMAT_ZSTD1_MAGICLESS,
        write_content_size=False,
    )
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj(size=size)
    yield Packer(packer.compress, packer.flush)


def _unzstd(payload: bytes, size: int) -> bytes:
    zstandard = _package("zstandard")
    unpacker = zstandard.ZstdDecompressor(max_window_size=1 << _MAX_WINDOW_LOG, format=zstandard.FORMAT_ZSTD1_MAGICLESS)
    try:
        with unpacker.stream_reader(payload, read_across_frames=True) as reader:
            return bytes(reader.read(size + 1))
    except zstandard.ZstdError as error:
        raise ArchiveError(f"the residual is damaged ({error})") from None


def _brotli(size: int, level: int) -> Iterator[Packer]:
    import brotli

    window = min(24, max(10, (size + 15).bit_length()))
    packer = brotli.Compressor(quality=11 if level >= STRONG else 9, lgwin=window)
    yield Packer(packer.process, packer.finish)


def _unbrotli(payload: bytes, size: int) -> bytes:
    brotli = _package("brotli")
    unpacker = brotli.Decompressor()
    try:
        data = unpacker.process(payload, output_buffer_limit=size + 1)
        while len(data) <= size and not unpacker.can_accept_more_data():
            data += unpacker.process(b"", output_buffer_limit=size + 1 - len(data))
    except brotli.error as error:
        raise ArchiveError(f"the residual is damaged ({error})") from None
    if len(data) <= size and not unpacker.is_finished():
        raise ArchiveError("the residual ends early")
    return bytes(data[: size + 1])


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise CodecMissing(f"this archive needs the package {name}: pip install {name}") from None


def _numbers(size: int, level: int) -> Iterator[Packer]:
    """Bytes as numbers of one byte. Wider ones need someone who knows where they are: see `layouts.py`."""
    from kolmocli.archive.codecs.numbers import TYPES, pack_numbers

    parts: list[bytes] = []

    def feed(part: Any) -> bytes:
        parts.append(bytes(part))
        return b""

    yield Packer(feed, lambda: pack_numbers(b"".join(parts), TYPES["u8"], level >= STRONG))


def _unpack_numbers(payload: bytes, size: int) -> bytes:
    from kolmocli.archive.codecs.numbers import unpack_numbers

    return unpack_numbers(payload, size)


def _no_split(size: int, level: int) -> Iterator[Packer]:
    """Nothing: there are no parts without a layout."""
    return iter(())


def _unsplit(payload: bytes, size: int) -> bytes:
    from kolmocli.archive.codecs.split import read_split

    return read_split(payload, size, _unpack_part)


def _unpack_part(number: int, payload: bytes, size: int) -> bytes:
    if number not in CODECS or number == SPLIT:
        raise ArchiveError(f"a part of the residual has the codec {number}, which is not known here")
    return unpack(number, payload, size)


NUMBERS, SPLIT = 6, 7
CODECS = {
    codec.number: codec
    for codec in (
        Codec(0, "stored", _stored, _unstored),
        Codec(1, "deflate", _deflate, _inflate, (10e6, 2.5e6), 150e6),
        Codec(2, "bz2", _bz2, _unbz2, (8e6, 8e6), 7e6),
        Codec(3, "lzma", _lzma, _unlzma, (3.5e6, 1.4e6), 20e6),
        Codec(4, "zstd", _zstd, _unzstd, (20e6, 1.5e6), 130e6, "zstandard"),
        Codec(5, "brotli", _brotli, _unbrotli, (4e6, 0.35e6), 130e6, "brotli"),
        Codec(NUMBERS, "pcodec", _numbers, _unpack_numbers, (40e6, 8e6), 100e6, "pcodec"),
        Codec(SPLIT, "split", _no_split, _unsplit),
    )
}


def unpack(number: int, payload: bytes, size: int) -> bytes:
    """The bytes of a payload, which must be at most `size`.

    Raises:
        ArchiveError: when the payload is damaged or gives more than `size` bytes.
        CodecMissing: when the codec's package is not installed.
    """
    data = CODECS[number].decode(payload, size)
    if len(data) > size:
        raise ArchiveError(f"the residual has more than the {size} bytes that it may have")
    return data
