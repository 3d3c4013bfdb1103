"""What the standard compressors make of the same sequences, on raw bytes.

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
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

Codec = Callable[[bytes], bytes]
_THREADS = max(1, os.cpu_count() or 1)
"""The codecs work outside the interpreter's lock, so threads are enough to use all cores."""


def pack(sequence: Sequence[int]) -> bytes:
    """The raw form of a sequence: integers 0..255 become one byte each.

    Any other sequence takes, for every item, the smallest whole number of bytes that holds all its items,
    little-endian, two's complement if one is negative. The width is chosen for each sequence by itself,
    so that one wide sequence does not inflate the raw size of the others, and the width is not charged.
    """
    width, signed = item_width(sequence)
    if width == 1 and not signed:
        return bytes(sequence)
    return b"".join(item.to_bytes(width, "little", signed=signed) for item in sequence)


def item_width(sequence: Sequence[int]) -> tuple[int, bool]:
    """(bytes per item, signed) of the packing of a sequence; an empty one is (1, False)."""
    low, high = min(sequence, default=0), max(sequence, default=0)
    if low >= 0:
        return max(1, (high.bit_length() + 7) // 8), False
    bits = 1 + max(high.bit_length(), (-low - 1).bit_length())
    return (bits + 7) // 8, True


def raw_bits(sequences: Iterable[Sequence[int]]) -> int:
    """Bits of all sequences uncompressed: 8 for each item that is a byte."""
    return sum(8 * item_width(s)[0] * len(s) for s in sequences)


def codecs() -> dict[str, Codec]:
    """The codecs of this machine by name. zstd and brotli are there when their package is installed."""
    found: dict[str, Codec] = {"gzip": _gzip, "bz2": _bz2, "xz": _xz}
    if importlib.util.find_spec("zstandard"):
        found["zstd"] = _zstd()
    if importlib.util.find_spec("brotli"):
        found["brotli"] = _brotli()
    return found


CODEC_NAMES = ("gzip", "bz2", "xz", "zstd", "brotli")


def measure(sequences: Sequence[Sequence[int]]) -> dict[str, dict[str, int]]:
    """`{codec: {"per_block": bits, "solid": bits}}` for each codec of this machine."""
    blocks = [pack(s) for s in sequences]
    solid = b"".join(blocks)
    shards = [blocks[i::_THREADS] for i in range(_THREADS)]
    with ThreadPoolExecutor(_THREADS + len(CODEC_NAMES)) as threads:
        whole = {name: threads.submit(stream_bits, name, solid) for name in codecs()}
        parts = list(threads.map(_per_block, shards))
    return {name: {"per_block": sum(part[name] for part in parts), "solid": whole[name].result()} for name in whole}


def _per_block(blocks: Sequence[bytes]) -> dict[str, int]:
    """Bits of each block by itself, added up. With codecs of its own: a zstd compressor serves one thread."""
    return {name: sum(8 * len(codec(block)) for block in blocks) for name, codec in codecs().items()}


def solid_bits(codec: str, sequences: Sequence[Sequence[int]]) -> int:
    """Bits of all sequences as one stream of this codec; 0 for no sequence."""
    return stream_bits(codec, b"".join(map(pack, sequences)))


def best_solid_bits(sequences: Sequence[Sequence[int]]) -> int:
    """Bits of the smallest solid stream, "stored as it is" being one of the choices; 0 for no sequence."""
    return best_stream_bits(b"".join(map(pack, sequences)))


def stream_bits(codec: str, data: bytes) -> int:
    """Bits of these bytes as one file of this codec; 0 for no byte."""
    return 8 * _size(codec, data) if data else 0


def best_stream_bits(data: bytes) -> int:
    """Bits of the smallest file, "stored as it is" being one of the choices; 0 for no byte."""
    if not data:
        return 0
    with ThreadPoolExecutor(len(CODEC_NAMES)) as threads:
        return 8 * min(len(data), *threads.map(lambda name: _size(name, data), codecs()))


@lru_cache(maxsize=64)
def _size(codec: str, data: bytes) -> int:
    """Bytes of one file of this codec. Several numbers of a report need the same stream."""
    return len(codecs()[codec](data))


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
