"""The call that makes a ramp: items with one constant difference."""

from __future__ import annotations

from collections.abc import Sequence

from kolmocli.language.search.nodes import Node
from kolmocli.language.search.prices import initiator_bits, operator_bits

_STEPS = range(2, 6)
"""The steps of an interval in the short form."""
_LAST_BYTE = 255
_FEW = 31
"""Counts that the short form writes in five bits."""


def ramp(first: int, step: int, count: int) -> Node:
    """The cheapest node for first, first + step, ... (`count` items)."""
    last = first + step * (count - 1)
    if step == 0 or count == 1:
        return Node("repeat_num", count, first)
    if step == 1:
        return Node("range_func_up", first, last)
    if step > 1:
        return Node("range_func_interval", first, _stop(first, step, count), step)
    backwards = ramp(last, -step, count)
    if ramp_bits(first, step, count) < _downwards(first, step, count):
        return Node("reverse_list", backwards)
    return Node("range_func_interval", first, last - 1, step)


def all_ramp_bits(first: int, step: int, counts: Sequence[int]) -> list[float]:
    """`ramp_bits` for several counts, of which the last is the largest."""
    if 0 <= first <= _LAST_BYTE and 0 <= step <= 5 and counts[-1] <= _FEW:
        return [15.6 if step < 2 else 18.6] * len(counts)
    return [ramp_bits(first, step, n) for n in counts]


def ramp_bits(first: int, step: int, count: int) -> float:
    """Its estimated bits."""
    if 0 <= first <= _LAST_BYTE and count <= _FEW and 0 <= step <= 5:
        return 15.6 if step < 2 else 18.6
    last = first + step * (count - 1)
    if step == 0 or count == 1:
        return initiator_bits("repeat_num", count, first)
    if step == 1:
        return initiator_bits("range_func_up", first, last)
    if step > 1:
        return initiator_bits("range_func_interval", first, _stop(first, step, count), step)
    return min(ramp_bits(last, -step, count) + operator_bits("reverse_list"), _downwards(first, step, count))


def _stop(first: int, step: int, count: int) -> int:
    """Where the interval ends: in whole steps, or one byte if that is shorter."""
    whole, byte = first + step * count, first + step * (count - 1) + 1
    return byte if count > _FEW and step in _STEPS and byte <= _LAST_BYTE else whole


def _downwards(first: int, step: int, count: int) -> float:
    return initiator_bits("range_func_interval", first, first + step * (count - 1) - 1, step)
