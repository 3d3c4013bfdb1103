"""The cheapest programs for a sequence, by dynamic programming over where each one ends.

Segments: literals, ramps (constant, up, any step), repeats of earlier output, and interleavings of two ramps or of a
ramp with literals. The costs are estimates in bits, refined from what a first pass has chosen; what the archive
really takes is measured afterwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import log2

import numpy as np

from kolmocli.archive.evidence import Evidence, Ints, gather
from kolmocli.archive.programs import Earlier, Fresh, Stored, StoredCall
from kolmocli.language.program import Ref

LITERAL, RAMP, COPY, RAMPS, RAMP_FIRST, RAMP_SECOND = range(6)
_KINDS = ("literal", "ramp", "copy", "two ramps", "ramp and literal", "literal and ramp")
_MIN_TERMS = 3
_MIN_TERMS_2 = 4


@dataclass(frozen=True, slots=True)
class Segment:
    """Items `start` to `end` (excluded) of the sequence, and how they are made."""

    kind: int
    start: int
    end: int
    distance: int = 0


@dataclass(slots=True)
class Costs:
    """Estimated bits. `literal` is what an item costs in the residual."""

    literal: float = 8.0
    kind: list[float] = field(default_factory=lambda: [2.5, 1.5, 5.0, 5.0, 4.0, 5.0])
    start: float = 8.5
    going_on: float = 2.5
    step: dict[int, float] = field(default_factory=lambda: {0: 1.0, 1: 1.0, 2: 3.0, 3: 3.0, 4: 3.0, 5: 3.0})
    other_step: float = 9.0
    count: float = 4.7
    distance: float = 8.0

    def refined(self, values: Ints, segments: list[Segment]) -> Costs:
        """The same with the frequencies of a first pass."""
        kinds = Counter(s.kind for s in segments)
        total = sum(kinds.values())
        steps: Counter[int] = Counter()
        for s in segments:
            for at, lag in _ramps_of(s):
                steps[int(values[at + lag] - values[at])] += 1
        all_steps = sum(steps.values()) + 1
        return Costs(
            literal=self.literal,
            kind=[-log2((kinds[k] + 0.5) / (total + 3)) for k in range(len(_KINDS))],
            start=self.start,
            going_on=self.going_on,
            step={s: -log2(n / all_steps) for s, n in steps.items() if n > all_steps / 1000},
            other_step=10.0,
            count=self.count,
            distance=self.distance,
        )


def _ramps_of(s: Segment) -> Iterator[tuple[int, int]]:
    """Where the ramps of a segment start, and their lag."""
    if s.kind == RAMP:
        yield s.start, 1
    if s.kind in (RAMPS, RAMP_FIRST):
        yield s.start, 2
    if s.kind in (RAMPS, RAMP_SECOND):
        yield s.start + 1, 2


def search(values: Ints, literal_bits: float = 8.0, passes: int = 2) -> list[Segment]:
    """The cheapest segments for the whole sequence, in order."""
    evidence = gather(values)
    costs = Costs(literal=literal_bits)
    segments = _shortest_path(evidence, costs)
    for _ in range(passes - 1):
        costs = costs.refined(values, segments)
        segments = _shortest_path(evidence, costs)
    return segments


def _shortest_path(evidence: Evidence, costs: Costs) -> list[Segment]:
    count = len(evidence.values)
    v = evidence.values.tolist()
    terms, terms_2 = evidence.terms.tolist(), evidence.terms_2.tolist()
    lengths, distances = evidence.length.tolist(), evidence.distance.tolist()
    next_ramp_2 = _next_ramp_2(evidence).tolist()
    interesting = _interesting(evidence, costs.literal).tolist()
    per_item, open_literal = costs.literal, costs.kind[LITERAL] + costs.count
    kind, per_count, per_start, going_on = costs.kind, costs.count, costs.start, costs.going_on
    step_bits, other_step = costs.step, costs.other_step

    infinite = float("inf")
    best = [infinite] * (count + 1)
    back: list[tuple[int, int, int]] = [(0, 0, 0)] * (count + 1)
    best[0] = 0.0
    literal, literal_start = infinite, 0

    def ramp_bits(at: int, lag: int) -> float:
        step = v[at + lag] - v[at]
        bits = step_bits.get(step, other_step)
        before = v[at] - step
        if (at > 0 and v[at - 1] == before) or (at > 1 and v[at - 2] == before):
            return going_on if bits > going_on else bits
        return bits + per_start

    def reach(end: int, bits: float, how: tuple[int, int, int]) -> None:
        if bits < best[end]:
            best[end] = bits
            back[end] = how

    for i in range(count):
        if literal < best[i]:
            best[i] = literal
            back[i] = (LITERAL, literal_start, 0)
        here = best[i]
        if interesting[i]:
            if terms[i] >= _MIN_TERMS:
                reach(i + terms[i], here + kind[RAMP] + ramp_bits(i, 1) + per_count, (RAMP, i, 0))
            if lengths[i]:
                reach(i + lengths[i], here + kind[COPY] + per_count + costs.distance, (COPY, i, distances[i]))
            n = terms_2[i]
            if n >= _MIN_TERMS_2 and terms[i] < n:
                m = terms_2[i + 1]
                first = here + ramp_bits(i, 2) + per_count
                if m >= _MIN_TERMS:
                    pairs = min(n, m)
                    end = i + 2 * pairs + (1 if n > m else 0)
                    reach(end, first + kind[RAMPS] + ramp_bits(i + 1, 2) + 1.0, (RAMPS, i, 0))
                end = i + 2 * n - 1
                reach(end, first + kind[RAMP_FIRST] + (n - 1) * per_item + 1.0, (RAMP_FIRST, i, 0))
                end = next_ramp_2[i + 1]  # a second ramp begins in the other places: stop there
                if i + 1 < end < i + 2 * n - 1:
                    pairs = (end - i - 1) // 2
                    reach(i + 2 * pairs, first + kind[RAMP_FIRST] + pairs * per_item + 1.0, (RAMP_FIRST, i, 0))
            if i + 1 < count and terms_2[i + 1] >= _MIN_TERMS_2 and terms[i + 1] < terms_2[i + 1]:
                m = terms_2[i + 1]
                second = here + kind[RAMP_SECOND] + ramp_bits(i + 1, 2) + per_count + 1.0
                reach(i + 2 * m, second + m * per_item, (RAMP_SECOND, i, 0))
                end = next_ramp_2[i]
                if i < end < i + 2 * m:
                    pairs = (end - i) // 2
                    reach(end, second + pairs * per_item, (RAMP_SECOND, i, 0))
        opened = here + open_literal
        if opened < literal:
            literal, literal_start = opened, i
        literal += per_item
    if literal < best[count]:
        back[count] = (LITERAL, literal_start, 0)

    segments = []
    at = count
    while at > 0:
        how, start, distance = back[at]
        segments.append(Segment(how, start, at, distance))
        at = start
    return segments[::-1]


def _next_ramp_2(evidence: Evidence) -> Ints:
    """The next position of the same parity, from here on, where a ramp in every second place begins (or the end)."""
    count = len(evidence.values)
    places = np.where(evidence.terms_2 >= _MIN_TERMS_2, np.arange(count), 2 * count)
    for parity in (0, 1):
        part = places[parity::2]
        places[parity::2] = np.minimum.accumulate(part[::-1])[::-1]
    return np.append(places, 2 * count)


def _interesting(evidence: Evidence, literal_bits: float) -> np.ndarray:
    """Where a segment other than a literal could pay at all."""
    ramps = (evidence.terms >= _MIN_TERMS) & (evidence.terms * literal_bits > 10)
    ramps_2 = (evidence.terms_2 >= _MIN_TERMS_2) & (evidence.terms_2 * literal_bits > 16)
    ramps_2[:-1] |= ramps_2[1:]
    return ramps | ramps_2 | (evidence.length * literal_bits > 14)


def programs_of(values: Ints, segments: list[Segment]) -> Iterator[tuple[Stored, list[int]]]:
    """Each segment's program, and the items that it takes from the residual."""
    items = values.tolist()
    for s in segments:
        part = items[s.start : s.end]
        if s.kind == LITERAL:
            yield (StoredCall("set_list", (Fresh(len(part)),)),), part
        elif s.kind == RAMP:
            yield (_ramp_call(part),), []
        elif s.kind == COPY:
            yield (StoredCall("set_list", (Earlier(s.distance, len(part)),)),), []
        else:
            first, second = part[::2], part[1::2]
            calls, fresh = [], []
            for channel, is_ramp in ((first, s.kind != RAMP_SECOND), (second, s.kind != RAMP_FIRST)):
                if is_ramp:
                    calls.append(_ramp_call(channel))
                else:
                    calls.append(StoredCall("set_list", (Fresh(len(channel)),)))
                    fresh = channel
            yield (*calls, StoredCall("interleave", (Ref(0), Ref(1)))), fresh


def _ramp_call(items: list[int]) -> StoredCall:
    start, count = items[0], len(items)
    step = items[1] - items[0] if count > 1 else 0
    if step == 0:
        return StoredCall("repeat_num", (count, start))
    if step == 1:
        return StoredCall("range_func_up", (start, start + count - 1))
    return StoredCall("range_func_interval", (start, start + step * count, step))
