"""Polynomials: running sums of polynomials of one degree less, as far as ramps, each perhaps with a constant added."""

from __future__ import annotations

from itertools import pairwise

from kolmocli.language.search.nodes import Making, Value
from kolmocli.language.search.prices import operator_bits

_DEGREES = 4
"""The highest degree that is looked for."""
_BEYOND = 3
"""Items beyond the degree that must agree with it."""


def summed(value: Value) -> Making | None:
    """Making of a polynomial of degree two or more: as a running sum, or of such a sum by a constant."""
    table = differences(value)
    if table is None:
        return None
    before = sum(row[0] * (-1) ** i for i, row in enumerate(table[1:]))  # the step that would come before the first
    constant = value[0] - before
    if constant == 0:
        return Making("scan_add", (), ((before, *table[1]),), operator_bits("scan_add"))
    function = "add_item_list" if constant > 0 else "subtract_item_list"
    source = tuple([item - constant for item in value])
    return Making(function, (abs(constant),), (source,), operator_bits(function, abs(constant)))


def differences(value: Value) -> list[Value] | None:
    """The value, its differences, the differences of these, as far as they are constant; None for no polynomial of degree 2 to 4."""
    table = [value]
    for degree in range(_DEGREES + 1):
        row = table[-1]
        if len(row) < _BEYOND:
            return None
        if all(item == row[0] for item in row):
            return table if degree > 1 else None
        table.append(tuple([b - a for a, b in pairwise(row)]))
    return None
