"""The raw form of a sequence: the bytes that it takes where nothing is compressed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


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
