"""The codecs of the residual: bytes in, the shortest of several forms out, and bounded decoding.

All are raw streams without the container of the standard tool: no name, no date, no second checksum. So an archive
with its own header stays close to the standard file. zstandard and brotli are used where they are installed.
"""

from __future__ import annotations

import bz2
import importlib.util
import lzma
import threading
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kolmocli.archive.errors import ArchiveError, CodecMissing

_BZ2_MAGIC = b"BZh9"
_MAX_WINDOW_LOG = 27
"""The largest window of any codec is 128 MiB: what decoding may take on top of the output."""


@dataclass(frozen=True, slots=True)
class Codec:
    number: int
    name: str
    encode: Callable[[bytes, int], bytes]
    """(data, level 0..9) to payload."""
    decode: Callable[[bytes, int], bytes]
    """(payload, size) to at most `size` + 1 bytes; raises ArchiveError for a damaged payload."""
    speed: float
    """Bytes packed per second by one core at the default level, roughly: what a deadline is compared with."""
    package: str | None = None
    """What must be installed besides the standard library."""


def _stored(data: bytes, level: int) -> bytes:
    return data


def _unstored(payload: bytes, size: int) -> bytes:
    return payload[: size + 1]


def _deflate(data: bytes, level: int) -> bytes:
    packer = zlib.compressobj(9 if level >= 4 else 6, zlib.DEFLATED, -15, 9)
    return packer.compress(data) + packer.flush()


def _inflate(payload: bytes, size: int) -> bytes:
    unpacker = zlib.decompressobj(-15)
    return _bounded(unpacker.decompress, unpacker, payload, size, zlib.error)


def _bz2(data: bytes, level: int) -> bytes:
    return bz2.compress(data, 9)[len(_BZ2_MAGIC) :]


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


def _lzma(data: bytes, level: int) -> bytes:
    best = b""
    for properties in _LZMA_PROPERTIES[: 1 if level < 6 else 3]:
        packed = lzma.compress(data, lzma.FORMAT_RAW, filters=_lzma_filter(len(data), properties, level))
        if not best or len(packed) + 1 < len(best):
            best = bytes([properties]) + packed
        if len(best) > len(data):  # noise, to the other properties too
            break
    return best


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


def _zstd(data: bytes, level: int) -> bytes:
    import zstandard

    parameters = zstandard.ZstdCompressionParameters.from_level(
        {9: 22, 8: 20, 7: 19}.get(level, 19 if level >= 4 else 9),
        source_size=len(data),
        format=zstandard.FORMAT_ZSTD1_MAGICLESS,
        write_content_size=False,
    )
    return zstandard.ZstdCompressor(compression_params=parameters).compress(data)


def _unzstd(payload: bytes, size: int) -> bytes:
    zstandard = _package("zstandard")
    unpacker = zstandard.ZstdDecompressor(max_window_size=1 << _MAX_WINDOW_LOG, format=zstandard.FORMAT_ZSTD1_MAGICLESS)
    try:
        with unpacker.stream_reader(payload, read_across_frames=True) as reader:
            return bytes(reader.read(size + 1))
    except zstandard.ZstdError as error:
        raise ArchiveError(f"the residual is damaged ({error})") from None


def _brotli(data: bytes, level: int) -> bytes:
    import brotli

    window = min(24, max(10, (len(data) + 15).bit_length()))
    return bytes(brotli.compress(data, quality=11 if level >= 4 else 9, lgwin=window))


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


CODECS = {
    codec.number: codec
    for codec in (
        Codec(0, "stored", _stored, _unstored, 1e9),
        Codec(1, "deflate", _deflate, _inflate, 15e6),
        Codec(2, "bz2", _bz2, _unbz2, 8e6),
        Codec(3, "lzma", _lzma, _unlzma, 0.6e6),
        Codec(4, "zstd", _zstd, _unzstd, 2e6, "zstandard"),
        Codec(5, "brotli", _brotli, _unbrotli, 0.5e6, "brotli"),
    )
}


_QUICK = {0: ("stored", "deflate"), 1: ("stored", "deflate", "zstd"), 2: ("stored", "deflate", "bz2", "zstd")}
"""The codecs of the lowest levels; the others try all."""
_ALWAYS = 1
"""Stored and deflate are tried whatever the time."""
_THREADS = 2
_WORTH_THREADS = 1 << 14
_MOST_AT_ONCE = 1 << 23
"""Above this size one codec runs at a time, so that their memory does not add up."""
_PROBES = ("deflate", "lzma")
"""Tried first, one after the other, on data from `_WORTH_PROBES` on. Deflate is quick and sees skewed bytes, lzma the
farthest repeats: what neither of them makes smaller is noise, on which the slow codecs would only spend minutes."""
_WORTH_PROBES = 1 << 20
_Packed = list[tuple[Codec, bytes]]


def pack(data: bytes, level: int = 6, deadline: float | None = None) -> tuple[Codec, bytes]:
    """The codec with the smallest payload, and the payload. Ties go to the lower number.

    Given a deadline, a moment of `time.monotonic`, no codec but deflate is begun that would not be done by then.
    """
    tried = [c for c in CODECS.values() if level not in _QUICK or c.name in _QUICK[level]]
    tried = [c for c in tried if c.package is None or importlib.util.find_spec(c.package)]
    if len(data) < _WORTH_PROBES:
        return _smallest(_encoded(tried, data, level, deadline))
    made: _Packed = [(CODECS[0], data)]
    for probe in _PROBES:
        if _smallest(made)[1] is data:
            made += _encoded([c for c in tried if c.name == probe], data, level, deadline)
    if _smallest(made)[1] is not data:
        known = [codec for codec, _ in made]
        made += _encoded([c for c in tried if c not in known], data, level, deadline)
    return _smallest(made)


def _smallest(made: _Packed) -> tuple[Codec, bytes]:
    return min(made, key=lambda pair: (len(pair[1]), pair[0].number))


def _encoded(tried: list[Codec], data: bytes, level: int, deadline: float | None) -> _Packed:
    """The payloads. All codecs work outside the interpreter's lock, so threads are enough to use two cores."""

    def encode(codec: Codec) -> _Packed:
        done = time.monotonic() + len(data) / codec.speed
        late = deadline is not None and done > deadline and codec.number > _ALWAYS
        return [] if late else [(codec, codec.encode(data, level))]

    # the quickest first where time may run out, else the slowest, so that both cores end together
    ordered = sorted(tried, key=lambda codec: codec.speed, reverse=deadline is not None)
    if len(data) < _WORTH_THREADS:
        return [pair for codec in ordered for pair in encode(codec)]
    return _beside(encode, ordered, _THREADS if len(data) <= _MOST_AT_ONCE else 1)


def _beside(encode: Callable[[Codec], _Packed], codecs: list[Codec], threads: int) -> _Packed:
    """What the codecs make, at most so many at once, each in a thread that nobody has to wait for.

    A signal is only met between two steps of the interpreter, and one call of a codec can take minutes. So this thread
    waits, which a signal ends, and the others are left behind when the process exits; a pool would be waited for.
    """
    todo, made, failures = iter(codecs), _Packed(), list[BaseException]()

    def work() -> None:
        try:
            for codec in todo:
                made.extend(encode(codec))
        except BaseException as error:  # a codec that ran out of memory, say: it is raised where the result is wanted
            failures.append(error)

    workers = [threading.Thread(target=work, name="kolmo-codec", daemon=True) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if failures:
        raise failures[0]
    return made


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
