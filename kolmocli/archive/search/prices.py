"""What an item costs in the residual: its marginal cost in one solid stream, estimated place by place."""

from __future__ import annotations

import zlib

import numpy as np

from kolmocli.archive.search.candidates import Floats

_WINDOW_BYTES = 2048
_FLUSH_BYTES = 5
"""What ending a window costs deflate, and is no cost of the window."""


def local_prices(data: bytes, width: int, packed: int) -> Floats:
    """Bits of each item of `width` bytes: deflate says where the data are dear, `packed` bytes is what all cost.

    Deflate sees everything before a window when it packs it, so that the cost is the marginal one.
    """
    packer = zlib.compressobj(6, zlib.DEFLATED, -15, 9)
    sizes = []
    for start in range(0, len(data), _WINDOW_BYTES):
        part = packer.compress(data[start : start + _WINDOW_BYTES]) + packer.flush(zlib.Z_SYNC_FLUSH)
        sizes.append(max(len(part) - _FLUSH_BYTES, 1))
    scale = 8.0 * width * packed / sum(sizes)
    per_item = np.repeat(np.array(sizes) * scale / _WINDOW_BYTES, _WINDOW_BYTES // width)
    return np.minimum(per_item[: len(data) // width], 8.0 * width)
