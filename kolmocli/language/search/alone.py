"""Ways to make a value of nothing but itself: written down, as a ramp, as a polynomial, or of parts that are."""

from __future__ import annotations

from functools import lru_cache

from kolmocli.language.search.nodes import Making, Value
from kolmocli.language.search.prices import MERGE_APART, initiator_bits, literal_price
from kolmocli.language.search.ramps import holed, is_ramp, ramp, ramp_cost
from kolmocli.language.search.sums import summed

_LONGEST = 512
"""Longer values are no concatenation here; as a strand of their own they would be."""
_PARTS = 4


@lru_cache(maxsize=1 << 12)
def alone(value: Value) -> tuple[Making, ...]:
    """The ways; the first needs no other value."""
    ways = [Making("set_list", (value,), (), initiator_bits("set_list", value))]
    if len(value) > 1 and is_ramp(value):
        ways.append(ramp(value))
    elif (making := holed(value)) is not None:
        ways.append(making)
    elif 3 < len(value) <= _LONGEST and (cut := _last_part(value)):
        ways.append(Making("concatenate", (), (value[:cut], value[cut:]), MERGE_APART))
    if len(value) <= _LONGEST and (making := summed(value)) is not None:
        ways.append(making)
    return tuple(ways)


@lru_cache(maxsize=1 << 12)
def alone_bits(value: Value) -> float:
    """Cost of the cheapest way, with all that it needs."""
    return min(making.bits + sum(map(alone_bits, making.sources)) for making in alone(value))


def _last_part(value: Value) -> int:
    """Start of the last part if the value is cheapest as a few ramps and literals one after the other; 0 if it is not."""
    count = len(value)
    item, opening = literal_price(min(value), max(value))
    runs = _runs(value)
    best = [0.0] + [float("inf")] * count
    back = [0] * (count + 1)
    parts = [0] * (count + 1)
    opened, opened_at = float("inf"), 0
    for i in range(count):
        literal = opened + item * i
        if literal < best[i]:
            best[i], back[i], parts[i] = literal, opened_at, parts[opened_at] + 1
        start = best[i] + (MERGE_APART if i else 0.0)
        if start + opening - item * i < opened:
            opened, opened_at = start + opening - item * i, i
        end = runs[i]
        if end - i > 2:
            total = start + ramp_cost(value[i:end])
            if total < best[end]:
                best[end], back[end], parts[end] = total, i, parts[i] + 1
    if opened + item * count < best[count]:
        back[count], parts[count] = opened_at, parts[opened_at] + 1
    return back[count] if parts[count] <= _PARTS else 0


def _runs(value: Value) -> list[int]:
    """For each place where the longest ramp from there on ends."""
    count = len(value)
    ends = [count] * count
    for i in range(count - 3, -1, -1):
        ends[i] = ends[i + 1] if value[i + 2] - value[i + 1] == value[i + 1] - value[i] else i + 2
    return ends
