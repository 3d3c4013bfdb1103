"""Archives of what is one repeat, nearly that, or noise, beside xz: seconds and bytes at every level, and under a time budget."""

from __future__ import annotations

import lzma
import random
import time
from pathlib import Path

from kolmocli.archive.opener import decompress
from kolmocli.archive.packer import compress


def _sparse(size: int, patches: int) -> bytes:
    """Zeros with a few bytes of noise here and there."""
    rng, data = random.Random(0), bytearray(size)
    for _ in range(patches):
        at = rng.randrange(size - 8)
        data[at : at + 8] = rng.randbytes(8)
    return bytes(data)


DATA = {
    "20 MB of zeros": bytes(20_000_000),
    "200 MB of a short period": b"abcdefg" * 28_571_429,
    "200 MB of zeros with 200 patches": _sparse(200_000_000, 200),
    "20 MB of noise": random.Random(0).randbytes(20_000_000),
}
SLOWEST = 10
"""Times what xz takes."""


def archives(folder: Path, aloud: bool) -> bool:
    fine = True
    for name, data in DATA.items():
        begun = time.perf_counter()
        by_xz = len(lzma.compress(data))
        xz = time.perf_counter() - begun
        sizes, times = [], []
        for level in (1, 6, 9):
            begun = time.perf_counter()
            archive = compress(data, level)
            times.append(time.perf_counter() - begun)
            sizes.append(len(archive))
            fine = fine and times[-1] < SLOWEST * xz
        begun = time.perf_counter()
        fine = fine and decompress(archive) == data
        opened = time.perf_counter() - begun
        budgeted = len(compress(data, 6, 5.0))
        fine = fine and budgeted <= sizes[0]
        print(
            f"archives, {name}: levels 1, 6, 9 {', '.join(f'{x:,} bytes in {s:.2f} s' for x, s in zip(sizes, times, strict=True))};"
            f" opened in {opened:.2f} s; in 5 s {budgeted:,} bytes; xz {by_xz:,} bytes in {xz:.2f} s"
        )
    return fine
