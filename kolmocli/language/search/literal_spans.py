"""Spans of literals whose other form is literal too: filtered, sorted, remainders, or made together with a known value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from math import gcd
from operator import add, mod, sub

from kolmocli.language.search.index import WALL, Index
from kolmocli.language.search.nodes import Value
from kolmocli.language.search.spans import USE, Pair, Span


def literal_forms(index: Index, literals: list[Span]) -> Iterator[Pair]:
    """Spans of literals whose other form, literal so far too, is sorted, filtered, or remainders of them."""
    yield from _filtered(index, literals)
    yield from _ordered(index, literals)
    yield from _reduced(index, literals)


def _filtered(index: Index, literals: list[Span]) -> Iterator[Pair]:
    row = index.row
    for odd in (0, 1):
        kept = [i for start, end in literals for i in range(start, end) if row[i] & 1 == odd]
        triples: dict[tuple[int, int, int], list[int]] = {}
        for k in range(len(kept) - 2):
            triples.setdefault((row[kept[k]], row[kept[k + 1]], row[kept[k + 2]]), []).append(k)
        for k in range(len(kept) - 2):
            target = kept[k]
            if kept[k + 2] != target + 2:
                continue
            for source in triples[row[target], row[target + 1], row[target + 2]]:
                if kept[source] >= target or kept[source + 2] == kept[source] + 2:
                    continue
                n = 3
                while (
                    k + n < len(kept)
                    and kept[k + n] == target + n
                    and kept[source + n] < target
                    and row[kept[source + n]] == row[target + n]
                ):
                    n += 1
                start, end = _within(literals, kept[source], kept[source + n - 1] + 1, target)
                low, high = kept[source], kept[source + n - 1] + 1
                while low > start and row[low - 1] & 1 != odd:
                    low -= 1
                while high < end and row[high] & 1 != odd:
                    high += 1
                yield (low, high), target, n, USE + 8


def _within(literals: list[Span], low: int, high: int, target: int) -> Span:
    """The bounds of the literals around a span, as far as the target."""
    for start, end in literals:
        if start <= low < end:
            return start, min(end, target) if start < target else end
    return low, high


def _ordered(index: Index, literals: list[Span]) -> Iterator[Pair]:
    row = index.row
    for start, end in literals:
        for sign in (1, -1):
            i = start
            while i < end - 2:
                j = i + 1
                while j < end and (row[j] - row[j - 1]) * sign >= 0:
                    j += 1
                if j - i >= 4:
                    yield from _sorted_from(index, literals, i, j, sign)
                i = max(j, i + 1)


def _sorted_from(index: Index, literals: list[Span], i: int, j: int, sign: int) -> Iterator[Pair]:
    """Spans before the items i to j of which these are the smallest (sign 1) or the largest; the first or the last of
    them may have been there by chance."""
    row = index.row
    for low, high in ((i, j), (i + 1, j), (i, j - 1)):
        wanted = row[low:high]
        rest = set(wanted)
        last = wanted[-1] * sign
        for start, end in literals:
            end = min(end, low)
            if end - start <= len(wanted):
                continue
            places = [p for p in range(start, end) if row[p] in rest]
            if len({row[p] for p in places}) < len(rest):
                continue
            a, b = _hull(row, places, wanted)
            if any(row[p] * sign < last and row[p] not in rest for p in range(a, b)):
                continue
            while a > start and row[a - 1] * sign >= last:
                a -= 1
            while b < end and row[b] * sign >= last:
                b += 1
            if tuple(sorted(row[a:b], reverse=sign < 0)[: high - low]) == wanted:
                yield (a, b), low, high - low, USE + 11
                return


def _hull(row: Value, places: list[int], wanted: Value) -> Span:
    """A short stretch of places that holds every wanted item as often as it is wanted."""
    missing = Counter(wanted)
    first = last = places[0]
    for last in places:
        missing[row[last]] -= 1
        if not any(n > 0 for n in missing.values()):
            break
    missing = Counter(wanted)
    for first in reversed([p for p in places if p <= last]):
        missing[row[first]] -= 1
        if not any(n > 0 for n in missing.values()):
            break
    return first, last + 1


def _reduced(index: Index, literals: list[Span]) -> Iterator[Pair]:
    """Remainders: the differences have a common divisor above the remainders."""
    row = index.row
    starts = [i for start, end in literals for i in range(start, end - 3)]
    for q in starts:
        y0, y1, y2, y3 = row[q : q + 4]
        top = max(y0, y1, y2, y3)
        for p in starts:
            a, b, c, d = row[p] - y0, row[p + 1] - y1, row[p + 2] - y2, row[p + 3] - y3
            if a < 0 or b < 0 or c < 0 or d < 0 or -4 < p - q < 4:
                continue
            divisor = gcd(a, b, c, d)
            if divisor <= top:
                continue
            n, above = 4, top
            while n < abs(p - q) and row[p + n] < WALL and row[q + n] < WALL:
                more = gcd(divisor, row[p + n] - row[q + n])
                highest = max(above, row[q + n])
                if more <= highest or row[p + n] < row[q + n]:
                    break
                divisor, above = more, highest
                n += 1
            if n > 4 and row[p : p + n] != row[q : q + n]:
                yield (p, p + n), q, n, USE + 14


def combined(index: Index, literals: list[Span], known: list[Value]) -> Iterator[Pair]:
    """Spans of literals that make other items together with a known value of the same length."""
    row, triples = index.row, index.triples
    for value in known:
        count = len(value)
        if count < 4:
            continue
        a, b, c = value[:3]
        for start, end in literals:
            for p in range(start, end - count + 1):
                x, y, z = row[p : p + 3]
                keys = {(a + x, b + y, c + z): add, (a - x, b - y, c - z): sub, (x - a, y - b, z - c): _from}
                if x and y and z:
                    keys[a % x, b % y, c % z] = mod
                if a and b and c:
                    keys[x % a, y % b, z % c] = _mod_by
                for key, function in keys.items():
                    for q in triples.get(key, ()):
                        if p + count <= q or q + 3 <= p:
                            made = _together(function, value, row[p : p + count])
                            if made == row[q : q + len(made)]:
                                yield (p, p + count), q, len(made), USE + 12


def _together(function: Callable[[int, int], int], value: Value, part: Value) -> Value:
    """Item by item; where the function divides, without the pairs whose divisor is 0."""
    divisors = part if function is mod else value if function is _mod_by else ()
    pairs = zip(value, part, strict=True)
    if 0 in divisors:
        return tuple(function(a, b) for (a, b), divisor in zip(pairs, divisors, strict=True) if divisor)
    return tuple(function(a, b) for a, b in pairs)


def _from(a: int, b: int) -> int:
    return b - a


def _mod_by(a: int, b: int) -> int:
    return b % a
