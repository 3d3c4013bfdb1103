"""Prices of a front unzipped from a core, for every length of it: one shortest path over every second item, and one
over all items from the end.
"""

from __future__ import annotations

from math import gcd
from typing import NamedTuple

from kolmocli.language.search.budget import Budget
from kolmocli.language.search.index import WALL, Index
from kolmocli.language.search.nodes import Value
from kolmocli.language.search.prices import AGAIN, MERGE, WEAVE, operator_bits
from kolmocli.language.search.ramps import ramp_bits
from kolmocli.language.search.segments import Segments, copies, periods, polynomials, ramps, together, zips
from kolmocli.language.search.strands import Strand, Weave

_INFINITE = float("inf")
_RELATED = 20.0
"""Price of a woven value that is another value in another form."""
_SEVERAL = 12.0
"""Additional price of a woven strand of several values: they are merged before."""
_UNITS = 3
_STRIDES = (1, 2, 4)
_RUN, _RUNS = 4, 6
"""Items in equal steps that are taken for a sign, and the number of signs."""


class Way(NamedTuple):
    """A way to unzip a core: how many items were woven in as far as both went; where what was woven in ends, if that went on,
    or 0; and what the new core and the new strands take."""

    pairs: int
    end: int
    core: float
    others: float


class Front:
    """The prices of every second item from the front, and of all items as far as the end."""

    def __init__(self, weave: Weave, budget: Budget) -> None:
        core = weave[0].items
        self.size = len(core)
        self.index = index = Index((Strand(core[::2], False), weave[0], Strand(core[1::2], True), *weave[1:]))
        self.evens, self.all, self.odds = index.starts[:3]
        self.opening = index.literal_bits + MERGE
        self.before, self.before_open = self._forward(0)
        self.after, self.after_open = self._backward(1)
        self.several = self._forward(2)[0]
        self.related = 0 if index.terms[self.odds] > 3 else _related(index)
        self.holed = self._holed()
        self.odd_copies = self._whole_copies()
        again = [n for n in range(3, index.ends[2] - self.odds) if index.row[self.odds + n] == index.row[self.odds]]
        self.units = [n for n in again[:_UNITS] if self._repeats(n, n + 3)]
        """Numbers of odd items after which they may begin again."""

    def _segments(self, strand: int) -> Segments:
        """Segments that can stand at each place of a strand."""
        index = self.index
        return together(
            ramps(index, strand),
            polynomials(index, strand),
            periods(index, strand),
            copies(index, strand, self._room),
            zips(index, strand),
        )

    def _forward(self, strand: int) -> tuple[list[float], list[float]]:
        """The price of the first n items of the strand, and the same if it ends in literals."""
        index, segments = self.index, self._segments(strand)
        start, end = index.starts[strand], index.ends[strand]
        size, item = end - start, index.item_bits
        best = [_INFINITE] * (size + 1)
        opened = [_INFINITE] * (size + 1)
        best[0] = 0.0
        for at in range(size):
            best[at] = here = min(best[at], opened[at])
            opened[at + 1] = item + min(opened[at], here + self.opening)
            for segment in segments.get(start + at, ()):
                to = segment[0] - start
                if here + segment[1] < best[to]:
                    best[to] = here + segment[1]
        best[size] = min(best[size], opened[size])
        return best, opened

    def _backward(self, strand: int) -> tuple[list[float], list[float]]:
        """The price of the items from n on, and the same if literals are open there."""
        index, segments = self.index, self._segments(strand)
        start, end = index.starts[strand], index.ends[strand]
        size, item = end - start, index.item_bits
        best = [_INFINITE] * (size + 1)
        opened = [_INFINITE] * (size + 1)
        best[size] = opened[size] = 0.0
        for at in range(size - 1, -1, -1):
            here = self.opening + item + opened[at + 1]
            for segment in segments.get(start + at, ()):
                total = segment[1] + best[segment[0] - start]
                if total < here:
                    here = total
            best[at] = here
            opened[at] = min(here, item + opened[at + 1])
        return best, opened

    def within(self, count: int) -> Way:
        """The way with `count` items woven into the front of a longer core."""
        return Way(count, 0, self._joined(count), self._woven(count))

    def _repeats(self, unit: int, count: int) -> bool:
        """Whether the first odd items up to `count` are the first `unit` again and again."""
        row, start = self.index.row, self.odds
        return (
            start + count <= self.index.ends[2]
            and row[start + unit : start + count] == row[start : start + count - unit]
        )

    def _holed(self) -> int:
        """Number of odd items from the first on that are a ramp with one item replaced; 0 if they are none."""
        row, terms, steps, start = self.index.row, self.index.terms, self.index.steps, self.odds
        count, end = terms[start], self.index.ends[2]
        hole = start + count
        if count < 3 or hole + 1 >= end or row[hole + 1] - row[hole - 1] != 2 * steps[start]:
            return 0
        return count + 1 + (terms[hole + 1] if steps[hole + 1] == steps[start] else 1)

    def natural(self) -> list[int]:
        """Counts at which what is woven in, or what it is woven into, ends by itself."""
        index, most = self.index, self.size // 2
        terms, steps = index.terms, index.steps
        found = [terms[start] for start in (self.odds, self.evens)]
        found.append(self.holed)
        step = steps[self.odds]
        for place, length in self.odd_copies:
            if terms[self.odds] < 4 or steps[place - 1] != step:  # of a ramp, whole ones only
                found.append(min(length, most))
        found.append(min(self.related, most))
        found += _calm(index.row[self.all : self.all + self.size])
        return sorted({count for count in found if 3 <= count <= most})

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
        if index.terms[start] + 1 < count <= self.holed:
            return WEAVE + _RELATED + ramp_bits(index.row[start], index.steps[start], count)
        if index.terms[start] >= count:
            return WEAVE + ramp_bits(index.row[start], index.steps[start], count)
        if any(length >= count for _, length in self.odd_copies):
            return WEAVE + AGAIN
        if count <= self.related:
            return WEAVE + _RELATED
        return WEAVE + min(index.literal_bits + index.item_bits * count, self.several[count] + _SEVERAL)

    def beyond(self, count: int) -> list[Way]:
        """Ways for a core of `count` items, after which the woven items go on."""
        index, start, far = self.index, self.odds, 2 * count
        row, terms, steps = index.row, index.terms, index.steps
        goes_on = self.all + far
        if far >= self.size:
            return []
        found = []
        core = self.before[count]
        if terms[start] >= count:
            step = steps[start]
            if row[goes_on] - row[start + count - 1] == step:
                ahead = terms[goes_on] if steps[goes_on] == step and terms[goes_on] > 1 else 1
                bits = ramp_bits(row[start], step, count + ahead)
                found.append(Way(count, far + ahead, core, WEAVE + bits + self.after[far + ahead]))
        for place, length in self.odd_copies:
            if length == count:
                ahead = 0
                while far + ahead < self.size and row[goes_on + ahead] == row[place + count + ahead]:
                    ahead += 1
                if ahead:
                    found.append(Way(count, far + ahead, core, WEAVE + AGAIN + self.after[far + ahead]))
        for unit in self.units:
            if unit < count and self._repeats(unit, count):
                ahead = 0
                while far + ahead < self.size and row[goes_on + ahead] == row[start + (count + ahead) % unit]:
                    ahead += 1
                if ahead:
                    bits = self._woven(unit) + operator_bits("repeat_list", (count + ahead) // unit)
                    found.append(Way(count, far + ahead, core, bits + self.after[far + ahead]))
        # literals go on to where they end in the cheapest rest
        end = far
        while end < self.size and self.after_open[end] < self.after[end]:
            end += 1
        bits = index.literal_bits + index.item_bits * (end - count) + self.after[end]
        if end > far:
            found.append(Way(count, end, core, WEAVE + bits))
        return found

    def _room(self, place: int, source: int) -> int:
        """Number of items from a place on that could be made of those from an earlier place on, however many are unzipped."""
        far = place - self.all
        if far >= self.size:
            # an odd item, of which the even ones before it and all items that are not unzipped are there
            place -= self.odds
            if source < self.all:
                return self.size if source <= place else 0
            return (source - self.all) // 2 - place if source < self.odds else self.size
        if far >= 0 and source < self.all:
            # an item that is not unzipped, as the even ones before it are
            return far // 2 - source
        return self.size

    def _whole_copies(self) -> list[tuple[int, int]]:
        """Places where the odd items from the first on stand as they are, and how many of them could be made of those."""
        index, start = self.index, self.odds
        row = index.row
        found = []
        for place in index.triples.get(row[start : start + 3], ()):  # type: ignore[arg-type]
            most = self.size if place >= index.ends[2] else (place - self.all) // 2 if place >= self.all else 0
            if most < 3 or start <= place < index.ends[2]:
                continue
            length = 3
            while length < most and row[place + length] == row[start + length]:
                length += 1
            found.append((place, length))
        return found


def _calm(core: Value) -> list[int]:
    """Counts after which items go on in equal steps, every one, every second or every fourth.

    What was woven in as far as there would have come between them.
    """
    runs: list[tuple[int, int]] = []
    for stride in _STRIDES:
        steps = [b - a for a, b in zip(core, core[stride:], strict=False)]
        terms = [1] * (len(core) + stride)
        for i in range(len(steps) - 1, -1, -1):
            follows = i + stride < len(steps) and steps[i + stride] == steps[i]
            terms[i] = terms[i + stride] + 1 if follows else 2
        for i, step in enumerate(steps):
            if terms[i] >= _RUN and (i < stride or steps[i - stride] != step):
                runs += [(-terms[i], count) for count in range(i // 2, (i - stride) // 2, -1)]
    return [count for _, count in sorted(runs)[:_RUNS]]


def _related(index: Index) -> int:
    """Number of odd items from the first on that could be made of other items in one of a few ways."""
    row, steps, triples = index.row, index.steps, index.triples
    size = len(row)
    all_items, start = index.starts[1], index.starts[2]
    if start + 3 >= size:
        return 0
    longest = 0

    def count(place: int, items: int, span: int) -> None:
        nonlocal longest
        # what the odd items are made of lies among the even ones, or behind those that are unzipped
        free = place + span <= all_items or place >= index.ends[2] or (all_items + 2 * items <= place < start)
        if items > 3 and free:
            longest = max(longest, items)

    first, second, third = row[start : start + 3]
    for place in index.shapes.get((steps[start], steps[start + 1]), ()):
        n = 3
        while start + n < size and place + n < size and steps[start + n - 1] == steps[place + n - 1]:
            n += 1
        count(place, n, n)
    for place in triples.get((third, second, first), ()):
        n = 3
        while place + 2 - n >= 0 and row[place + 2 - n] == row[start + n]:
            n += 1
        count(place + 3 - n, n, n)
    for place in triples.get((first, steps[start], steps[start + 1]), ()):
        n = 3
        while place + n < size and row[place + n] == steps[start + n - 1]:
            n += 1
        count(place, n, n)
    for place, item in enumerate(row):
        if item == first:
            for s in range(2, 6):
                n = 1
                while place + n * s < size and row[place + n * s] == row[start + n]:
                    n += 1
                count(place, n, (n - 1) * s)
        if item >= first and place + 3 < size:
            n = _reduced(row, place, start)
            count(place, n, n)
    return longest


def _reduced(row: Value, place: int, start: int) -> int:
    """Number of items from `start` on that are remainders of those from `place` on, if at least five."""
    divisor, top, n = 0, 0, 0
    while place + n < len(row) and start + n < len(row):
        difference, item = row[place + n] - row[start + n], row[start + n]
        if difference < 0 or item >= WALL:
            break
        more = gcd(divisor, difference)
        if item > top:
            top = item
        if more and more <= top:
            break
        divisor = more
        n += 1
    return n if n > 4 and divisor else 0
