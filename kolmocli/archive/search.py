"""The cheapest programs for a sequence, by dynamic programming over where each one ends.

Candidates per position: literals, ramps (constant, up, any step), earlier items (as they were, plus a constant,
backwards, every second), and interleavings of any two of ramps, earlier items, literals and one further
interleaving. Costs are estimates, refined from what a first pass has chosen.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kolmocli.archive.costs import Costs
from kolmocli.archive.evidence import Evidence, Ints, gather
from kolmocli.archive.segments import (
    ALONE,
    COPY,
    FRESH,
    FRESH_RAMP,
    RAMP,
    RAMP_FRESH,
    SHIFTED,
    SPREAD,
    TURNED,
    TWO_RAMPS,
    Form,
    Segment,
)

_MIN_TERMS = 3
_MIN_TERMS_2 = 4

Reach = Callable[[int, float, int, int, int, int], None]
"""(end, bits up to there, then the four of a Form): offers a segment from the present position to `end`."""
Channel = tuple[int, float, int, int]
"""Number of items, bits, kind, source."""


def search(values: Ints, literal_bits: float = 8.0, start_bits: float = 8.3, passes: int = 2) -> list[Segment]:
    """The cheapest segments for the whole sequence, in order."""
    if not len(values):
        return []
    evidence = gather(values)
    costs = Costs(literal=literal_bits, start=start_bits)
    segments = _Path(evidence, costs).segments()
    for _ in range(passes - 1):
        costs = costs.refined(values.tolist(), segments)
        segments = _Path(evidence, costs).segments()
    return segments


class _Path:
    """One pass: the shortest path through all candidates."""

    def __init__(self, evidence: Evidence, costs: Costs) -> None:
        self.evidence, self.costs = evidence, costs
        self.items: list[int] = evidence.values.tolist()
        self.terms: list[int] = evidence.terms.tolist()
        self.terms_2: list[int] = [*evidence.terms_2.tolist(), 0]
        self.terms_4: list[int] = [*evidence.terms_4.tolist(), 0, 0]
        self.next_ramp_2 = _next_ramp_2(evidence).tolist()
        copy_bits = costs.count + costs.distance
        self.alone = [
            (match.length, match.source, kind, costs.kind(kind) + copy_bits + constant)
            for match, kind, constant in (
                (evidence.copy, COPY, 0.0),
                (evidence.shifted, SHIFTED, costs.constant),
                (evidence.turned, TURNED, 0.0),
                (evidence.spread, SPREAD, 0.0),
            )
        ]
        self.channels = [
            (match.length, match.source, kind, copy_bits - 0.5 * costs.count)
            for match, kind in ((evidence.channel, COPY), (evidence.channel_spread, SPREAD))
        ]

    def segments(self) -> list[Segment]:
        costs, count = self.costs, len(self.items)
        infinite = float("inf")
        best = [infinite] * (count + 1)
        back: list[tuple[int, int, int, int, int]] = [(0, FRESH, -1, ALONE, -1)] * (count + 1)
        best[0] = 0.0
        literal, literal_start = infinite, 0
        open_literal = costs.kind(FRESH) + costs.count
        alone, woven = self._interesting()

        def reach(end: int, bits: float, kind: int, source: int, second: int, second_source: int) -> None:
            if end <= count and bits < best[end]:
                best[end] = bits
                back[end] = (i, kind, source, second, second_source)

        for i in range(count):
            if literal < best[i]:
                best[i] = literal
                back[i] = (literal_start, FRESH, -1, ALONE, -1)
            if alone[i]:
                self._alone(i, best[i], reach)
            if woven[i]:
                self._woven(i, best[i], reach)
            opened = best[i] + open_literal
            if opened < literal:
                literal, literal_start = opened, i
            literal += costs.literal
        if literal < best[count]:
            back[count] = (literal_start, FRESH, -1, ALONE, -1)

        found = []
        at = count
        while at > 0:
            start, *form = back[at]
            found.append(Segment(start, at, Form(*form)))
            at = start
        return found[::-1]

    def _interesting(self) -> tuple[list[bool], list[bool]]:
        """Where a segment alone, and where an interleaving could pay at all."""
        evidence, item = self.evidence, self.costs.literal
        longest = evidence.terms.copy()
        for match in (evidence.copy, evidence.shifted, evidence.turned, evidence.spread):
            longest = np.maximum(longest, match.length[: len(longest)])
        alone = (longest >= _MIN_TERMS) & (longest * item > 10)
        channel = np.where(evidence.terms_2 >= _MIN_TERMS_2, evidence.terms_2, 0)
        for match in (evidence.channel, evidence.channel_spread):
            channel = np.maximum(channel, match.length[: len(channel)])
        nested = evidence.terms_4 >= _MIN_TERMS_2
        channel = np.maximum(channel, np.where(nested, evidence.terms_4, 0))
        pays = channel * item > 16
        woven = pays.copy()
        for ahead in (1, 2):
            woven[:-ahead] |= pays[ahead:]
        woven &= evidence.terms < np.maximum(channel, _MIN_TERMS_2)  # within a ramp nothing is interleaved
        return alone.tolist(), woven.tolist()

    def _alone(self, i: int, here: float, reach: Reach) -> None:
        costs = self.costs
        if self.terms[i] >= _MIN_TERMS:
            bits = here + costs.kind(RAMP) + self._ramp_bits(i, 1) + costs.count
            reach(i + self.terms[i], bits, RAMP, -1, ALONE, -1)
        for length, source, kind, bits in self.alone:
            if length[i]:
                reach(i + length[i], here + bits, kind, source[i], ALONE, -1)

    def _woven(self, i: int, here: float, reach: Reach) -> None:
        """Interleavings that begin here: both channels made, or one made and the other fresh."""
        costs, count = self.costs, len(self.items)
        first, second = self._channel(i), self._channel(i + 1) if i + 1 < count else []
        per_item = costs.literal
        for n, bits, kind, source in first:
            for m, other_bits, other, other_source in second:
                pairs = min(n, m)
                both = here + costs.kind(kind, other) + bits + other_bits
                reach(i + 2 * pairs + int(n > m), both, kind, source, other, other_source)
            base = here + costs.kind(kind, FRESH) + bits
            reach(i + 2 * n - 1, base + (n - 1) * per_item, kind, source, FRESH, -1)
            end = self.next_ramp_2[i + 1]  # a ramp begins in the other channel: stop there
            if i + 1 < end < i + 2 * n - 1:
                reach(end - 1, base + (end - i - 1) // 2 * per_item, kind, source, FRESH, -1)
        for m, bits, kind, source in second:
            base = here + costs.kind(FRESH, kind) + bits
            reach(i + 2 * m, base + m * per_item, FRESH, -1, kind, source)
            end = self.next_ramp_2[i]
            if i < end < i + 2 * m:
                reach(end, base + (end - i) // 2 * per_item, FRESH, -1, kind, source)
        if self.terms_2[i] < max(self.terms_4[i], self.terms_4[i + 2], _MIN_TERMS_2):
            self._nested(i, here, second, reach)

    def _channel(self, at: int) -> list[Channel]:
        """What every second item from here on may be."""
        found: list[Channel] = []
        n = self.terms_2[at]
        if n >= _MIN_TERMS:
            found.append((n, self._ramp_bits(at, 2) + 0.5 * self.costs.count, RAMP, -1))
        for length, source, kind, bits in self.channels:
            if length[at]:
                found.append((length[at], bits, kind, source[at]))
        return found

    def _nested(self, i: int, here: float, second: list[Channel], reach: Reach) -> None:
        """The first channel is itself an interleaving, of a ramp with a ramp or with fresh items."""
        costs, per_item = self.costs, self.costs.literal
        p, q = self.terms_4[i], self.terms_4[i + 2]
        options: list[tuple[int, float, float, int]] = []  # items, bits, fresh items, kind
        if p >= _MIN_TERMS and q >= _MIN_TERMS:
            bits = self._ramp_bits(i, 4) + self._ramp_bits(i + 2, 4) + costs.count
            options.append((2 * min(p, q) + int(p > q), bits, 0.0, TWO_RAMPS))
        if p >= _MIN_TERMS_2:
            options.append((2 * p - 1, self._ramp_bits(i, 4) + costs.count, p - 1, RAMP_FRESH))
        if q >= _MIN_TERMS_2:
            options.append((2 * q, self._ramp_bits(i + 2, 4) + costs.count, q, FRESH_RAMP))
        for n, bits, fresh, kind in options:
            for m, other_bits, other, other_source in second:
                pairs = min(n, m)
                both = here + costs.kind(kind, other) + bits + other_bits + pairs / n * fresh * per_item
                reach(i + 2 * pairs + int(n > m), both, kind, -1, other, other_source)
            base = here + costs.kind(kind, FRESH) + bits
            reach(i + 2 * n - 1, base + (fresh + n - 1) * per_item, kind, -1, FRESH, -1)

    def _ramp_bits(self, at: int, lag: int) -> float:
        items, costs = self.items, self.costs
        step = items[at + lag] - items[at]
        bits = costs.steps.get(step, costs.other_step)
        before = items[at] - step
        # it may go on where an earlier ramp ended, alone or in a channel
        if (at > 0 and items[at - 1] == before) or (at > 1 and items[at - 2] == before):
            return min(bits, costs.going_on)
        return bits + costs.start


def _next_ramp_2(evidence: Evidence) -> Ints:
    """The next position of the same parity, from here on, where a ramp in every second place begins (or the end)."""
    count = len(evidence.values)
    places = np.where(evidence.terms_2 >= _MIN_TERMS_2, np.arange(count), 2 * count)
    for parity in (0, 1):
        part = places[parity::2]
        places[parity::2] = np.minimum.accumulate(part[::-1])[::-1]
    return np.append(places, 2 * count)
