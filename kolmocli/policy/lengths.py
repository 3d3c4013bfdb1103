"""Prompts of like lengths together: in one table every prompt is padded to the longest.

Which prompts are computed together changes nothing but the last bits of a sum: every row has random numbers of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

_TOKENS_PER_STEP = 32
"""Cost of one more table for each written token, in tokens of padding: measured on a CPU with the preset `tiny`."""


def tables(lengths: Sequence[int], steps: int) -> list[list[int]]:
    """Numbers of the prompts of each table, in order, for prompts of these lengths and at most this many tokens each.

    The longest come first. A table is split where that saves most, as long as it saves more padding than a further table costs.
    """
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    return [sorted(table) for table in _split(order, lengths, steps * _TOKENS_PER_STEP)]


def _split(order: list[int], lengths: Sequence[int], cost: int) -> list[list[int]]:
    """`order` has the longest first, and so has each part."""
    if len(order) < 2:
        return [order]
    # Those from `i` on are padded to the length of number `i`, and no longer to the longest.
    saved, at = max(((lengths[order[0]] - lengths[order[i]]) * (len(order) - i), i) for i in range(1, len(order)))
    if saved <= cost:
        return [order]
    return _split(order[:at], lengths, cost) + _split(order[at:], lengths, cost)
