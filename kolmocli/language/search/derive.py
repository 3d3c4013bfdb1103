"""Find places in the strands where a value stands that one call makes of a known one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate, pairwise
from math import gcd
from operator import add, sub

from kolmocli.language.program import PREDICATES
from kolmocli.language.search.index import WALL, Index
from kolmocli.language.search.nodes import Making, Value
from kolmocli.language.search.prices import operator_bits
from kolmocli.language.search.ramps import is_ramp, ramp_cost

_TESTS = {"is_even": lambda x: x % 2 == 0, "is_odd": lambda x: x % 2 == 1, "is_not_zero": lambda x: x != 0}
_JUMPS = range(2, 6)
_MOST_MODULUS = 256
_CHANGES = 2
"""Most items that may be replaced in a value."""
_DEAR = 25.0
"""A ramp that takes more than this may be made of others in every way."""

Found = tuple[int, int, Making]
"""Its start, its end, and its making."""


def derived(index: Index, value: Value, hidden: dict[Value, Making]) -> Iterator[Found]:
    """Everything of two items at least that one call makes of the value, and that stands somewhere.

    Where it takes two calls, how to make the value in between is added to `hidden`.
    """
    if len(value) < 2:
        return
    yield from _whole(index, value)
    yield from _repeated(index, value)
    yield from _sorted(index, value)
    yield from _remainders(index, value)
    yield from _replaced(index, value, value, hidden)
    for image, function, constants in _images(value):
        if len(image) > 3 and not index.places(image):
            making = Making(function, constants, (value,), operator_bits(function, *constants))
            for found in _replaced(index, image, value, hidden):
                hidden.setdefault(image, making)
                yield found[0], found[1], found[2]._replace(bits=found[2].bits + making.bits)
    if not is_ramp(value) or ramp_cost(value) > _DEAR:
        yield from _shifted(index, value)
        yield from _parts(index, value)


def _found(start: int, count: int, function: str, value: Value, *constants: int | str) -> Found:
    return start, start + count, Making(function, constants, (value,), operator_bits(function, *constants))


@lru_cache(maxsize=4096)
def _images(value: Value) -> tuple[tuple[Value, str, tuple[int | str, ...]], ...]:
    """Results of functions without constants, or with few, on the value."""
    made: list[tuple[Value, str, tuple[int | str, ...]]] = [
        (value[::-1], "reverse_list", ()),
        (tuple(accumulate(value)), "scan_add", ()),
    ]
    made += [(value[::s], "get_subsequence_with_jumps", (s,)) for s in _JUMPS]
    made += [(tuple(x for x in value if _TESTS[p](x)), "filter", (p,)) for p in PREDICATES]
    return tuple(image for image in made if image[0] != value and len(image[0]) > 1)


def _whole(index: Index, value: Value) -> Iterator[Found]:
    for result, function, constants in _images(value):
        for i in index.places(result):
            yield _found(i, len(result), function, value, *constants)


def _repeated(index: Index, value: Value) -> Iterator[Found]:
    count = len(value)
    places = index.places(value)
    if len(places) < 2:
        return
    at = set(places)
    for i in places:
        times = 1
        while i + times * count in at:
            times += 1
            yield _found(i, times * count, "repeat_list", value, times)


def _sorted(index: Index, value: Value) -> Iterator[Found]:
    if len(value) < 3:
        return
    row = index.row
    up = tuple(sorted(value))
    for function, ordered in (("max_n", up[::-1]), ("min_n", up)):
        if ordered == value:
            continue
        for i in index.triples.get(ordered[:3], ()):  # type: ignore[arg-type]
            n = 3
            while n < len(ordered) and row[i + n] == ordered[n]:
                n += 1
            for count in range(n, max(2, n - 2), -1):
                yield _found(i, count, function, value, count)


@lru_cache(maxsize=4096)
def _first_remainders(first: tuple[int, int, int], top: int) -> tuple[tuple[tuple[int, int, int], int], ...]:
    """The remainders of three items for every modulus that changes one of them."""
    a, b, c = first
    return tuple(((a % m, b % m, c % m), m) for m in range(2, min(top, max(first)) + 1))


def _remainders(index: Index, value: Value) -> Iterator[Found]:
    count, top = len(value), max(value)
    if count < 3 or top < 2:
        return
    row, triples = index.row, index.triples
    first = value[:3]
    for triple, modulus in _first_remainders(first, min(top, _MOST_MODULUS)):
        if triple in triples:
            remainders = tuple([x % modulus for x in value])
            for i in triples[triple]:
                if row[i : i + count] == remainders:
                    yield _found(i, count, "modulo_item_list", value, modulus)
    for i in triples.get(first, ()):  # type: ignore[arg-type]
        part = row[i : i + count]
        if part != value and len(part) == count:
            found = _modulus(value, part)
            if found:
                yield _found(i, count, "modulo_item_list", value, found)


def _modulus(value: Value, part: Value) -> int:
    """The divisor that leaves this part of the value, or 0."""
    common = gcd(*[a - b for a, b in zip(value, part, strict=True)])
    above = max(part)
    if min(part) < 0 or common <= above:
        return 0
    small = next((m for m in range(above + 1, min(common, _MOST_MODULUS) + 1) if common % m == 0), common)
    return small if tuple([x % small for x in value]) == part else 0


def _replaced(index: Index, value: Value, known: Value, hidden: dict[Value, Making]) -> Iterator[Found]:
    count = len(value)
    row, pairs = index.row, index.pairs
    if count < 3 or len(set(value)) < 2:
        return
    starts = {i - k for k in (0, 2, count - 2) for i in pairs.get(value[k : k + 2], ())}  # type: ignore[arg-type]
    for start in sorted(starts):
        if start < 0 or start + count > len(row):
            continue
        part = row[start : start + count]
        if part in (value, known):
            continue
        now, source = value, value
        for _ in range(_CHANGES):
            at = next(k for k in range(count) if part[k] != now[k])
            old, new = now[at], part[at]
            if new >= WALL:
                break
            source, now = now, tuple(new if x == old else x for x in now)
            making = Making("substitute", (old, new), (source,), operator_bits("substitute", old, new))
            if now == part:
                extra = 0.0 if source == value else hidden[source].bits
                yield start, start + count, making._replace(bits=making.bits + extra)
                break
            hidden.setdefault(now, making)


def _shifted(index: Index, value: Value) -> Iterator[Found]:
    count = len(value)
    if count < 4:
        return
    row, steps = index.row, index.steps
    shape = [b - a for a, b in pairwise(value)]
    for i in index.shapes.get((shape[0], shape[1]), ()):
        constant = row[i] - value[0]
        if constant and steps[i : i + count - 1] == shape:
            function = "add_item_list" if constant > 0 else "subtract_item_list"
            yield _found(i, count, function, value, abs(constant))


def _parts(index: Index, value: Value) -> Iterator[Found]:
    row = index.row
    count = len(value)
    if count < 4:
        return
    seen = set()
    for k in range(count - 2):
        for i in index.triples.get(value[k : k + 3], ()):  # type: ignore[arg-type]
            if (i - 1, k - 1) in seen:
                seen.add((i, k))
                continue
            seen.add((i, k))
            n = 3
            while k + n < count and row[i + n] == value[k + n]:
                n += 1
            if n < count:
                yield _found(i, n, "get_subsequence_between_indices", value, k, k + n)


def paired(index: Index, x: Value, y: Value) -> Iterator[Found]:
    """Results of one call on two values of one length, in this order."""
    if len(x) != len(y) or len(x) < 3:
        return
    triples = index.triples
    (a, b, c), (d, e, f) = x[:3], y[:3]
    made: list[tuple[str, Value]] = []
    if (a + d, b + e, c + f) in triples:
        made.append(("add_two_lists", tuple(map(add, x, y))))
    if (a - d, b - e, c - f) in triples:
        made.append(("subtract_two_lists", tuple(map(sub, x, y))))
    if 0 in y or (a % d, b % e, c % f) in triples:
        made.append(("modulo_two_lists", tuple(a % b for a, b in zip(x, y, strict=True) if b)))
    for function, value in made:
        if value in (x, y):
            continue
        for i in index.places(value):
            yield i, i + len(value), Making(function, (), (x, y), operator_bits(function))
