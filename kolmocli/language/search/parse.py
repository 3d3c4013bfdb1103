"""The cheapest concatenation that gives a strand: a shortest path over its segments.

A segment is one value that stands there. Between segments the items are literals, of which a run is one `set_list`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from kolmocli.language.search.budget import Budget
from kolmocli.language.search.index import Index
from kolmocli.language.search.nodes import Making, Value
from kolmocli.language.search.prices import MERGE, WEAVE, operator_bits
from kolmocli.language.search.ramps import all_ramp_bits, ramp_bits

_INFINITE = float("inf")
_EVERY_END = 24
"""A ramp may end early, where something else begins: at every item if it is seen from its beginning or is no longer than this."""
_COPY = 10.0
"""What a copy takes while nothing is named yet: a use, and its share in cutting out what is copied."""
_APART = 10.0
"""What an interleaving that does not begin in front takes more: nothing folds around it."""
_COPIES = 6
"""So many places of three equal items are looked at for the longest copy."""


Segment = tuple[int, float, Making | None]
"""A value: where it ends, its estimated bits with the merge, and how it is made. None: as a ramp, or it has a name."""
Segments = dict[int, list[Segment]]
"""By where they begin."""


class Piece(NamedTuple):
    """A part of a path: a value, or literals (`literal`)."""

    start: int
    end: int
    making: Making | None
    bits: float
    literal: bool


def ramps(index: Index, strand: int) -> Segments:
    """Every ramp of the strand, from every place on, with the ends at which it may be cut."""
    row, terms, steps = index.row, index.terms, index.steps
    found: Segments = {}
    for i in range(index.starts[strand], index.ends[strand]):
        count = terms[i]
        first, step = row[i], steps[i]
        if count < 3 and (count < 2 or not 0 <= step <= 5):
            continue
        begins = i == index.starts[strand] or steps[i - 1] != step
        lengths = range(2, count + 1) if begins or count <= _EVERY_END else (2, 3, 4, count - 2, count - 1, count)
        costs = all_ramp_bits(first, step, lengths)
        found[i] = [(i + n, bits + MERGE, None) for n, bits in zip(lengths, costs, strict=True)]
    for i, segment in _holed(index, strand):
        found.setdefault(i, []).append(segment)
    return found


def _holed(index: Index, strand: int) -> Iterator[tuple[int, Segment]]:
    """Ramps of which one item has been replaced."""
    row, terms, steps = index.row, index.terms, index.steps
    start, end = index.starts[strand], index.ends[strand]
    for i in range(start, end - 4):
        step, count = steps[i], terms[i]
        if count < 2 or not 1 <= abs(step) <= 5 or (i > start and steps[i - 1] == step):
            continue
        hole = i + count
        if hole + 1 >= end or row[hole + 1] - row[hole - 1] != 2 * step:
            continue
        last = hole + 1 + (terms[hole + 1] if steps[hole + 1] == step else 1)
        if last - i >= 5:
            old, new = row[hole - 1] + step, row[hole]
            whole = tuple(range(row[i], row[i] + step * (last - i), step))
            making = Making("substitute", (old, new), (whole,), operator_bits("substitute", old, new))
            yield i, (last, ramp_bits(row[i], step, last - i) + making.bits + MERGE, making)


def zips(index: Index, strand: int) -> Segments:
    """Ramps interleaved with ramps or with literals. In front of the strand they need no merge of their own."""
    row, start, end = index.row, index.starts[strand], index.ends[strand]
    found: Segments = {}
    terms = _terms_2(row, start, end)
    for i in range(start, end - 5):
        even, odd = terms[i - start], terms[i - start + 1]
        if max(even, odd) < 4 or index.terms[i] > 3 or index.terms[i + 1] > 3:
            continue
        in_front = i == start
        bits = WEAVE + MERGE + (0.0 if in_front else _APART)
        steps = row[i + 2] - row[i], row[i + 3] - row[i + 1]
        both = min(2 * even, 2 * odd + 1)
        found[i] = []
        for count in range(6, both + 1) if in_front else (both - 1, both):
            if count >= 6:
                first = ramp_bits(row[i], steps[0], (count + 1) // 2)
                second = ramp_bits(row[i + 1], steps[1], count // 2)
                found[i].append((i + count, bits + first + second, None))
        longest = max(2 * even, 2 * odd + 1)
        bits += index.literal_bits
        for count in range(max(6, both + 1), longest + 1) if in_front else (longest - 1, longest):
            if count > both and i + count <= end:
                if even > odd:
                    one = ramp_bits(row[i], steps[0], (count + 1) // 2) + index.item_bits * (count // 2)
                else:
                    one = ramp_bits(row[i + 1], steps[1], count // 2) + index.item_bits * ((count + 1) // 2)
                found[i].append((i + count, bits + one, None))
    return found


def _terms_2(row: Value, start: int, end: int) -> list[int]:
    """For each place how many items from there on, every second, have one constant difference; 1 at the end."""
    terms = [1] * (end - start + 1)
    for i in range(end - 3, start - 1, -1):
        step = row[i + 2] - row[i]
        at = i - start
        terms[at] = terms[at + 2] + 1 if i + 4 < end and row[i + 4] - row[i + 2] == step else 2
    return terms


def copies(index: Index, strand: int, room: Callable[[int, int], int] | None = None) -> Segments:
    """What stands before too, for an estimate before anything is named.

    `room` says how many items from one place on could be made of those from another, earlier place on.
    """
    row, terms, triples = index.row, index.terms, index.triples
    found: Segments = {}
    end = index.ends[strand]
    source, length = -1, 0
    for i in range(index.starts[strand], end):
        if length > 3:
            source, length = source + 1, length - 1
        else:
            source, length = -1, 0
            if terms[i] > 3:
                continue
            for place in triples.get(row[i : i + 3], ())[:_COPIES]:  # type: ignore[call-overload]
                most = i - place if room is None else min(room(i, place), i - place)
                if most < 3:
                    continue
                n = 3
                while i + n < end and row[place + n] == row[i + n] and n < most:
                    n += 1
                if n > length:
                    source, length = place, n
        if length >= 3:
            found[i] = [(i + length, _COPY + MERGE, None)]
    return found


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
        begin, segment = back[at - start]
        if segment is None:
            path.append(Piece(begin, at, None, index.literal_bits + item * (at - begin), True))
        else:
            path.append(Piece(begin, at, segment[2], segment[1], False))
        at = begin
    return best[size], path[::-1]
