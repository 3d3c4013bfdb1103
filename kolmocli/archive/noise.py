"""Data in which nothing can be found, said before every search has looked for it: that would take longest."""

from __future__ import annotations

from collections.abc import Iterator

from kolmocli.archive.codecs.codecs import CODECS, QUICK, QUICKEST

_LEAST = 1 << 20
"""Bytes of data that are looked at; what is shorter is searched in seconds."""
_DEFLATE, _LZMA = 1, 3
WINDOWS, WINDOW_BYTES = 3, 1 << 15


def looks_like_noise(data: bytes) -> bool:
    """Whether deflate sees no skewed bytes in large data, nor lzma, which sees the farthest, any repeat or context."""
    return (
        len(data) >= _LEAST
        and all(_gains_nothing(_DEFLATE, window, QUICKEST) for window in windows(data))
        and _gains_nothing(_LZMA, data, QUICK)
    )


def windows(data: bytes) -> Iterator[bytes]:
    """From the beginning to the end, and all begin where words and pages do."""
    last = len(data) - WINDOW_BYTES
    for k in range(WINDOWS):
        at = last * k // (WINDOWS - 1) // WINDOW_BYTES * WINDOW_BYTES
        yield data[at : at + WINDOW_BYTES]


def _gains_nothing(codec: int, data: bytes, level: int) -> bool:
    """Whether the codec makes nothing smaller."""
    payload = CODECS[codec].encode(data, level)
    return payload is not None and len(payload) >= len(data)
