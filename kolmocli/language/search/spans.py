"""Spans that stand in the strands in two forms: candidates for a name where nothing else bounds them.

Forms that are looked for among literals alone: `literal_spans.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kolmocli.language.search.index import WALL, Index
from kolmocli.language.search.nodes import Value

_CUT = 9.0
"""Price of cutting a span out of literals, at either side."""
USE = 8.0
"""Price of the other form of a named span, without its operator."""
_JUMPS = range(2, 6)
_HOLES = 2
"""Items that may have been replaced in one of two like stretches."""
_CROWDED = 8
"""Three items that stand in more places than this are looked at in the first of them only."""

Span = tuple[int, int]
Pair = tuple[Span, int, int, float]
"""The span that could be named, where its other form begins, how many items that has, and what it would take."""


class Candidate(NamedTuple):
    """A span to name, and where its other forms stand."""

    span: Span
    others: list[Span]


def ranked(index: Index, costs: list[float], pairs: Iterable[Pair]) -> list[Candidate]:
    """Spans, best first, by what the other forms of them would no longer take. `costs` are the bits paid before each place."""
    gains: dict[Span, float] = {}
    others: dict[Span, list[Span]] = {}
    row = index.row
    first: dict[Value, Span] = {}
    for (start, end), target, count, bits in pairs:
        gain = costs[target + count] - costs[target] - bits
        if gain > 0:
            value = row[start:end]
            unit = _unit(value)
            span = first.setdefault(value[:unit], (start, start + unit))
            gains[span] = gains.get(span, -_CUT) + gain
            others.setdefault(span, []).append((target, target + count))
    best = sorted(gains.items(), key=lambda item: (-item[1], item[0]))
    return [Candidate(span, others[span]) for span, gain in best if gain > 0]


def _unit(value: Value) -> int:
    """Number of items that a value repeats; all if it is no repetition."""
    count = len(value)
    for unit in range(3, count // 2 + 1):
        if count % unit == 0 and value[unit:] == value[:-unit]:
            return unit
    return count


def apart(candidates: list[Candidate]) -> list[Span]:
    """The best spans that do not overlap, without what is another form of a better one."""
    chosen: list[Span] = []
    made: list[Span] = []
    for (start, end), others in candidates:
        if any(start < b and end > a for a, b in chosen) or any(a <= start and end <= b for a, b in made):
            continue
        chosen.append((start, end))
        made += others
    return chosen


def similar(index: Index) -> Iterator[Pair]:
    """Spans that are found by their items or differences."""
    yield from _equal(index)
    yield from _backwards(index)
    yield from _shifted(index)
    yield from _jumping(index)
    yield from _summed(index)


def _plain(index: Index, i: int) -> bool:
    """Whether no ramp stands here: ramps have names without being cut out."""
    return index.terms[i] < 4 and (i == 0 or index.terms[i - 1] < 4)


def _equal(index: Index) -> Iterator[Pair]:
    row = index.row
    for places in index.triples.values():
        if len(places) < 2:
            continue
        for a, p in enumerate(places[:_CROWDED]):
            for q in places[a + 1 : a + _CROWDED]:
                if p and row[p - 1] == row[q - 1] and q - p > 1:
                    continue
                n = 3
                while row[p + n] == row[q + n] and n < q - p:
                    n += 1
                yield (p, p + n), q, n, USE


def replaced(index: Index) -> Iterator[Pair]:
    """Spans of which items have been replaced elsewhere: in the one or in the other."""
    row = index.row
    seen = set()
    for places in index.triples.values():
        for a, p in enumerate(places[:_CROWDED]):
            for q in places[a + 1 : a + _CROWDED]:
                shift = q - p
                if shift < 4 or (p and row[p - 1] == row[q - 1]):
                    continue
                n = 3
                while row[p + n] == row[q + n] and n < shift:
                    n += 1
                if n <= index.terms[p]:
                    continue
                for start, count, holes in _wider(row, p, q, n):
                    if (start, count, shift) not in seen:
                        seen.add((start, count, shift))
                        bits = USE - 8 + 25 * holes
                        yield (start, start + count), start + shift, count, bits
                        yield (start + shift, start + shift + count), start, count, bits


def mirrored(index: Index) -> Iterator[Pair]:
    """Spans that stand backwards elsewhere with items replaced: in the one or in the other."""
    row, triples = index.row, index.triples
    seen = set()
    for triple, places in triples.items():
        others = triples.get(triple[::-1])
        if not others or triple == triple[::-1]:
            continue
        for p in places[:_CROWDED]:
            for q in others[:_CROWDED]:
                total = p + q + 2
                if q < p + 3 or (p and row[p - 1] == row[q + 3]) or not _plain(index, p + 1):
                    continue
                for start, end, holes in _wider_mirror(row, p, total):
                    if (start, end, total) not in seen:
                        seen.add((start, end, total))
                        there, bits = total - end + 1, USE + 25 * holes
                        yield (start, end), there, end - start, bits
                        yield (there, there + end - start), start, end - start, bits


def _wider_mirror(row: Value, p: int, total: int) -> Iterator[tuple[int, int, int]]:
    """Start and end of a stretch from about p on that stands mirrored at `total` less its places, and how many items differ."""
    starts, ends = [p], []
    end, middle = p + 3, (total + 1) // 2
    for _ in range(_HOLES + 1):
        while end < middle and row[end] == row[total - end]:
            end += 1
        ends.append(end)
        if end >= middle or row[end] >= WALL or row[total - end] >= WALL:
            break
        end += 1
    start = p
    for _ in range(_HOLES):
        start -= 1
        if start < 0 or total - start >= len(row) or row[start] >= WALL or row[total - start] >= WALL:
            break
        while start and total - start + 1 < len(row) and row[start - 1] == row[total - start + 1]:
            start -= 1
        starts.append(start)
    for i, start in enumerate(starts):
        for j, end in enumerate(ends):
            if 1 <= i + j <= _HOLES:
                yield start, end, len({(row[k], row[total - k]) for k in range(start, end) if row[k] != row[total - k]})


def _wider(row: Value, p: int, q: int, n: int) -> Iterator[tuple[int, int, int]]:
    """Starts of two like stretches, their number of items, and how many of these differ: wider than the `n` equal ones from p on."""
    ends, starts = [p + n], [p]
    for _ in range(_HOLES):
        end = ends[-1] + 1
        if row[end - 1] >= WALL or row[end - 1 + q - p] >= WALL:
            break
        while row[end] == row[end + q - p] and end < q:
            end += 1
        ends.append(end)
    for _ in range(_HOLES):
        start = starts[-1] - 1
        if start < 0 or row[start] >= WALL or row[start + q - p] >= WALL:
            break
        while start and row[start - 1] == row[start - 1 + q - p]:
            start -= 1
        starts.append(start)
    for i, start in enumerate(starts):
        for j, end in enumerate(ends):
            if 1 <= i + j <= _HOLES and end <= q + start - p:
                changes = {(row[k], row[k + q - p]) for k in range(start, end) if row[k] != row[k + q - p]}
                yield start, end - start, len(changes)


def _backwards(index: Index) -> Iterator[Pair]:
    row = index.row
    for triple, places in index.triples.items():
        others = index.triples.get(triple[::-1])
        if not others or triple == triple[::-1]:
            continue
        for p in places[:_CROWDED]:
            for q in others[:_CROWDED]:
                if p >= q or (p and row[p - 1] == row[q + 3]):
                    continue
                n = 3
                while q - n + 2 > p + n and row[p + n] == row[q - n + 2]:
                    n += 1
                if _plain(index, p + 1):
                    yield (p, p + n), q + 3 - n, n, USE + 6


def _shifted(index: Index) -> Iterator[Pair]:
    row, steps = index.row, index.steps
    seen = set()
    for shape, places in index.shapes.items():
        if len(places) < 2 or shape[0] == shape[1]:
            continue
        for a, p in enumerate(places[:_CROWDED]):
            for q in places[a + 1 : a + _CROWDED]:
                shift = q - p
                if row[p] == row[q]:
                    continue
                end, start = p + 3, p
                while steps[end - 1] == steps[end - 1 + shift] and end < q and row[end] < WALL:
                    end += 1
                while start and end - start < shift and steps[start - 1] == steps[start - 1 + shift]:
                    start -= 1
                if end - start > 3 and (start, end, shift) not in seen:
                    seen.add((start, end, shift))
                    yield (start, end), start + shift, end - start, USE + 14


def _jumping(index: Index) -> Iterator[Pair]:
    row, triples = index.row, index.triples
    size = len(row)
    for s in _JUMPS:
        for p in range(size - 2 * s):
            q_all = triples.get((row[p], row[p + s], row[p + 2 * s]))
            if not q_all or not _plain(index, p):
                continue
            for q in q_all[:_CROWDED]:
                n = 3
                while p + n * s < size and row[p + n * s] == row[q + n]:
                    n += 1
                if p + (n - 1) * s < q or q + n <= p:
                    yield (p, p + (n - 1) * s + 1), q, n, USE + 8


def _summed(index: Index) -> Iterator[Pair]:
    row, steps, triples = index.row, index.steps, index.triples
    for q in range(len(row) - 3):
        for p in triples.get((row[q], steps[q], steps[q + 1]), ())[:_CROWDED]:
            n = 3
            while p + n < len(row) and q + n < len(row) and row[p + n] == steps[q + n - 1]:
                n += 1
            yield (p, p + n), q, n, USE + 8
