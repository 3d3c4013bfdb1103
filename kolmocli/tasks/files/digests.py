"""A set of 64-bit digests in one flat table: 16 to 32 bytes each, where a Python set takes some 80."""

from __future__ import annotations

from array import array
from collections.abc import Iterable


class DigestSet:
    """Open addressing with linear probing, at most half full. With `capacity` known, it never grows."""

    def __init__(self, capacity: int = 0) -> None:
        self._count = 0
        self._make(max(4, (2 * capacity).bit_length()))

    def __len__(self) -> int:
        return self._count

    def add(self, digest: int) -> bool:
        """True when it is new."""
        digest = digest or 1  # 0 marks a free place
        place = self._place(digest)
        if self._table[place]:
            return False
        self._table[place] = digest
        self._count += 1
        if 2 * self._count > self._mask:
            self._grow(self._table)
        return True

    def _place(self, digest: int) -> int:
        """Its place, or the free place for it."""
        place = digest & self._mask
        while self._table[place] and self._table[place] != digest:
            place = (place + 1) & self._mask
        return place

    def _make(self, bits: int) -> None:
        self._mask = (1 << bits) - 1
        self._table = array("Q", bytes(8 << bits))

    def _grow(self, digests: Iterable[int]) -> None:
        self._make(self._mask.bit_length() + 1)
        for digest in digests:
            if digest:
                self._table[self._place(digest)] = digest
