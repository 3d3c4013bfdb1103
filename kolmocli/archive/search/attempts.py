"""From data to programs: each way of looking at the data is searched, at one or more prices of a literal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kolmocli.archive.codecs.codecs import Codec
from kolmocli.archive.format.tables import TableView
from kolmocli.archive.format.views import VIEWS, WORDS, View
from kolmocli.archive.options import THOROUGH_LEVEL, Options
from kolmocli.archive.progress import Stages
from kolmocli.archive.search import smooth
from kolmocli.archive.search.costs import Floats, column_bits, local_prices
from kolmocli.archive.search.evidence import Ints
from kolmocli.archive.search.fit import Fit, fit, likely_fits, safe
from kolmocli.archive.search.pieces import CLEARLY, MOST_LITERAL, by_column, joined, rewritten, same
from kolmocli.archive.search.probe import pays
from kolmocli.archive.search.proposals import Piece, Proposals, literal
from kolmocli.archive.search.rules import find_rules
from kolmocli.archive.search.segmentation import SearchOptions, Segmentation, search
from kolmocli.archive.search.segments import FRESH, Form, Segment, programs_of
from kolmocli.archive.time_budget import TimeBudget

CHUNK_ITEMS = 1 << 18
"""Items searched at once: what bounds the memory of the search."""
_WORTH_A_LOOK = 1 << 13
"""Below `THOROUGH_LEVEL` data of this many bytes are searched only in the chunks in which a few windows say that it pays."""
_ITEM_SECONDS = 4e-5
"""Search time of an item, until it is measured; only a time budget asks for it."""
_REWRITING = 3e-5
"""Seconds of an item that is rewritten as a difference, and packed, and unpacked."""
_PARTS_OF_REST = 4
"""Under a time budget a chunk is searched in no more than this part of what the search has left."""
_LEAST_ITEMS = 1 << 12
_LARGE = 1 << 18
"""From this many items on the residual is packed before the programs are coded, which takes seconds: how its literals are
best written is known by then, and the programs are coded once."""
_DENSE = 0.9
"""A residual packed to more than this share has nothing that a codec could do better than a program."""
_SECTION_BITS = 112.0
"""Cost of adding a residual: its place in the table of sections, and the head of its codec."""
_LEAST_COLUMN_BITS = 96.0
"""Least cost of a column; below it there is nothing to gain."""
_RULED_BITS = 2.0
"""A column is searched where a codec takes fewer bits than that for an item, or where it is short."""
_SHORT_COLUMN = 1 << 10
_I64 = 5
_ROUGHLY = 8
"""One in this many windows is tried first."""
_FAR = 1.25
_MUCH_SMALLER = 0.2
_SMALLER_TABLE = 0.9
"""Once a view has brought the data below this share of the best codec, the less promising ones are not searched."""


@dataclass(frozen=True, slots=True)
class PackedResidual:
    """Cost of the items that no program makes, and the bytes that are no item."""

    view: View
    """With the words that the items need."""
    codec: Codec
    payload: bytes
    size: int
    """Bytes before packing."""
    item_bits: float
    """Cost of an item."""

    @property
    def share(self) -> float:
        """Part of its size to which it was packed."""
        return len(self.payload) / self.size if self.size else 1.0


@dataclass(frozen=True, slots=True)
class PackedMember:
    """Result of an attempt."""

    member: bytes
    decoding: float = 0.0
    """Seconds that it will take to decode, about."""


@dataclass(slots=True)
class Attempt:
    """The data as programs. `items` are what the pieces make, `rest` the bytes that no item stands for."""

    view: View
    items: Sequence[int]
    pieces: list[Piece]
    rest: bytes
    packed: PackedMember | None = None
    """Set by who packs it, before the next attempt is asked for."""
    residual: PackedResidual | None = None
    """Likewise."""

    def as_they_are(self, start: int) -> Iterator[Piece]:
        """All items from there on without programs, for when there is no time to code any more of these."""
        starts = self.view.starts(len(self.items))
        for at in range(start, len(self.items), MOST_LITERAL):
            fresh = self.items[at : at + MOST_LITERAL]
            yield from by_column(Piece(literal(len(fresh)), fresh, len(fresh)), at, starts)


@dataclass(frozen=True, slots=True)
class SearchContext:
    """Limits of the attempts, their proposer of programs, and the listener to their progress."""

    options: Options
    budget: TimeBudget
    proposals: Proposals | None
    stages: Stages
    measure: Callable[[Attempt], None]
    """Packs the residual of an attempt, and not its programs."""


def attempts(data: bytes, packed: int, context: SearchContext) -> Iterator[Attempt]:
    """Ways to write the data, from the first to the most refined.

    `packed` is the size of the data in the best codec. At first a literal costs all its bits. Where the residual then
    turns out to be compressible, the search is run again with the price of an item in one solid stream.
    """
    name = context.options.view
    fits = likely_fits(data, packed) if name == "auto" else [f for f in [fit(data, name)] if f]
    smallest, table = packed, False
    for view, items, rest in fits:
        if context.budget.late() or smallest < (_SMALLER_TABLE if table else _MUCH_SMALLER) * packed:
            return
        values = np.array(items, dtype=np.int64)
        if not len(values) or not safe(values) or context.budget.late():
            continue
        for attempt in _of_view(data, (view, items, rest), values, packed, smallest / packed, context):
            yield attempt
            assert attempt.packed is not None
            smallest, table = min(smallest, len(attempt.packed.member)), isinstance(view, TableView)


def _of_view(
    data: bytes, fitted: Fit, values: Ints, packed: int, reached: float, context: SearchContext
) -> Iterator[Attempt]:
    """`reached` is the share of the best codec to which earlier views have brought the data."""
    view, items, rest = fitted
    options, proposals, budget = context.options, context.proposals, context.budget
    if isinstance(view, TableView):
        yield from _of_table((view, items, rest), values, context)
        return
    full = np.full(len(values), 8.0 * view.width)
    solid = np.minimum(full, _solid_price(data, view, len(values), packed))
    price = full
    smooth_price = _smooth_price(values, full, solid) if options.refined() else full
    if smooth_price.sum() < CLEARLY * solid.sum():
        price = smooth_price
    gated = proposals is None and price is full and options.level < THOROUGH_LEVEL and len(data) >= _WORTH_A_LOOK
    worth = _worth(values, view, reached, context) if gated else None
    if view.number not in WORDS:
        yield _plain(view, items, rest)
    if worth is not None and not any(worth):
        return
    for _ in range(2 if options.refined() else 1):
        if budget.late():
            return
        context.stages.begin(f"search {view.name}")
        pieces = _searched(values, price, view, worth, context)
        if proposals is not None and view.name == "u8" and not budget.late():
            context.stages.begin("policy")
            pieces = proposals.replace(pieces, float(price.mean()))
        pieces = joined(pieces)
        if all(p.literal for p in pieces) and smooth_price is full:
            return
        attempt = Attempt(view, items, pieces, rest)
        measured = options.refined() and len(values) >= _LARGE and budget.left() is None
        if measured:
            context.measure(attempt)
        else:
            yield attempt
        left = attempt.residual
        assert left is not None
        changed = pieces
        if left.size and options.refined() and budget.enough(_REWRITING * len(values)):
            saved = _SECTION_BITS if sum(p.literal for p in pieces) == 1 and not rest else 0.0
            # what is not packed both ways must be the clearer
            item_bits = left.item_bits * (CLEARLY if measured else 1.0)
            changed = list(rewritten(pieces, view.width, item_bits, saved))
        if not same(changed, pieces):
            yield Attempt(view, items, changed, rest)
        elif measured:
            yield attempt
        if left.share > _DENSE or price is solid:
            return
        price = solid


def _plain(view: View, items: Sequence[int], rest: bytes) -> Attempt:
    """All items in the residual: what the best codec of each column makes of it."""
    plain = Attempt(view, items, [], rest)
    plain.pieces = list(plain.as_they_are(0))
    return plain


def _of_table(fitted: Fit, values: Ints, context: SearchContext) -> Iterator[Attempt]:
    """A table without programs, then with those of the columns that look as if they had some.

    An item is worth what the best codec takes for it in its column.
    """
    view, items, rest = fitted
    options, budget = context.options, context.budget
    yield _plain(view, items, rest)
    pieces: list[Piece] = []
    taken: list[float] = []
    context.stages.begin("search table")
    for start, end in pairwise([*view.starts(len(values)), len(values)]):
        column = values[start:end]
        context.stages.at("search table", start / len(values))
        bits = column_bits(column) if len(column) else 0.0
        if len(column) and _ruled(column, bits, options.level) and budget.enough(_ITEM_SECONDS * len(column)):
            price = np.full(len(column), bits / len(column))
            mine = joined(_searched(column, price, VIEWS[_I64], None, context))
        else:
            mine = [Piece(literal(len(column)), items[start:end], len(column))] if len(column) else []
        pieces += mine
        taken += [bits / max(len(column), 1)] * len(mine)
    if not all(p.literal for p in pieces):
        yield Attempt(view, items, pieces, rest)
    if options.refined() and budget.enough(_REWRITING * len(values)):
        changed = [r for p, bits in zip(pieces, taken, strict=True) for r in rewritten([p], 8, bits)]
        if not same(changed, pieces):
            yield Attempt(view, items, changed, rest)


def _ruled(column: Ints, bits: float, level: int) -> bool:
    """Whether programs may say it in fewer bits: few of them for an item are a rule that a codec half sees."""
    if level >= THOROUGH_LEVEL:
        return True
    if bits < _LEAST_COLUMN_BITS:
        return False
    if bits < _RULED_BITS * len(column) or len(column) < _SHORT_COLUMN:
        return True
    return sum(rule.recurrence.count for rule in find_rules(column)) > len(column) // 2


def _smooth_price(values: Ints, full: Floats, solid: Floats) -> Floats:
    """Bits of each item as a difference; roughly where these are nowhere near what the best codec takes."""
    rough = np.minimum(full, smooth.prices(values, _ROUGHLY))
    return rough if rough.sum() > _FAR * solid.sum() else np.minimum(full, smooth.prices(values))


def _worth(values: Ints, view: View, reached: float, context: SearchContext) -> list[bool]:
    """For each chunk, whether programs pay in one of a few windows."""
    found, until = [], context.budget.share(0.5)
    for start in range(0, len(values), CHUNK_ITEMS):
        context.stages.at(f"probe {view.name}", 0.0)
        found.append(pays(values[start : start + CHUNK_ITEMS], view, reached, until))
    return found


def _searched(values: Ints, price: Floats, view: View, worth: list[bool] | None, context: SearchContext) -> list[Piece]:
    """The pieces of all items. Chunks that are not `worth` a search are left as they are (None: all are), and so is what
    half of the time that is left is not enough for: the other half is for packing."""
    starts = view.starts(len(values))
    pieces: list[Piece] = []
    until, item_seconds, start = context.budget.share(0.5), _ITEM_SECONDS, 0
    while start < len(values):
        if len(values) > CHUNK_ITEMS:
            context.stages.at(f"search {view.name}", start / len(values))
        end, began = (start // CHUNK_ITEMS + 1) * CHUNK_ITEMS, time.monotonic()
        if until is not None:
            end = min(end, start + max(int((until - began) / (_PARTS_OF_REST * item_seconds)), _LEAST_ITEMS))
        chunk = values[start:end]
        columns = tuple(c - start for c in starts if start <= c < start + len(chunk))
        how = SearchOptions(8.0 * view.width, columns or (0,), view.wrap, 2 if context.options.refined() else 1)
        if (worth is None or worth[start // CHUNK_ITEMS]) and (until is None or began < until):
            found = search(chunk, price[start:end], how)
            item_seconds = (time.monotonic() - began) / len(chunk)
        else:
            found = _as_it_is(chunk)
        made = programs_of(chunk.tolist(), found.segments, [r.recurrence for r in found.rules])
        for segment, (program, fresh) in zip(found.segments, made, strict=True):
            pieces += by_column(Piece(program, fresh, segment.end - segment.start), start + segment.start, starts)
        start += len(chunk)
    return pieces


def _as_it_is(values: Ints) -> Segmentation:
    return Segmentation([Segment(0, len(values), Form(FRESH))], [], 0.0)


def _solid_price(data: bytes, view: View, count: int, packed: int) -> Floats:
    """Bits of each item as a part of the whole data in the best codec."""
    if view.number in VIEWS and view.name != "lines":
        return local_prices(data, view.width, packed)
    return np.full(count, 8.0 * packed / count)
