"""Ways to take a sequence apart into strands, with a quick estimate of what each would take.

Unzipping the core changes only where its front meets its rest; `fronts.py` prices every way to do so at once.
"""

from __future__ import annotations

from typing import NamedTuple

from kolmocli.language.search.budget import Budget
from kolmocli.language.search.fronts import Front, Way
from kolmocli.language.search.index import Index
from kolmocli.language.search.parse import cheapest
from kolmocli.language.search.segments import copies, periods, polynomials, ramps, zips
from kolmocli.language.search.strands import Weave, woven_in, woven_on

_INFINITE = float("inf")
_SHORTEST = 4
"""Items of a core that can be unzipped."""
USUAL = range(2, 26)
"""Items of a value that is woven in, as the published programs have it: any of these counts may be right, however it looks."""
_MOST = 40
"""Most ways to unzip a core that are looked at further."""
_ALIKE = 3.0
"""Guesses that differ by less are of one opinion."""


class Guess(NamedTuple):
    bits: float
    """The estimate."""
    others: float
    """The part of it that the strands other than the core take."""
    weave: Weave
    lengths: frozenset[int]
    """Items of the values that stand in the sequence as it is: what is woven in may be one of them in another form."""


def first_guess(weave: Weave, budget: Budget) -> Guess:
    """The guess for the core alone."""
    index = Index(weave)
    budget.spend(6 * len(index.row))
    parts = (ramps(index, 0), polynomials(index, 0), periods(index, 0), copies(index, 0), zips(index, 0))
    bits, path = cheapest(index, index.starts[0], index.ends[0], parts, budget)
    lengths = {piece.end - piece.start for piece in path if not piece.literal}
    lengths |= {len(source) for piece in path if piece.making for source in piece.making.sources}
    return Guess(bits, 0.0, weave, frozenset(lengths))


def children(guess: Guess, budget: Budget) -> list[Guess]:
    """The core unzipped once more, in the ways that promise the most. Best first."""
    return [child(guess, way) for way in opened(guess, budget)[1]]


def opened(guess: Guess, budget: Budget) -> tuple[Front | None, list[Way]]:
    """The prices of the core's fronts, and the ways to unzip it that promise the most, best first; None and no way of a core that
    is too short."""
    size = len(guess.weave[0].items)
    if size < _SHORTEST:
        return None, []
    budget.spend(12 * size)
    front = Front(guess.weave, budget)
    return front, _best_ways(guess, front)


def _best_ways(guess: Guess, front: Front) -> list[Way]:
    rows = [[front.within(count) for count in range(2, front.size // 2 + 1)]]
    by_way: dict[int, list[Way]] = {}
    for count in range(2, front.size // 2 + 1):
        for place, way in enumerate(front.beyond(count)):
            by_way.setdefault(place, []).append(way)
    rows += by_way.values()
    likely = {*USUAL, *front.natural(), *guess.lengths, *(len(s.items) for s in guess.weave[1:] if s.woven)}
    ways = [way for row in rows for way in _lowest(row)]
    ways += [way for row in rows for way in row if way.pairs in likely]
    found: dict[tuple[int, int], Way] = {}
    for way in sorted(ways, key=lambda way: (way.core + way.others, way)):
        found.setdefault((way.pairs, way.end), way)
        if len(found) == _MOST:
            break
    return list(found.values())


def child(guess: Guess, way: Way) -> Guess:
    """The core unzipped in this way."""
    weave = woven_on(guess.weave, way.pairs, way.end) if way.end else woven_in(guess.weave, way.pairs)
    others = guess.others + way.others
    return Guess(way.core + others, others, weave, guess.lengths)


def _lowest(row: list[Way]) -> list[Way]:
    """Those ways, in order of their counts, that no neighbour beats; for a row of equal ones, the first and the last."""
    kept = []
    bits = [_INFINITE, *(way.core + way.others for way in row), _INFINITE]
    for way, before, here, after in zip(row, bits, bits[1:], bits[2:], strict=False):
        if here <= before and here <= after and (before - here > _ALIKE or after - here > _ALIKE):
            kept.append(way)
    return kept
