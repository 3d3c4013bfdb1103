"""Where the strands hold a value that one call makes of a known one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate

from kolmocli.language.program import PREDICATES
from kolmocli.language.search.index import WALL, Index
from kolmocli.language.search.nodes import Node, Value
from kolmocli.language.search.parse import Segment
from kolmocli.language.search.prices import MERGE, operator_bits

_TESTS = {"is_even": lambda x: x % 2 == 0, "is_odd": lambda x: x % 2 == 1, "is_not_zero": lambda x: x != 0}
_JUMPS = range(2, 6)
_MOST_MODULUS = 256

Found = tuple[int, Segment]
"""Where it begins, and the segment."""


def derived(index: Index, node: Node) -> Iterator[Found]:
    """Everything that one call makes of the node's value and that stands somewhere. Two items at least."""
    value = node.value
    if len(value) < 2:
        return
    ramp = _is_ramp(value)
    yield from _whole(index, node)
    yield from _repeated(index, node)
    yield from _sorted(index, node)
    yield from _remainders(index, node)
    yield from _replaced(index, node)
    if not ramp:
        yield from _shifted(index, node)
        yield from _parts(index, node)


def _is_ramp(value: Value) -> bool:
    step = value[1] - value[0]
    return all(b - a == step for a, b in zip(value, value[1:]))


def _segment(start: int, count: int, function: str, *arguments: object) -> Found:
    constants = [a for a in arguments if not isinstance(a, Node)]
    return start, (start + count, operator_bits(function, *constants) + MERGE, (function, *arguments))


@lru_cache(maxsize=4096)
def _images(value: Value) -> tuple[tuple[Value, str, tuple[object, ...]], ...]:
    """What functions without constants, or with few, make of the value; None stands for it in their arguments."""
    made: list[tuple[Value, str, tuple[object, ...]]] = [
        (value[::-1], "reverse_list", (None,)),
        (tuple(accumulate(value)), "scan_add", (None,)),
    ]
    made += [(value[::s], "get_subsequence_with_jumps", (None, s)) for s in _JUMPS]
    made += [(tuple(x for x in value if _TESTS[p](x)), "filter", (p, None)) for p in PREDICATES]
    return tuple(image for image in made if image[0] != value and len(image[0]) > 1)


def _whole(index: Index, node: Node) -> Iterator[Found]:
    for result, function, arguments in _images(node.value):
        for i in index.places(result):
            yield _segment(i, len(result), function, *(node if a is None else a for a in arguments))


def _repeated(index: Index, node: Node) -> Iterator[Found]:
    value, count = node.value, len(node.value)
    places = index.places(value)
    if len(places) < 2:
        return
    at = set(places)
    for i in places:
        times = 1
        while i + times * count in at:
            times += 1
            yield _segment(i, times * count, "repeat_list", times, node)


def _sorted(index: Index, node: Node) -> Iterator[Found]:
    value = node.value
    if len(value) < 3:
        return
    row = index.row
    up = tuple(sorted(value))
    for function, ordered in (("max_n", up[::-1]), ("min_n", up)):
        if ordered == value:
            continue
        for i in index.triples.get(ordered[:3], ()):  # type: ignore[call-overload]
            n = 3
            while n < len(ordered) and row[i + n] == ordered[n]:
                n += 1
            for count in range(n, max(2, n - 2), -1):
                yield _segment(i, count, function, node, count)


@lru_cache(maxsize=4096)
def _first_remainders(first: tuple[int, int, int], top: int) -> tuple[tuple[tuple[int, int, int], int], ...]:
    a, b, c = first
    return tuple(((a % m, b % m, c % m), m) for m in range(2, top + 1))


def _remainders(index: Index, node: Node) -> Iterator[Found]:
    value = node.value
    count = len(value)
    top = max(value)
    if count < 3 or top < 2:
        return
    row, triples = index.row, index.triples
    for triple, modulus in _first_remainders(value[:3], min(top, _MOST_MODULUS)):  # type: ignore[arg-type]
        if triple in triples:
            remainders = tuple(x % modulus for x in value)
            if remainders != value:
                for i in triples[triple]:
                    if row[i : i + count] == remainders:
                        yield _segment(i, count, "modulo_item_list", node, modulus)


def _replaced(index: Index, node: Node) -> Iterator[Found]:
    value = node.value
    count = len(value)
    row, pairs = index.row, index.pairs
    if count < 3 or len(set(value)) < 2:
        return
    starts = {i - k for k in (0, 2, count - 2) for i in pairs.get(value[k : k + 2], ())}  # type: ignore[call-overload]
    for start in sorted(starts):
        if start < 0 or start + count > len(row):
            continue
        part = row[start : start + count]
        if part == value:
            continue
        changes: list[tuple[int, int]] = []
        now = value
        while now != part and len(changes) < 2:
            at = next(k for k in range(count) if part[k] != now[k])
            old, new = now[at], part[at]
            if new >= WALL:
                break
            changes.append((old, new))
            now = tuple(new if x == old else x for x in now)
        if now != part:
            continue
        source = node
        for old, new in changes[:-1]:
            source = Node("substitute", source, old, new)
        i, (end, bits, made) = _segment(start, count, "substitute", source, *changes[-1])
        yield i, (end, bits + (len(changes) - 1) * operator_bits("substitute", *changes[0]), made)


def _shifted(index: Index, node: Node) -> Iterator[Found]:
    value = node.value
    count = len(value)
    if count < 4:
        return
    row, steps = index.row, index.steps
    shape = [b - a for a, b in zip(value, value[1:])]
    for i in index.shapes.get((shape[0], shape[1]), ()):
        constant = row[i] - value[0]
        if constant and steps[i : i + count - 1] == shape:
            function = "add_item_list" if constant > 0 else "subtract_item_list"
            yield _segment(i, count, function, node, abs(constant))


def _parts(index: Index, node: Node) -> Iterator[Found]:
    value, row = node.value, index.row
    count = len(value)
    if count < 4:
        return
    seen = set()
    for k in range(count - 2):
        for i in index.triples.get(value[k : k + 3], ()):  # type: ignore[call-overload]
            if (i - 1, k - 1) in seen:
                seen.add((i, k))
                continue
            seen.add((i, k))
            n = 3
            while k + n < count and row[i + n] == value[k + n]:
                n += 1
            if n > 3 and n < count:
                yield _segment(i, n, "get_subsequence_between_indices", node, k, k + n)


def paired(index: Index, nodes: list[Node]) -> Iterator[Found]:
    """What a call makes of two known values of one length."""
    by_length: dict[int, list[Node]] = {}
    for node in nodes:
        if len(node.value) > 2:
            by_length.setdefault(len(node.value), []).append(node)
    triples, row = index.triples, index.row
    for same in by_length.values():
        for x in same:
            for y in same:
                if x is y:
                    continue
                a, b = x.value, y.value
                (a0, a1, a2), (b0, b1, b2) = a[:3], b[:3]
                if (a0 + b0, a1 + b1, a2 + b2) in triples:
                    yield from _both(index, "add_two_lists", x, y)
                if (a0 - b0, a1 - b1, a2 - b2) in triples:
                    yield from _both(index, "subtract_two_lists", x, y)
                if not (b0 and b1 and b2) or (a0 % b0, a1 % b1, a2 % b2) in triples:
                    yield from _both(index, "modulo_two_lists", x, y)


def _both(index: Index, function: str, x: Node, y: Node) -> Iterator[Found]:
    value = Node(function, x, y).value
    for i in index.places(value):
        yield _segment(i, len(value), function, x, y)
