"""Segments of a strand before anything has a name: ramps, polynomials, interleavings, repetitions, copies.

A segment is one value. Estimated bits include the merge with what stands before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

from kolmocli.language.search.alone import alone_bits
from kolmocli.language.search.index import Index
from kolmocli.language.search.nodes import Making, Value
from kolmocli.language.search.prices import MERGE, MERGE_APART, WEAVE, operator_bits
from kolmocli.language.search.ramps import all_ramp_bits, is_ramp, ramp_bits

_EVERY_END = 24
"""A ramp may end early, where something else begins: at every item if it is seen from its beginning or is no longer than this."""
_COPY = 10.0
"""Price of a copy while nothing is named yet: a use, and its share in cutting out its source."""
_COPIES = 6
"""Places of three equal items that are tried for the longest copy."""
_LONGEST_UNIT = 128
"""Longest unit of a repetition."""

Segment = tuple[int, float, Making | None]
"""Its end, its bits, and its making. None: as a ramp, or it has a name."""
Segments = dict[int, list[Segment]]
"""By where they begin."""


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


def polynomials(index: Index, strand: int) -> Segments:
    """The longest stretches whose second, third or fourth differences are constant."""
    start, end = index.starts[strand], index.ends[strand]
    row = index.row[start:end]
    found: Segments = {}
    for degree in (1, 2, 3, 4):
        row = tuple([b - a for a, b in pairwise(row)])
        i = 0
        while degree > 1 and i < len(row):
            to = i + 1
            while to < len(row) and row[to] == row[i]:
                to += 1
            if to - i >= 3 and row[i] and start + to + degree <= end:
                span = start + i, start + to + degree
                found.setdefault(span[0], []).append((span[1], alone_bits(index.row[slice(*span)]) + MERGE, None))
            i = to
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
        bits = WEAVE + MERGE if in_front else MERGE_APART + MERGE
        steps = row[i + 2] - row[i], row[i + 3] - row[i + 1]
        both, longest = min(2 * even, 2 * odd + 1), max(2 * even, 2 * odd + 1)
        found[i] = []
        for count in range(6, longest + 1) if in_front else {both - 1, both, longest - 1, longest}:
            if count < 6 or i + count > end:
                continue
            first, second = (count + 1) // 2, count // 2
            total = bits
            total += (
                ramp_bits(row[i], steps[0], first) if first <= even else index.literal_bits + index.item_bits * first
            )
            total += (
                ramp_bits(row[i + 1], steps[1], second)
                if second <= odd
                else index.literal_bits + index.item_bits * second
            )
            parts = row[i : i + count : 2], row[i + 1 : i + count : 2]
            found[i].append((i + count, total, Making("interleave", (), parts, bits - MERGE)))
    return found


def _terms_2(row: Value, start: int, end: int) -> list[int]:
    """For each place how many items from there on, every second, have one constant difference; 1 at the end."""
    terms = [1] * (end - start + 1)
    for i in range(end - 3, start - 1, -1):
        step = row[i + 2] - row[i]
        at = i - start
        terms[at] = terms[at + 2] + 1 if i + 4 < end and row[i + 4] - row[i + 2] == step else 2
    return terms


def periods(index: Index, strand: int) -> Segments:
    """Values that stand at least twice in succession."""
    row, start, end = index.row, index.starts[strand], index.ends[strand]
    found: Segments = {}
    last: dict[tuple[int, ...], int] = {}
    ended: dict[int, int] = {}
    for i in range(start, end - 2):
        triple = row[i : i + 3]
        unit = i - last.get(triple, -end)
        last[triple] = i
        if not 2 <= unit <= _LONGEST_UNIT or ended.get(unit, -1) > i:
            continue
        begin = i - unit
        to = i + 3
        while to < end and row[to] == row[to - unit]:
            to += 1
        ended[unit] = to
        times = (to - begin) // unit
        if times < 2 or is_ramp(row[begin : begin + unit]):
            continue
        for first in {begin, to - times * unit}:
            value = row[first : first + unit]
            for n in {times, 2}:
                making = Making("repeat_list", (n,), (value,), operator_bits("repeat_list", n))
                segment = (first + n * unit, alone_bits(value) + making.bits + MERGE, making)
                found.setdefault(first, []).append(segment)
    return found


def together(*parts: Segments) -> Segments:
    """All segments of several kinds."""
    whole: Segments = {}
    for part in parts:
        for i, segments in part.items():
            whole.setdefault(i, []).extend(segments)
    return whole


def copies(index: Index, strand: int, room: Callable[[int, int], int] | None = None) -> Segments:
    """Values that stand before too, for an estimate before anything is named.

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
            for place in triples.get(row[i : i + 3], ())[:_COPIES]:  # type: ignore[arg-type]
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
