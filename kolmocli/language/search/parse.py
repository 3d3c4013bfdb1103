"""The cheapest concatenation that gives a strand: a shortest path over its segments.

Between segments the items are literals, of which a run is one `set_list`.
"""

from __future__ import annotations

from typing import NamedTuple

from kolmocli.language.search.budget import Budget
from kolmocli.language.search.index import Index
from kolmocli.language.search.nodes import Making
from kolmocli.language.search.prices import MERGE
from kolmocli.language.search.segments import Segment, Segments

_INFINITE = float("inf")


class Piece(NamedTuple):
    """A part of a path: a value, or literals (`literal`)."""

    start: int
    end: int
    making: Making | None
    bits: float
    literal: bool


def cheapest(
    index: Index, start: int, end: int, parts: tuple[Segments, ...], budget: Budget
) -> tuple[float, list[Piece]]:
    """The cheapest path from `start` to `end`, and its estimated bits, each value merged with the ones before."""
    budget.spend(2 * (end - start) + 8)
    size = end - start
    item, opening = index.item_bits, index.literal_bits + MERGE
    best = [_INFINITE] * (size + 1)
    back: list[tuple[int, Segment | None]] = [(start, None)] * (size + 1)
    best[0] = 0.0
    opened, opened_at = _INFINITE, start
    for at in range(size):
        here = best[at]
        paid = item * at
        if opened + paid < here:
            here = best[at] = opened + paid
            back[at] = (opened_at, None)
        if here + opening - paid < opened:
            opened, opened_at = here + opening - paid, start + at
        for segments in parts:
            if start + at in segments:
                for segment in segments[start + at]:
                    to = segment[0] - start
                    total = here + segment[1]
                    if to <= size and total < best[to]:
                        best[to] = total
                        back[to] = (start + at, segment)
    if opened + item * size < best[size]:
        best[size] = opened + item * size
        back[size] = (opened_at, None)
    path = []
    at = end
    while at > start:
        begin, chosen = back[at - start]
        if chosen is None:
            path.append(Piece(begin, at, None, index.literal_bits + item * (at - begin), True))
        else:
            path.append(Piece(begin, at, chosen[2], chosen[1], False))
        at = begin
    return best[size], path[::-1]
