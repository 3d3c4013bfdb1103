"""Evidence at each position of a sequence: how far ramps go, and which of it stood earlier in another form.

Every array has one entry per item and two of padding, so that the next positions may be looked at everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]
_NONE = -1
_FEW = 3
"""A copy of three items already costs less than to write them."""
_SOME = 4
"""Copies in another form cost more, and need four."""
_LONGEST = 256
"""Their length is limited, so that a long period does not make the finding quadratic."""
_LONGEST_COPY = 4096
"""The same for copies, beyond which they go on only where the next position's copy does too (a period does)."""
_PADDING = 2
_MIXING = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Match:
    """For each position, how many items from there on are made from earlier ones (or 0), and where those begin."""

    length: Ints
    source: Ints


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
    terms, terms_2, terms_4 = (np.pad(ramp_terms(values, lag), (0, _PADDING)) for lag in (1, 2, 4))
    plain = terms >= _SOME  # ramps are cheaper as ramps than as anything that stood earlier
    plain_2 = terms_2 >= _SOME
    near, wide = grams(values, 1, _SOME), grams(values, 2, _SOME)
    backwards = grams(values[::-1], 1, _SOME)[::-1]
    return Evidence(
        values,
        terms,
        terms_2,
        terms_4,
        copy=_copies(values, grams(values, 1, _FEW)),
        shifted=_shifted(values, plain),
        turned=_matches(values, nearest_before(near, backwards), plain, 1, -1, _SOME - 1),
        spread=_matches(values, nearest_before(near, wide), plain, 1, 2),
        channel=_matches(values, nearest_before(wide, near), plain_2, 2, 1),
        channel_spread=_matches(values, nearest_before(wide, wide), plain_2, 2, 2),
    )


def ramp_terms(values: Ints, lag: int) -> Ints:
    """Number of items from each position on, `lag` apart, with one constant difference (at least 1, at the end)."""
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


def grams(values: Ints, lag: int, size: int) -> Keys:
    """A hash of the `size` items from each position on, `lag` apart, in its upper bits; shorter than the values."""
    count = max(len(values) - lag * (size - 1), 0)
    key = np.zeros(count, np.uint64)
    for offset in range(size):
        key = (key + values[offset * lag : offset * lag + count].astype(np.uint64)) * _MIXING
        key ^= key >> np.uint64(29)
    return key


def nearest_before(queries: Keys, sources: Keys) -> Ints:
    """For each query, the last source position before it with the same key, or -1."""
    # at one place the query comes first: a source is before it
    keys, order = _sorted(
        np.concatenate([queries, sources]),
        np.concatenate([2 * np.arange(len(queries)), 2 * np.arange(len(sources)) + 1]),
    )
    is_source = order % 2 == 1
    last = np.maximum.accumulate(np.where(is_source, np.arange(len(order)), -1))
    here = np.flatnonzero(~is_source & (last >= 0))
    before = last[here]
    same = keys[before] == keys[here]
    found = np.full(len(queries), _NONE, np.int64)
    found[order[here[same]] // 2] = order[before[same]] // 2
    return found


def latest(keys: Keys) -> Ints:
    """`nearest_before(keys, keys)`, with a sort of half the size."""
    keys, order = _sorted(keys, np.arange(len(keys)))
    same = keys[1:] == keys[:-1]
    found = np.full(len(keys), _NONE, np.int64)
    found[order[1:][same]] = order[:-1][same]
    return found


def _sorted(keys: Keys, places: Ints) -> tuple[Keys, Ints]:
    """The keys in order, those of one value by place, and the places.

    A place takes the lowest bits of its key: one sort of numbers is several times as fast as one of their order.
    """
    bits = np.uint64(int(places.max(initial=0)).bit_length())
    both = np.sort(keys >> bits << bits | places.astype(np.uint64))
    return both >> bits, (both & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.int64)


def _copies(values: Ints, keys: Keys, skip: NDArray[np.bool_] | None = None) -> Match:
    """Matches of items as they are. A copy may run into itself: then it is a period."""
    found = latest(keys)
    if skip is not None:
        found[skip[: len(found)]] = _NONE
    places = np.flatnonzero(found >= 0)
    places = places[values[places] == values[found[places]]]  # a key is only a hash
    sources = found[places]
    goes_on = (places[1:] == places[:-1] + 1) & (sources[1:] == sources[:-1] + 1)
    ends = np.flatnonzero(np.append(~goes_on, True)) if len(places) else places
    runs = _run_lengths(values, places[ends], sources[ends], 1, 1, len(values) - places[ends], _LONGEST_COPY)
    end_of = ends[np.searchsorted(ends, np.arange(len(places)))]
    lengths = np.repeat(runs, np.diff(ends, prepend=-1)) + places[end_of] - places
    return _padded(len(values), places, lengths, sources)


def _matches(values: Ints, found: Ints, skip: NDArray[np.bool_], lag: int, source_lag: int, shift: int = 0) -> Match:
    """Matches of every `lag`-th item with every `source_lag`-th earlier one, from `shift` behind the found place on.

    The sources must end before the segment, which may begin one item before the place.
    """
    found[skip[: len(found)]] = _NONE
    places = np.flatnonzero(found >= 0)
    sources = found[places] + shift
    room = (len(values) - 1 - places) // lag + 1
    if source_lag < 0:
        room = np.where(sources < places, np.minimum(room, sources + 1), 0)
    else:
        room = np.minimum(room, (places - 2 - sources) // source_lag + 1)
    lengths = _run_lengths(values, places, sources, lag, source_lag, room, _LONGEST)
    return _padded(len(values), places, lengths, sources)


def _run_lengths(values: Ints, places: Ints, sources: Ints, lag: int, source_lag: int, room: Ints, most: int) -> Ints:
    """Number of items that agree, pair by pair of a place and a source, at most `room` and `most`."""
    lengths = np.zeros(len(places), np.int64)
    going = np.flatnonzero(room > 0)
    for run in range(most):
        going = going[values[places[going] + run * lag] == values[sources[going] + run * source_lag]]
        lengths[going] = run + 1
        going = going[room[going] > run + 1]
        if not len(going):
            break
    return lengths


def _padded(count: int, places: Ints, lengths: Ints, sources: Ints) -> Match:
    length, source = (np.zeros(count + _PADDING, np.int64), np.full(count + _PADDING, _NONE, np.int64))
    kept = lengths >= _FEW
    length[places[kept]], source[places[kept]] = lengths[kept], sources[kept]
    return Match(length, source)


def _shifted(values: Ints, skip: NDArray[np.bool_]) -> Match:
    """Matches of the differences: earlier items plus a constant that is not 0."""
    count = len(values)
    steps = values[1:] - values[:-1]
    differences = _copies(steps, grams(steps, 1, _SOME - 1), skip)
    places = np.flatnonzero(differences.length[:count] > 0)
    sources = differences.source[places]
    moved = values[places] != values[sources]
    places, sources = places[moved], sources[moved]
    return _padded(count, places, np.minimum(differences.length[places] + 1, places - sources), sources)
