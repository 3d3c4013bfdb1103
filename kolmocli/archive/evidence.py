"""What a sequence shows at each position: how far ramps go, and what of it stood earlier in another form.

Every array has one entry per item. The finding is vectorised, so that most positions of unstructured data are
dismissed before the search looks at them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
_NONE = -1
_FEW = 3
"""A copy of three items already costs less than to write them."""
_SOME = 4
"""Copies in another form cost more, and need four."""
_LONGEST = 256
"""Their length is limited, so that a long period does not make the finding quadratic."""


@dataclass(frozen=True, slots=True)
class Match:
    """For each position, how many items from there on are made from earlier ones, and where those begin."""

    length: list[int]
    source: list[int]


@dataclass(frozen=True, slots=True)
class Evidence:
    values: Ints
    terms: Ints
    """Items of the longest ramp from here on: constant difference, side by side."""
    terms_2: Ints
    """The same, taking every second item."""
    terms_4: Ints
    """The same, taking every fourth item."""
    copy: Match
    """Earlier items as they were."""
    shifted: Match
    """Earlier items plus a constant."""
    turned: Match
    """Earlier items backwards; `source` is the one that comes first, the others stand before it."""
    spread: Match
    """Every second of the earlier items."""
    channel: Match
    """Every second item from here on is earlier items as they were."""
    channel_spread: Match
    """Every second item from here on is every second of earlier items."""


def gather(values: Ints) -> Evidence:
    terms = ramp_terms(values, 1)
    terms_2 = ramp_terms(values, 2)
    plain = terms >= _SOME  # ramps are cheaper as ramps than as anything that stood earlier
    plain_2 = terms_2 >= _SOME
    near, wide = grams(values, 1, _SOME), grams(values, 2, _SOME)
    items = values.tolist()
    never = np.zeros(len(values), bool)
    return Evidence(
        values,
        terms,
        terms_2,
        ramp_terms(values, 4),
        copy=_match(items, grams(values, 1, _FEW), grams(values, 1, _FEW), never, 1, 1),
        shifted=_shifted(values, plain),
        turned=_match(items, near, grams(values[::-1], 1, _SOME)[::-1], plain, 1, -1, _SOME - 1),
        spread=_match(items, near, wide, plain, 1, 2),
        channel=_match(items, wide, near, plain_2, 2, 1),
        channel_spread=_match(items, wide, wide, plain_2, 2, 2),
    )


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
        places = np.arange(len(same))
        breaks = np.where(~same, places, len(same))
        next_break = np.minimum.accumulate(breaks[::-1])[::-1]
        terms[phase : phase + lag * len(same) : lag] = 2 + next_break - places
    return terms


def grams(values: Ints, lag: int, size: int) -> NDArray[np.uint64]:
    """A hash of the `size` items from each position on, `lag` apart; shorter than the values."""
    count = max(len(values) - lag * (size - 1), 0)
    key = np.zeros(count, np.uint64)
    for offset in range(size):
        key = key * np.uint64(0x9E3779B97F4A7C15) + values[offset * lag : offset * lag + count].astype(np.uint64)
        key ^= key >> np.uint64(29)
    return key


def nearest_before(queries: NDArray[np.uint64], sources: NDArray[np.uint64]) -> Ints:
    """For each query, the last source position before it with the same key, or -1."""
    keys = np.concatenate([queries, sources])
    places = np.concatenate([np.arange(len(queries)), np.arange(len(sources))])
    is_source = np.concatenate([np.zeros(len(queries), bool), np.ones(len(sources), bool)])
    order = np.lexsort((is_source, places, keys))  # at one place the query comes first: a source is before it
    last = np.maximum.accumulate(np.where(is_source[order], np.arange(len(order)), -1))
    found = np.full(len(queries), _NONE, np.int64)
    here = np.flatnonzero(~is_source[order] & (last >= 0))
    before = order[last[here]]
    same = keys[before] == keys[order[here]]
    found[places[order[here[same]]]] = places[before[same]]
    return found


def _match(
    items: list[int],
    queries: NDArray[np.uint64],
    sources: NDArray[np.uint64],
    skip: NDArray[np.bool_],
    lag: int,
    source_lag: int,
    shift: int = 0,
) -> Match:
    """Matches of every `lag`-th item with every `source_lag`-th earlier one, from `shift` behind the source on.

    What is made of itself is only allowed where both lags are the same: then it is a period.
    """
    found = nearest_before(queries, sources)
    found[skip[: len(found)]] = _NONE
    count = len(items)
    length, source = [0] * (count + 1), [_NONE] * (count + 1)
    own = lag == source_lag == 1
    for i in np.flatnonzero(found >= 0)[::-1].tolist():
        at = int(found[i]) + shift
        if own and source[i + 1] == at + 1 and length[i + 1]:
            length[i] = length[i + 1] + 1
            source[i] = at
            continue
        limit = (count - 1 - i) // lag + 1 if own else min((count - 1 - i) // lag + 1, _LONGEST)
        if source_lag < 0:
            limit = min(limit, at + 1) if at < i else 0
        elif not own:  # the sources must end before the segment, which may begin one item earlier
            limit = min(limit, (i - 2 - at) // source_lag + 1)
        run = 0
        while run < limit and items[i + run * lag] == items[at + run * source_lag]:
            run += 1
        if run >= _FEW:
            length[i], source[i] = run, at
    return Match(length, source)


def _shifted(values: Ints, skip: NDArray[np.bool_]) -> Match:
    """Matches of the differences: earlier items plus a constant that is not 0."""
    count = len(values)
    if count <= _SOME:
        return Match([0] * (count + 1), [_NONE] * (count + 1))
    steps = values[1:] - values[:-1]
    keys = grams(steps, 1, _SOME - 1)
    differences = _match(steps.tolist(), keys, keys, skip[: len(steps)], 1, 1)
    items = values.tolist()
    length, source = [0] * (count + 1), [_NONE] * (count + 1)
    for i, run in enumerate(differences.length[: count - 1]):
        at = differences.source[i]
        if run and items[at] != items[i]:
            length[i], source[i] = min(run + 1, i - at), at
    return Match(length, source)
