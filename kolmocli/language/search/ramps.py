"""The calls that make a ramp: items with one constant difference."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from kolmocli.language.search.nodes import Making, Value
from kolmocli.language.search.prices import initiator_bits, operator_bits

_STEPS = range(2, 6)
"""The steps of an interval in the short form."""
_LAST_BYTE = 255
_FEW = 31
"""Counts that the short form writes in five bits."""


def is_ramp(value: Value) -> bool:
    """Whether at least two items have one constant difference."""
    if len(value) < 2:
        return False
    step = value[1] - value[0]
    return all(b - a == step for a, b in pairwise(value))


def ramp(value: Value) -> Making:
    """The cheapest way to make a ramp."""
    first, count = value[0], len(value)
    step = value[1] - value[0] if count > 1 else 0
    bits = ramp_bits(first, step, count)
    if step == 0:
        return Making("repeat_num", (count, first), (), bits)
    if step == 1:
        return Making("range_func_up", (first, value[-1]), (), bits)
    if step > 1:
        return Making("range_func_interval", (first, _stop(first, step, count), step), (), bits)
    if bits < _downwards(first, step, count):
        return Making("reverse_list", (), (value[::-1],), operator_bits("reverse_list"))
    return Making("range_func_interval", (first, value[-1] - 1, step), (), bits)


def holed(value: Value) -> Making | None:
    """Making of a ramp of which one item, not the first or the last two, has been replaced."""
    count = len(value)
    if count < 5:
        return None
    step = value[-1] - value[-2]
    first = value[-1] - step * (count - 1)
    if not step or value[0] != first:
        return None
    whole = tuple(range(first, value[-1] + (1 if step > 0 else -1), step))
    changed = [k for k in range(count) if value[k] != whole[k]]
    if len(changed) != 1:
        return None
    old, new = whole[changed[0]], value[changed[0]]
    return Making("substitute", (old, new), (whole,), operator_bits("substitute", old, new))


def ramp_cost(value: Value) -> float:
    """Price of a ramp made of nothing."""
    return ramp_bits(value[0], value[1] - value[0], len(value))


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
    """End of the interval: in whole steps, or one byte if that is shorter."""
    whole, byte = first + step * count, first + step * (count - 1) + 1
    return byte if count > _FEW and step in _STEPS and byte <= _LAST_BYTE else whole


def _downwards(first: int, step: int, count: int) -> float:
    return initiator_bits("range_func_interval", first, first + step * (count - 1) - 1, step)
