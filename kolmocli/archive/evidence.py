"""What a sequence shows at each position: how far ramps go, alone and in every second place, and what came before.

Every array has one entry per item; `terms` counts items. All vectorised, so that most positions of unstructured
data are dismissed before the search looks at them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
_GRAM = 3
"""A copy of three items already costs less than to write them."""


@dataclass(frozen=True, slots=True)
class Evidence:
    values: Ints
    terms: Ints
    """Items of the longest ramp from here on: constant difference, side by side."""
    terms_2: Ints
    """The same, taking every second item."""
    length: Ints
    """Items from here on that repeat earlier ones (0: none), at `distance`."""
    distance: Ints


def gather(values: Ints) -> Evidence:
    length, distance = repeats(values)
    return Evidence(values, ramp_terms(values, 1), ramp_terms(values, 2), length, distance)


def ramp_terms(values: Ints, lag: int) -> Ints:
    """How many items from each position on, `lag` apart, have one constant difference (at least 1, at the end)."""
    count = len(values)
    terms = np.ones(count, np.int64)
    if count <= lag:
        return terms
    steps = values[lag:] - values[:-lag]
    terms[: count - lag] = 2
    if len(steps) <= lag:
        return terms
    goes_on = steps[lag:] == steps[:-lag]
    for phase in range(lag):
        same = goes_on[phase::lag]
        # distance to the next break, counted from behind
        places = np.arange(len(same))
        breaks = np.where(~same, places, len(same))
        next_break = np.minimum.accumulate(breaks[::-1])[::-1]
        terms[phase : phase + lag * len(same) : lag] = 2 + next_break - places
    return terms


def repeats(values: Ints) -> tuple[Ints, Ints]:
    """For each position the length and distance of the repeat of the nearest earlier place with the same three items."""
    count = len(values)
    length, distance = np.zeros(count, np.int64), np.zeros(count, np.int64)
    if count <= _GRAM:
        return length, distance
    key = np.zeros(count - _GRAM + 1, np.uint64)
    for offset in range(_GRAM):
        key = key * np.uint64(0x9E3779B97F4A7C15) + values[offset : offset + len(key)].astype(np.uint64)
        key ^= key >> np.uint64(29)
    order = np.argsort(key, kind="stable")
    same = key[order[1:]] == key[order[:-1]]
    source = np.full(count, -1, np.int64)
    source[order[1:][same]] = order[:-1][same]
    found = np.flatnonzero(source >= 0)
    items = values.tolist()
    sources = source.tolist()
    lengths = [0] * (count + 1)
    for i in found[::-1].tolist():
        at = sources[i]
        if i + 1 < count and sources[i + 1] == at + 1 and lengths[i + 1]:
            if items[i] == items[at]:
                lengths[i] = lengths[i + 1] + 1
            continue
        run = 0
        while i + run < count and items[i + run] == items[at + run]:
            run += 1
        lengths[i] = run
    length[:] = lengths[:count]
    distance[found] = found - source[found]
    distance[length == 0] = 0
    return length, distance
