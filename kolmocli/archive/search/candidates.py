"""Every segment worth considering, with its estimated bits: from evidence and costs, vectorised over all positions.

Per position: ramps, earlier items (as they were, plus a constant, backwards, every second), and interleavings of
any two of ramps, earlier items, fresh ones and one further interleaving. A candidate that costs more than its items as literals
is dropped here already.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kolmocli.archive.search.costs import Costs, Floats
from kolmocli.archive.search.evidence import Evidence, Ints, Match
from kolmocli.archive.search.rules import Rule
from kolmocli.archive.search.segments import (
    ALONE,
    COPY,
    FRESH,
    FRESH_RAMP,
    RAMP,
    RAMP_FRESH,
    RULE,
    SHIFTED,
    SPREAD,
    TURNED,
    TWO_RAMPS,
    Form,
)

_MIN_TERMS = 3
_MIN_TERMS_2 = 4
_DISTANCE_LENGTH = 3.0
_MIN_CHANNEL_BITS = 16
"""An interleaving is looked at where a channel makes more than this of literals."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Parallel arrays, in order of `start`."""

    start: Ints
    end: Ints
    bits: Floats
    shape: Ints
    """Index into `shapes`: the two kinds of the form."""
    shapes: list[tuple[int, int]]
    source: Ints
    second_source: Ints

    def forms(self, which: list[int]) -> list[Form]:
        """The forms of these candidates, in this order."""
        parts = (part[which].tolist() for part in (self.shape, self.source, self.second_source))
        return [
            Form(self.shapes[shape][0], source, self.shapes[shape][1], second)
            for shape, source, second in zip(*parts, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class _Channel:
    """Best channel of every second item from each position on: `length` items (or 0) for `bits`."""

    kind: int
    length: Ints
    bits: Floats
    source: Ints


@dataclass(slots=True)
class _Offers:
    """Collects candidates. `price[i]` is what all items before position i cost as literals."""

    price: Floats
    open_literal: float
    shapes: list[tuple[int, int]] = field(default_factory=list)
    columns: list[tuple[NDArray[np.generic], ...]] = field(default_factory=list)

    def add(
        self,
        shape: tuple[int, int],
        start: Ints,
        end: Ints,
        bits: Floats,
        fresh: Ints | float = 0,
        source: Ints | int = -1,
        second_source: Ints | int = -1,
    ) -> None:
        """Segments of one shape; `fresh` is how many of their items are literals."""
        inside = end < len(self.price)
        last = np.where(inside, end, start)
        literal = self.price[last] - self.price[start]
        bits = bits + literal * fresh / np.maximum(end - start, 1)
        kept = np.flatnonzero(inside & (bits < literal + self.open_literal))
        if len(kept):
            which = np.full(len(kept), len(self.shapes))
            self.shapes.append(shape)
            sources = (np.broadcast_to(s, start.shape)[kept] for s in (source, second_source))
            self.columns.append((start[kept], end[kept], bits[kept], which, *sources))

    def sorted(self) -> Candidates:
        if not self.columns:
            none = np.zeros(0, np.int64)
            return Candidates(none, none, np.zeros(0), none, [], none, none)
        start, end, bits, shape, source, second = (np.concatenate(c) for c in zip(*self.columns, strict=True))
        order = np.argsort(start, kind="stable")
        return Candidates(
            start[order], end[order], bits[order], shape[order], self.shapes, source[order], second[order]
        )


def candidates(evidence: Evidence, costs: Costs, price: Floats, rules: list[Rule]) -> Candidates:
    """All segments that could be cheaper than their items as literals; `price` has one entry more than the items.

    The source of a ruled segment is the number of its rule.
    """
    offers = _Offers(price, costs.kind(FRESH) + costs.count)
    _alone(offers, evidence, costs)
    _ruled(offers, rules, costs)
    places = _interesting(evidence, np.diff(price, append=price[-1]))
    if len(places):
        channels = _channels(evidence, costs)
        _woven(offers, evidence, costs, places, channels)
        terms_2, terms_4 = evidence.terms_2, np.append(evidence.terms_4, [0, 0])
        most = np.maximum(np.maximum(terms_4[places], terms_4[places + 2]), _MIN_TERMS_2)
        _nested(offers, evidence, costs, places[terms_2[places] < most], channels)
    return offers.sorted()


def _alone(offers: _Offers, evidence: Evidence, costs: Costs) -> None:
    places = np.flatnonzero(evidence.terms >= _MIN_TERMS)
    bits = costs.kind(RAMP) + costs.count + _ramp_bits(evidence.values, costs, 1)[places]
    offers.add((RAMP, ALONE), places, places + evidence.terms[places], bits)
    for match, kind, constant in (
        (evidence.copy, COPY, 0.0),
        (evidence.shifted, SHIFTED, costs.constant),
        (evidence.turned, TURNED, 0.0),
        (evidence.spread, SPREAD, 0.0),
    ):
        places = np.flatnonzero(match.length)
        bits = costs.kind(kind) + costs.count + constant + _distance_bits(places - match.source[places])
        offers.add((kind, ALONE), places, places + match.length[places], bits, source=match.source[places])


def _ruled(offers: _Offers, rules: list[Rule], costs: Costs) -> None:
    if rules:
        start = np.array([r.start for r in rules])
        end = start + np.array([r.recurrence.count for r in rules])
        bits = costs.kind(RULE) + costs.count + np.array([r.bits for r in rules])
        offers.add((RULE, ALONE), start, end, bits, source=np.arange(len(rules)))


def _interesting(evidence: Evidence, item_bits: Floats) -> Ints:
    """Positions where an interleaving could pay at all: here or nearby a channel begins that makes enough items."""
    count = len(evidence.values)
    channel = np.where(evidence.terms_2 >= _MIN_TERMS_2, evidence.terms_2, 0)
    for match in (evidence.channel, evidence.channel_spread):
        channel = np.maximum(channel, match.length)
    channel = np.maximum(channel, np.where(evidence.terms_4 >= _MIN_TERMS_2, evidence.terms_4, 0))[:count]
    pays = channel * item_bits[:count] > _MIN_CHANNEL_BITS
    woven = pays.copy()
    for ahead in (1, 2):
        woven[:-ahead] |= pays[ahead:]
    # within a ramp nothing is interleaved
    return np.flatnonzero(woven & (evidence.terms[:count] < np.maximum(channel, _MIN_TERMS_2)))


def _channels(evidence: Evidence, costs: Costs) -> list[_Channel]:
    size = len(evidence.terms_2)
    ramps = np.where(evidence.terms_2 >= _MIN_TERMS, evidence.terms_2, 0)
    half = 0.5 * costs.count

    def earlier(kind: int, match: Match) -> _Channel:
        return _Channel(kind, match.length, half + _distance_bits(np.arange(size) - match.source), match.source)

    return [
        _Channel(RAMP, ramps, _ramp_bits(evidence.values, costs, 2) + half, np.full(size, -1)),
        earlier(COPY, evidence.channel),
        earlier(SPREAD, evidence.channel_spread),
    ]


def _woven(offers: _Offers, evidence: Evidence, costs: Costs, places: Ints, channels: list[_Channel]) -> None:
    """Interleavings: both channels made, or one made and the other fresh."""
    begins = _next_ramp_2(evidence)
    for first in channels:
        here = places[first.length[places] > 0]
        n, bits = first.length[here], first.bits[here]
        for second in channels:
            both = second.length[here + 1] > 0
            at, m = here[both], second.length[here[both] + 1]
            end = at + 2 * np.minimum(n[both], m) + (n[both] > m)
            cost = costs.kind(first.kind, second.kind) + bits[both] + second.bits[at + 1]
            sources = {"source": first.source[at], "second_source": second.source[at + 1]}
            offers.add((first.kind, second.kind), at, end, cost, **sources)
        shape = (first.kind, FRESH)
        bits = bits + costs.kind(*shape)
        source = first.source[here]
        offers.add(shape, here, here + 2 * n - 1, bits, n - 1, source)
        end = begins[here + 1]  # a ramp begins in the other channel: stop there
        some = (here + 1 < end) & (end < here + 2 * n - 1)
        at, end = here[some], end[some]
        offers.add(shape, at, end - 1, bits[some], (end - at - 1) // 2, source[some])
    for second in channels:
        here = places[second.length[places + 1] > 0]
        m = second.length[here + 1]
        shape = (FRESH, second.kind)
        bits = second.bits[here + 1] + costs.kind(*shape)
        source = second.source[here + 1]
        offers.add(shape, here, here + 2 * m, bits, m, second_source=source)
        end = begins[here]
        some = (here < end) & (end < here + 2 * m)
        at, end = here[some], end[some]
        offers.add(shape, at, end, bits[some], (end - at) // 2, second_source=source[some])


def _nested(offers: _Offers, evidence: Evidence, costs: Costs, places: Ints, channels: list[_Channel]) -> None:
    """The first channel is itself an interleaving, of a ramp with a ramp or with fresh items."""
    terms_4 = np.append(evidence.terms_4, [0, 0])
    ramp_4 = np.append(_ramp_bits(evidence.values, costs, 4), [0.0, 0.0])
    p, q = terms_4[places], terms_4[places + 2]
    p_bits, q_bits = ramp_4[places] + costs.count, ramp_4[places + 2] + costs.count
    two = p_bits + ramp_4[places + 2]
    enough, enough_2 = (p >= _MIN_TERMS) & (q >= _MIN_TERMS), p >= _MIN_TERMS_2
    for kind, fits, n, fresh, bits in (
        (TWO_RAMPS, enough, 2 * np.minimum(p, q) + (p > q), 0 * p, two),
        (RAMP_FRESH, enough_2, 2 * p - 1, p - 1, p_bits),
        (FRESH_RAMP, q >= _MIN_TERMS_2, 2 * q, q, q_bits),
    ):
        here, n_, fresh_, bits_ = places[fits], n[fits], fresh[fits], bits[fits]
        for second in channels:
            both = second.length[here + 1] > 0
            at, m = here[both], second.length[here[both] + 1]
            pairs = np.minimum(n_[both], m)
            cost = costs.kind(kind, second.kind) + bits_[both] + second.bits[at + 1]
            end = at + 2 * pairs + (n_[both] > m)
            part = pairs / np.maximum(n_[both], 1) * fresh_[both]
            offers.add((kind, second.kind), at, end, cost, part, second_source=second.source[at + 1])
        shape = (kind, FRESH)
        offers.add(shape, here, here + 2 * n_ - 1, bits_ + costs.kind(*shape), fresh_ + n_ - 1)


def _distance_bits(distance: Ints) -> Floats:
    """Estimated cost in the coder: its length, which is learned, and the bits below the first."""
    return _DISTANCE_LENGTH + np.log2(np.maximum(distance, 1))


def _ramp_bits(values: Ints, costs: Costs, lag: int) -> Floats:
    """Step and start of the ramp of every `lag`-th item from each position on; padded like evidence."""
    count = len(values)
    bits = np.zeros(count + 2)
    if count <= lag:
        return bits
    steps = values[lag:] - values[:-lag]
    table = costs.steps or {0: costs.other_step}
    known = np.array(sorted(table))
    prices = np.array([table[k] for k in known.tolist()])
    slot = np.minimum(np.searchsorted(known, steps), len(known) - 1)
    step_bits = np.where(known[slot] == steps, prices[slot], costs.other_step)
    before = values[:-lag] - steps  # it may go on where an earlier ramp ended, alone or in a channel
    goes_on = np.zeros(len(steps), bool)
    goes_on[2:] = values[: max(len(steps) - 2, 0)] == before[2:]
    if lag > 1:
        goes_on[1:] |= values[: len(steps) - 1] == before[1:]
    elif len(steps) > 3:  # one item back is this same ramp, unless that item was the last of a channel
        channel = values[: len(steps) - 3] == before[3:] - steps[3:]
        goes_on[3:] |= channel & (values[2 : len(steps) - 1] == before[3:])
    bits[: len(steps)] = np.where(goes_on, np.minimum(step_bits, costs.going_on), step_bits + costs.start)
    return bits


def _next_ramp_2(evidence: Evidence) -> Ints:
    """The next position of the same parity, from here on, where a ramp in every second place begins (or far away)."""
    count = len(evidence.values)
    places = np.where(evidence.terms_2[:count] >= _MIN_TERMS_2, np.arange(count), 2 * count)
    for parity in (0, 1):
        part = places[parity::2]
        places[parity::2] = np.minimum.accumulate(part[::-1])[::-1]
    return np.append(places, [2 * count, 2 * count])
