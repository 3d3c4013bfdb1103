"""Index of the places in the strands where a value stands, as it is or plus a constant."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

from kolmocli.language.search.nodes import Value
from kolmocli.language.search.prices import literal_price
from kolmocli.language.search.strands import Weave

WALL = 1 << 80
"""Between two strands stands an item that is no item, and no two of them differ by anything that items differ by."""


class Index:
    """All strands in one row, with walls between them."""

    def __init__(self, weave: Weave) -> None:
        row: list[int] = []
        self.starts: list[int] = []
        for number, strand in enumerate(weave):
            self.starts.append(len(row))
            row += strand.items
            row.append(WALL << (2 * number))
        self.row = tuple(row)
        self.ends = [start + len(s.items) for start, s in zip(self.starts, weave, strict=True)]
        items = [item for strand in weave for item in strand.items]
        self.item_bits, self.literal_bits = literal_price(min(items, default=0), max(items, default=0))
        """Price of an item of a literal list, and of the list apart from its items."""
        self.terms, self.steps = _ramps(self.row, self.starts, self.ends)
        pairs: dict[tuple[int, int], list[int]] = defaultdict(list)
        for i, pair in enumerate(pairwise(self.row)):
            pairs[pair].append(i)
        self.pairs = pairs
        triples: dict[tuple[int, int, int], list[int]] = defaultdict(list)
        for i, triple in enumerate(zip(self.row, self.row[1:], self.row[2:], strict=False)):
            triples[triple].append(i)
        self.triples = triples
        self._shapes: dict[tuple[int, int], list[int]] | None = None

    @property
    def shapes(self) -> dict[tuple[int, int], list[int]]:
        """Places by the two differences from there on."""
        if self._shapes is None:
            shapes: dict[tuple[int, int], list[int]] = defaultdict(list)
            steps = self.steps
            for i in range(len(self.row) - 2):
                shapes[steps[i], steps[i + 1]].append(i)
            self._shapes = shapes
        return self._shapes

    def places(self, value: Value) -> list[int]:
        """Places of the value."""
        row, count = self.row, len(value)
        if count >= 3:
            found = self.triples.get(value[:3])  # type: ignore[arg-type]
            if not found:
                return []
            return found if count == 3 else [i for i in found if row[i : i + count] == value]
        return list(self.pairs.get(value, ())) if count == 2 else []  # type: ignore[arg-type]


def _ramps(row: Value, starts: list[int], ends: list[int]) -> tuple[list[int], list[int]]:
    """For each place how many items from there on have one constant difference, and that difference."""
    steps = [b - a for a, b in pairwise(row)]
    steps.append(0)
    terms = [1] * len(row)
    for start, end in zip(starts, ends, strict=True):
        last = end - 1
        run, before = 1, None
        for i in range(last - 1, start - 1, -1):
            step = steps[i]
            run = run + 1 if step == before else 2
            before = step
            terms[i] = run
    return terms, steps
