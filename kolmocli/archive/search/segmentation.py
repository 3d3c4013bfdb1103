"""The cheapest programs for a sequence: the shortest path from its beginning to its end, over all candidates.

Costs are estimates, refined from what a first pass has chosen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kolmocli.archive.search.candidates import Candidates, candidates
from kolmocli.archive.search.costs import Costs, Floats
from kolmocli.archive.search.evidence import Ints, gather
from kolmocli.archive.search.rules import Rule, find_rules
from kolmocli.archive.search.segments import FRESH, Form, Segment


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Knowledge of the search about the data, next to the items."""

    start_bits: float = 8.0
    """Cost of the first item of a ramp."""
    columns: tuple[int, ...] = (0,)
    """Starts of the columns."""
    wrap: int = 0
    """Modulus of unsigned words, at which a counter begins again; 0 for others."""
    passes: int = 2


@dataclass(frozen=True, slots=True)
class Segmentation:
    """The cheapest segments, in order, the rules that they name by number, and their estimated bits."""

    segments: list[Segment]
    rules: list[Rule]
    bits: float


def search(values: Ints, literal_bits: float | Floats = 8.0, options: SearchOptions = SearchOptions()) -> Segmentation:
    """The cheapest segments for the whole sequence.

    `literal_bits` is what an item takes in the residual: one number for all items, or one for each.
    """
    if not len(values):
        return Segmentation([], [], 0.0)
    price = np.concatenate([[0.0], np.cumsum(np.broadcast_to(literal_bits, values.shape))])
    evidence = gather(values)
    rules = find_rules(values, options.columns, options.wrap)
    costs = Costs(start=options.start_bits)
    segments: list[Segment] = []
    bits = 0.0
    for number in range(options.passes):
        if number:
            costs = costs.refined(values.tolist(), segments)
        offers = candidates(evidence, costs, price, rules)
        segments, bits = shortest_path(offers, price, costs.kind(FRESH) + costs.count)
    return Segmentation(segments, rules, bits)


def shortest_path(offers: Candidates, price: Floats, open_literal: float) -> tuple[list[Segment], float]:
    """The segments of least total bits. Between candidates items are literals; a run of these takes `open_literal`.

    Only positions where a candidate begins or ends are visited: between them nothing but the run of literals changes.
    """
    count = len(price) - 1
    visited = np.zeros(count + 1, bool)
    visited[[0, count]] = visited[offers.start] = visited[offers.end] = True
    places = np.flatnonzero(visited)
    firsts = np.searchsorted(offers.start, places).tolist()
    lasts = np.searchsorted(offers.start, places, side="right").tolist()
    ends, bits = offers.end.tolist(), offers.bits.tolist()
    infinite = float("inf")
    best = [infinite] * (count + 1)
    back = [0] * (count + 1)
    """Index of the candidate that ends here; a literal from position p on is -1 - p."""
    best[0] = 0.0
    opened, opened_at = infinite, 0
    for i, paid, first, last in zip(places.tolist(), price[places].tolist(), firsts, lasts, strict=True):
        here = best[i]
        if opened + paid < here:
            here = best[i] = opened + paid
            back[i] = -1 - opened_at
        elif here + open_literal - paid < opened:
            opened, opened_at = here + open_literal - paid, i
        for k in range(first, last):
            total = here + bits[k]
            end = ends[k]
            if total < best[end]:
                best[end] = total
                back[end] = k
    return _walk_back(offers, back, count), best[count]


def _walk_back(offers: Candidates, back: list[int], count: int) -> list[Segment]:
    start = offers.start.tolist()
    ends, taken, at = list[int](), list[int](), count
    while at > 0:
        ends.append(at)
        taken.append(back[at])
        at = start[taken[-1]] if taken[-1] >= 0 else -1 - taken[-1]
    chosen = [k for k in taken if k >= 0]
    forms = iter(offers.forms(chosen))
    found = [
        Segment(start[k] if k >= 0 else -1 - k, end, next(forms) if k >= 0 else Form(FRESH))
        for end, k in zip(ends, taken, strict=True)
    ]
    return found[::-1]
