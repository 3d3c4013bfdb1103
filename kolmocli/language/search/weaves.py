"""Ways to take a sequence apart into strands, with a quick estimate of what each would take.

Unzipping the core changes only where its front meets its rest. One shortest path over every second item, from the front, and
one over all items, from the end, therefore price every way to unzip it at once.
"""

from __future__ import annotations

from typing import NamedTuple

from kolmocli.language.search.budget import Budget
from kolmocli.language.search.index import Index
from kolmocli.language.search.parse import Segments, cheapest, copies, ramps, zips
from kolmocli.language.search.prices import AGAIN, MERGE, WEAVE
from kolmocli.language.search.ramps import ramp_bits
from kolmocli.language.search.strands import Strand, Weave, woven_in, woven_on

_INFINITE = float("inf")
_RELATED = 22.0
"""What a woven value takes that is another value in another form."""


class Guess(NamedTuple):
    bits: float
    weave: Weave


def estimate(weave: Weave, budget: Budget) -> float:
    """About what the strands take, nothing named."""
    index = Index(weave)
    budget.spend(4 * len(index.row))
    total = 0.0
    for k, strand in enumerate(weave):
        start, end = index.starts[k], index.ends[k]
        parts = (ramps(index, k), copies(index, k), zips(index, k))
        if not strand.woven:
            total += cheapest(index, start, end, parts, budget)[0]
            continue
        literal = index.literal_bits + index.item_bits * (end - start) + MERGE
        options = [s[1] for part in parts for s in part.get(start, ()) if s[0] == end]
        total += min([literal, *options]) + WEAVE - MERGE
    return total


def children(weave: Weave, bits: float, budget: Budget) -> list[Guess]:
    """The core unzipped once more, in every way; `bits` is what the weave takes. Best first."""
    core = weave[0].items
    size = len(core)
    if size < 4:
        return []
    budget.spend(12 * size)
    front = _Front(weave, budget)
    guesses = []
    rest = bits - front.after[0]
    for count in range(2, size // 2 + 1):
        guesses.append((rest + front.within(count), count, 0))
        for end, total in front.beyond(count):
            guesses.append((rest + total, count, end))
    guesses.sort()
    return [
        Guess(total, woven_on(weave, count, end) if end else woven_in(weave, count)) for total, count, end in guesses
    ]


class _Front:
    """The prices of every second item from the front, and of all items as far as the end."""

    def __init__(self, weave: Weave, budget: Budget) -> None:
        core = weave[0].items
        self.size = len(core)
        self.index = index = Index((Strand(core[::2], False), weave[0], Strand(core[1::2], True), *weave[1:]))
        self.evens, self.all, self.odds = index.starts[:3]
        self.opening = index.literal_bits + MERGE
        self.before, self.before_open = self._forward(0)
        self.after, self.after_open = self._backward(1)
        self.odd_copies = self._whole_copies()

    def _segments(self, strand: int) -> tuple[Segments, ...]:
        return ramps(self.index, strand), copies(self.index, strand), zips(self.index, strand)

    def _forward(self, strand: int) -> tuple[list[float], list[float]]:
        """The price of the first n items of the strand, and the same if it ends in literals."""
        index, parts = self.index, self._segments(strand)
        start, end = index.starts[strand], index.ends[strand]
        size, item = end - start, index.item_bits
        best = [_INFINITE] * (size + 1)
        opened = [_INFINITE] * (size + 1)
        best[0] = 0.0
        for at in range(size):
            best[at] = here = min(best[at], opened[at])
            opened[at + 1] = item + min(opened[at], here + self.opening)
            for segments in parts:
                for segment in segments.get(start + at, ()):
                    to = segment[0] - start
                    if here + segment[1] < best[to]:
                        best[to] = here + segment[1]
        best[size] = min(best[size], opened[size])
        return best, opened

    def _backward(self, strand: int) -> tuple[list[float], list[float]]:
        """The price of the items from n on, and the same if literals are open there."""
        index, parts = self.index, self._segments(strand)
        start, end = index.starts[strand], index.ends[strand]
        size, item = end - start, index.item_bits
        best = [_INFINITE] * (size + 1)
        opened = [_INFINITE] * (size + 1)
        best[size] = opened[size] = 0.0
        for at in range(size - 1, -1, -1):
            here = self.opening + item + opened[at + 1]
            for segments in parts:
                for segment in segments.get(start + at, ()):
                    total = segment[1] + best[segment[0] - start]
                    if total < here:
                        here = total
            best[at] = here
            opened[at] = min(here, item + opened[at + 1])
        return best, opened

    def within(self, count: int) -> float:
        """The price if `count` items were woven into the front of a core that is longer."""
        return self._joined(count) + self._woven(count)

    def _joined(self, count: int) -> float:
        """The price of the first `count` even items followed by all items from there on."""
        index, far = self.index, 2 * count
        row, terms, steps = index.row, index.terms, index.steps
        total = self.before[count] + self.after[far]
        if far < self.size:
            total = min(total, self.before_open[count] + self.after_open[far])
            last, first_after = self.evens + count - 1, self.all + far
            step = row[first_after] - row[last]
            ahead = terms[first_after] if steps[first_after] == step and terms[first_after] > 1 else 1
            behind = 1
            while behind < count and steps[last - behind] == step:
                behind += 1
            if behind + ahead > 2:
                first = row[last - behind + 1]
                bits = ramp_bits(first, step, behind + ahead) + MERGE
                total = min(total, self.before[count - behind] + bits + self.after[far + ahead])
        return total

    def _woven(self, count: int) -> float:
        """The price of the first `count` odd items as one value."""
        index, start = self.index, self.odds
        if index.terms[start] >= count:
            return WEAVE + ramp_bits(index.row[start], index.steps[start], count)
        if any(length >= count for _, length in self.odd_copies):
            return WEAVE + AGAIN
        return WEAVE + index.literal_bits + index.item_bits * count

    def beyond(self, count: int) -> list[tuple[int, float]]:
        """Ends and prices if the core had `count` items only, and what was woven in goes on after it."""
        index, start, far = self.index, self.odds, 2 * count
        row, terms, steps = index.row, index.terms, index.steps
        goes_on = self.all + far
        if far >= self.size:
            return []
        found = []
        fixed = self.before[count] + WEAVE
        if terms[start] >= count:
            step = steps[start]
            if row[goes_on] - row[start + count - 1] == step:
                ahead = terms[goes_on] if steps[goes_on] == step and terms[goes_on] > 1 else 1
                bits = ramp_bits(row[start], step, count + ahead)
                found.append((far + ahead, fixed + bits + self.after[far + ahead]))
        for place, length in self.odd_copies:
            if length == count:
                ahead = 0
                while far + ahead < self.size and row[goes_on + ahead] == row[place + count + ahead]:
                    ahead += 1
                if ahead:
                    found.append((far + ahead, fixed + AGAIN + self.after[far + ahead]))
        # literals go on to where they end in the cheapest rest
        end = far
        while end < self.size and self.after_open[end] < self.after[end]:
            end += 1
        bits = index.literal_bits + index.item_bits * (end - count) + self.after[end]
        if end > far:
            found.append((end, fixed + bits))
        return found

    def _whole_copies(self) -> list[tuple[int, int]]:
        """Where the odd items from the first on stand as they are, and how many of them."""
        index, start = self.index, self.odds
        row = index.row
        found = []
        for place in index.triples.get(row[start : start + 3], ()):  # type: ignore[call-overload]
            if place != start:
                length = 3
                while row[place + length] == row[start + length]:
                    length += 1
                found.append((place, length))
        return found
