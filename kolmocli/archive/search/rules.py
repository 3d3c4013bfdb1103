"""Finding recurrences: where in a sequence, and by which rule, each item follows from the ones before.

Low orders are looked for at every position, vectorised; higher orders and unknown moduli where a column begins. A rule
is a guess from a few items: how far it really reaches is then computed exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import gcd

import numpy as np

from kolmocli.archive.format.recurrences import Recurrence, binomial_recurrence
from kolmocli.archive.search.evidence import Ints

_SMALL = 1 << 30
"""Products of two items below this fit 64 bits, and so do sums of a few."""
_MORE = 4
"""A rule must explain this many items more than it has numbers of its own."""
_MOST_DEGREE = 4
_MOST_START_ORDER = 6
_GUESSED_FROM = 48
"""Items at the beginning of a column that guess an order or a modulus."""
_MOST_RUNS = 2048
"""Runs looked at exactly, per family and search: the longest."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A recurrence and where it holds. `bits` is what its numbers take in the program stream, about."""

    start: int
    recurrence: Recurrence
    bits: float


def find_rules(values: Ints, starts: Sequence[int] = (0,), wrap: int = 0) -> list[Rule]:
    """The rules of a sequence; `starts` is where its columns begin, `wrap` the modulus of unsigned words (or 0)."""
    guesses: list[tuple[int, Recurrence]] = []
    for degree in range(2, _MOST_DEGREE + 1):
        guesses += _polynomials(values, degree, 0)
    for degree in range(1, _MOST_DEGREE if wrap else 0):
        guesses += _polynomials(values, degree, wrap)
    guesses += _affine(values)
    guesses += _second_order(values)
    items = values.tolist()
    for start in starts:
        guesses += ((start, r) for r in _at_start(items[start : start + _GUESSED_FROM]))
    reached: dict[tuple[int, int], Rule] = {}
    for start, guess in guesses:
        rule = _exact(items, start, guess)
        if rule is not None:
            place = (rule.start, rule.recurrence.count)
            if place not in reached or rule.bits < reached[place].bits:
                reached[place] = rule
    return list(reached.values())


def _exact(items: list[int], start: int, guess: Recurrence) -> Rule | None:
    """The rule with as many items as it really explains; None where these are few."""
    order = len(guess.coefficients)
    end = start + order
    while end < len(items) and guess.follow(items[end - order : end]) == items[end]:
        end += 1
    if end - start < 2 * order + _MORE:
        return None
    recurrence = Recurrence(*_rule_of(guess), tuple(items[start : start + order]), end - start)
    numbers = (*guess.coefficients, guess.constant, guess.modulus)
    bits = 3.0 + sum(3.0 + 1.5 * abs(n).bit_length() for n in numbers)
    return Rule(start, recurrence, bits + sum(4.0 + abs(s).bit_length() for s in recurrence.seeds))


def _rule_of(r: Recurrence) -> tuple[tuple[int, ...], int, int]:
    return r.coefficients, r.constant, r.modulus


def _runs(same: np.ndarray, least: int) -> Iterator[tuple[int, int]]:
    """Begin and length of runs of at least `least` true entries; the longest ones, in order."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], same, [False]]).astype(np.int8)))
    begins, lengths = edges[::2], edges[1::2] - edges[::2]
    long = np.flatnonzero(lengths >= least)
    if len(long) > _MOST_RUNS:
        long = np.sort(long[np.argsort(-lengths[long], kind="stable")[:_MOST_RUNS]])
    yield from zip(begins[long].tolist(), lengths[long].tolist(), strict=True)


def _polynomials(values: Ints, degree: int, modulus: int) -> Iterator[tuple[int, Recurrence]]:
    if len(values) < 2 * degree + _MORE:
        return
    plain = np.diff(values, degree)
    differences = plain % modulus if modulus else plain
    same = differences[1:] == differences[:-1]
    if not modulus:
        same &= differences[1:] != 0
    for at, length in _runs(same, degree + _MORE - 1):
        if modulus and (plain[at : at + length + 1] == plain[at]).all():  # nothing begins again here
            continue
        coefficients, constant = binomial_recurrence(degree, int(differences[at]))
        yield at, Recurrence(coefficients, constant, modulus, (), 0)


def _affine(values: Ints) -> Iterator[tuple[int, Recurrence]]:
    """x[n] = a·x[n-1] + c."""
    if len(values) < 3:
        return
    small = np.abs(values) < _SMALL
    x, y, z = values[:-2], values[1:-1], values[2:]
    usable = small[:-2] & small[1:-1] & small[2:] & (x != y)
    below = np.where(usable, y - x, 1)
    factor = (z - y) // below
    usable &= (factor * below == z - y) & (factor != 0) & (factor != 1)
    constant = y - factor * x
    same = usable[1:] & usable[:-1] & (factor[1:] == factor[:-1]) & (constant[1:] == constant[:-1])
    for at, _ in _runs(same, _MORE):
        yield at, Recurrence((int(factor[at]),), int(constant[at]), 0, (), 0)


def _second_order(values: Ints) -> Iterator[tuple[int, Recurrence]]:
    """x[n] = a·x[n-1] + b·x[n-2], from two equations of four items."""
    if len(values) < 4:
        return
    small = np.abs(values) < _SMALL
    w, x, y, z = (np.where(small, values, 0)[k : len(values) - 3 + k] for k in range(4))
    determinant = x * x - w * y
    usable = small[:-3] & small[1:-2] & small[2:-1] & small[3:] & (determinant != 0)
    below = np.where(usable, determinant, 1)
    a, b = (y * x - z * w) // below, (z * x - y * y) // below
    usable &= (a * below == y * x - z * w) & (b * below == z * x - y * y) & (b != 0)
    usable &= (a != 2) | (b != -1)  # a ramp, which is cheaper as one
    same = usable[1:] & usable[:-1] & (a[1:] == a[:-1]) & (b[1:] == b[:-1])
    for at, _ in _runs(same, _MORE - 1):
        yield at, Recurrence((int(a[at]), int(b[at])), 0, 0, (), 0)


def _at_start(items: list[int]) -> Iterator[Recurrence]:
    """Rules guessed from the first items of a column."""
    for degree in range(1, _MOST_DEGREE):
        yield from _polynomial_modulo(items, degree)
    yield from _congruential(items)
    for order in range(3, _MOST_START_ORDER + 1):
        solved = _solve(items, order)
        if solved is not None:
            yield Recurrence(solved, 0, 0, (), 0)


def _polynomial_modulo(items: list[int], degree: int) -> Iterator[Recurrence]:
    """A polynomial modulo an unknown number: it divides all differences of the constant differences."""
    differences = items
    for _ in range(degree):
        differences = [b - a for a, b in pairwise(differences)]
    if len(differences) < _MORE or min(items) < 0:
        return
    modulus = gcd(*(d - differences[0] for d in differences))
    if modulus > max(items):
        coefficients, constant = binomial_recurrence(degree, differences[0] % modulus)
        yield Recurrence(coefficients, constant, modulus, (), 0)


def _congruential(items: list[int]) -> Iterator[Recurrence]:
    """x[n] = (a·x[n-1] + c) modulo m: m divides d[n]·d[n-2] − d[n-1]², d being the differences."""
    d = [b - a for a, b in pairwise(items)]
    if len(d) < 2 * _MORE or min(items) < 0:
        return
    modulus = gcd(*(d[i] * d[i - 2] - d[i - 1] ** 2 for i in range(2, len(d))))
    if modulus <= max(items):
        return
    for first, second in pairwise(d):
        if gcd(first, modulus) == 1:
            factor = second * pow(first, -1, modulus) % modulus
            yield Recurrence((factor,), (items[1] - factor * items[0]) % modulus, modulus, (), 0)
            return


def _solve(items: list[int], order: int) -> tuple[int, ...] | None:
    """The coefficients of the linear recurrence of this order that the items show, if they are integers."""
    if len(items) < 2 * order + _MORE:
        return None
    rows = [
        [Fraction(items[i + order - 1 - k]) for k in range(order)] + [Fraction(items[i + order])] for i in range(order)
    ]
    for column in range(order):
        pivot = next((r for r in range(column, order) if rows[r][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [x / rows[column][column] for x in rows[column]]
        for r in range(order):
            if r != column and rows[r][column]:
                rows[r] = [x - rows[r][column] * y for x, y in zip(rows[r], rows[column], strict=True)]
    solution = [row[-1] for row in rows]
    return tuple(map(int, solution)) if all(x.denominator == 1 for x in solution) else None
