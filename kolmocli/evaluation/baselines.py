"""Sizes of the same sequences under the standard compressors, on raw bytes.

Each codec runs at its strongest everyday setting: gzip -9, bz2 -9, xz -9e, zstd -19, brotli -11. Sizes
are those of complete files, headers and checks included, in bits. `per_block` compresses every sequence by
itself and adds up; `solid` compresses all of them as one stream and ignores, in its favour, where one
sequence ends and the next begins.
"""

from __future__ import annotations

import bz2
import gzip
import importlib.util
import lzma
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache

from kolmocli.language.raw import pack

Codec = Callable[[bytes], bytes]
_THREADS = max(1, os.cpu_count() or 1)
"""The codecs work outside the interpreter's lock, so threads are enough to use all cores."""
_STREAMS = ThreadPoolExecutor(_THREADS)
_LOCK = threading.Lock()
_OWN = threading.local()
"""A zstd compressor serves one thread at a time, so each thread that counts blocks has codecs of its own."""


def codecs() -> dict[str, Codec]:
    """The codecs of this machine by name. zstd and brotli are there when their package is installed."""
    found: dict[str, Codec] = {"gzip": _gzip, "bz2": _bz2, "xz": _xz}
    if importlib.util.find_spec("zstandard"):
        found["zstd"] = _zstd()
    if importlib.util.find_spec("brotli"):
        found["brotli"] = _brotli()
    return found


CODEC_NAMES = ("gzip", "bz2", "xz", "zstd", "brotli")


class Baselines:
    """The sizes of a report, whose counting may begin before all sequences are known.

    Sandboxes leave a processor waiting now and then, so what is counted meanwhile is not waited for after the last
    verdict. A sequence that comes twice is counted once. Leaving the block drops what was not asked for, and an
    error drops streams that wait as well.
    """

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS)
        self._blocks: dict[bytes, Future[dict[str, int]]] = {}
        self._streams: list[Future[int]] = []

    def __enter__(self) -> Baselines:
        return self

    def __exit__(self, kind: type[BaseException] | None, *what: object) -> None:
        self._threads.shutdown(cancel_futures=True)
        if kind is not None and sum(stream.cancel() for stream in self._streams):
            _submitted.cache_clear()

    def begin(self, sequence: Sequence[int]) -> None:
        """Count what this sequence takes by itself."""
        self._begun(pack(sequence))

    def begin_stream(self, sequences: Iterable[Sequence[int]]) -> None:
        """Count what all of these take as one stream."""
        self._streams = _begin_files(b"".join(map(pack, sequences)))

    def measure(self, sequences: Sequence[Sequence[int]]) -> dict[str, dict[str, int]]:
        """`{codec: {"per_block": bits, "solid": bits}}` for each codec of this machine, begun before or not."""
        blocks = [pack(s) for s in sequences]
        solid = b"".join(blocks)
        _begin_files(solid)
        parts = [part.result() for part in [self._begun(block) for block in blocks]]
        return {
            name: {"per_block": sum(part[name] for part in parts), "solid": stream_bits(name, solid)}
            for name in codecs()
        }

    def _begun(self, block: bytes) -> Future[dict[str, int]]:
        if block not in self._blocks:
            self._blocks[block] = self._threads.submit(_block_bits, block)
        return self._blocks[block]


def measure(sequences: Sequence[Sequence[int]]) -> dict[str, dict[str, int]]:
    """`Baselines.measure` of sequences that nothing was begun for."""
    with Baselines() as baselines:
        return baselines.measure(sequences)


def _block_bits(block: bytes) -> dict[str, int]:
    if not hasattr(_OWN, "codecs"):
        _OWN.codecs = codecs()
    return {name: 8 * len(codec(block)) for name, codec in _OWN.codecs.items()}


def solid_bits(codec: str, sequences: Sequence[Sequence[int]]) -> int:
    """Bits of all sequences as one stream of this codec; 0 for no sequence."""
    return stream_bits(codec, b"".join(map(pack, sequences)))


def best_solid_bits(sequences: Sequence[Sequence[int]]) -> int:
    """Bits of the smallest solid stream, "stored as it is" being one of the choices; 0 for no sequence."""
    return best_stream_bits(b"".join(map(pack, sequences)))


def stream_bits(codec: str, data: bytes) -> int:
    """Bits of these bytes as one file of this codec; 0 for no byte."""
    return 8 * _file_size(codec, data).result() if data else 0


def best_stream_bits(data: bytes) -> int:
    """Bits of the smallest file, "stored as it is" being one of the choices; 0 for no byte."""
    return 8 * min([len(data), *(size.result() for size in _begin_files(data))]) if data else 0


def _begin_files(data: bytes) -> list[Future[int]]:
    """Bytes of one file of each codec. The slowest codec begins first, the others fill the other cores meanwhile."""
    return [_file_size(name, data) for name in reversed(codecs())] if data else []


def _file_size(codec: str, data: bytes) -> Future[int]:
    with _LOCK:  # a cache alone would let two threads that ask at the same time both do the work
        return _submitted(codec, data)


@lru_cache(maxsize=64)
def _submitted(codec: str, data: bytes) -> Future[int]:
    """Several numbers of a report need the same stream."""
    return _STREAMS.submit(lambda: len(codecs()[codec](data)))


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, 9, mtime=0)


def _bz2(data: bytes) -> bytes:
    return bz2.compress(data, 9)


def _xz(data: bytes) -> bytes:
    # The dictionary of -9 is 64 MiB and its encoder needs 674 MiB for a block of 32 bytes. One no smaller than
    # the data finds the same matches; the header has the same length.
    size = max(4096, min(64 << 20, len(data)))
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": size}]
    return lzma.compress(data, filters=filters)


def _zstd() -> Codec:
    import zstandard

    return zstandard.ZstdCompressor(level=19).compress


def _brotli() -> Codec:
    import brotli

    return lambda data: brotli.compress(data, quality=11)
