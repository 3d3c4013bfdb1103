"""Choose values to name: a value that is used again, as it is or in another form, is a statement of its own.

Given the named values, the cheapest path is found by `parse`, and who is made of whom by `graphs`. Which to name is a greedy
choice, judged by the exact bits of the whole program: everything that the best program so far makes, then spans that stand in
the strands in two forms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, groupby

from kolmocli.language.search.budget import Budget
from kolmocli.language.search.graphs import Makings
from kolmocli.language.search.index import Index
from kolmocli.language.search.literal_spans import combined, literal_forms
from kolmocli.language.search.nodes import Chain, Making, Value, merged
from kolmocli.language.search.order import quick_bits
from kolmocli.language.search.parse import Piece, cheapest
from kolmocli.language.search.prices import AGAIN, MERGE, WEAVE
from kolmocli.language.search.ramps import is_ramp
from kolmocli.language.search.segments import Segment, Segments, periods, polynomials, ramps, together, zips
from kolmocli.language.search.spans import Pair, Span, apart, mirrored, ranked, replaced, similar
from kolmocli.language.search.strands import Weave

_CHAIN_WITHIN = 12.0
"""Price of a woven strand of several values: they are merged before they are woven in."""
_PROPOSALS = 12
_ROUNDS = 4


class Naming:
    """The search for the values to name, for one way of taking the sequence apart."""

    def __init__(self, weave: Weave, budget: Budget) -> None:
        self.budget = budget
        self.index = Index(weave)
        budget.spend(4 * len(self.index.row))
        self.weave = weave
        self.nameless = [self._nameless(k) for k in range(len(weave))]
        self.makings = Makings(self.index, budget)
        self.known: dict[Value, None] = {}
        self.tried: set[frozenset[Value]] = set()
        self.paths = self._paths(self.known)
        self.chain, self.values, self.written = self._chained(self.paths)
        self.bits = quick_bits(self.chain)

    def begin(self) -> None:
        """Name what pays at once."""
        self._name_spans(0)
        self._name_what_there_is()

    def offer(self, values: Iterable[Value]) -> None:
        """Name these values, of another program for the same sequence, and what pays then."""
        self._try([*self.known, *(value for value in values if len(value) > 1)])
        self._name_what_there_is()

    def improve(self) -> None:
        """Name what pays until nothing does."""
        for _ in range(_ROUNDS):
            before = self.bits
            self._name_spans(_PROPOSALS)
            self._name_what_there_is()
            self._name_pairs()
            self._turn()
            self._forget()
            if self.bits >= before:
                return

    # --- moves

    def _name_what_there_is(self) -> None:
        """Name values of the best program: all of them, or those that promise something one by one and two by two."""
        while True:
            fresh = [v for v in self.values if len(v) > 1 and v not in self.known]
            if not fresh:
                return
            if self._try([*self.known, *fresh]):
                continue
            before = self.bits
            for names in self._promising(fresh):
                self._try([*self.known, *names])
            if self.bits >= before:
                return

    def _promising(self, fresh: list[Value]) -> list[list[Value]]:
        """Those of these values, and of their pairs with others, whose other forms would save something."""
        costs = self._costs()
        gains: list[tuple[float, list[Value]]] = []
        for value in fresh:
            count = len(value)
            gain = sum(max(0.0, costs[i + count] - costs[i] - AGAIN) for i in self.index.places(value)[1:])
            for start, end, making in self.makings.derived(value):
                gain += max(0.0, costs[end] - costs[start] - making.bits - MERGE)
            if gain > 0:
                gains.append((gain, [value]))
        pairs: dict[tuple[Value, ...], float] = {}
        for start, end, making in self.makings.paired(list(dict.fromkeys([*fresh, *self.values]))):
            gain = costs[end] - costs[start] - making.bits - MERGE
            if gain > 0:
                pairs[making.sources] = pairs.get(making.sources, 0.0) + gain
        gains += [(gain, list(sources)) for sources, gain in pairs.items()]
        gains.sort(key=lambda item: (-item[0], item[1]))
        return [names for _, names in gains[:_PROPOSALS]]

    def _name_spans(self, proposals: int) -> None:
        self.budget.spend(8 * len(self.index.row))
        literals = self._literals()
        size = sum(end - start for start, end in literals)
        costs = self._costs()
        pairs = list(self._paid(similar(self.index)))
        if self.budget.affords(size * size // 2):
            self.budget.spend(size * size // 4 + 4 * size)
            pairs += self._paid(literal_forms(self.index, literals))
        spans = ranked(self.index, costs, pairs)
        if len(spans) > 1 or not proposals:
            self._add(apart(spans))
        spans = ranked(
            self.index, costs, chain(pairs, self._paid(replaced(self.index)), self._paid(mirrored(self.index)))
        )
        if len(spans) > 1 or not proposals:
            self._add(apart(spans))
        for candidate in spans[:proposals]:
            self._add([candidate.span])

    def _paid(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """These pairs, of which there may be very many, each paid for."""
        for pair in pairs:
            self.budget.spend(4)
            yield pair

    def _name_pairs(self) -> None:
        literals = self._literals()
        steps = len(self.values) * sum(end - start for start, end in literals)
        if not self.budget.affords(steps):
            return
        self.budget.spend(steps)
        spans = ranked(self.index, self._costs(), combined(self.index, literals, list(self.values)))
        for candidate in spans[:_PROPOSALS]:
            self._add([candidate.span], self.values)

    def _add(self, spans: list[Span], others: Iterable[Value] = ()) -> None:
        """Name these spans and the other values, and no literals that the spans are cut out of."""
        row, places = self.index.row, self.index.places
        fresh = [row[start:end] for start, end in spans if row[start:end] not in self.known]
        if not fresh:
            return
        known = dict.fromkeys((*others, *self.known))
        kept = []
        for value in known:
            at = places(value)
            if not (at and any(at[0] < end and start < at[0] + len(value) for start, end in spans)):
                kept.append(value)
        if not self._try([*kept, *fresh]) and len(kept) < len(known):
            self._try([*known, *fresh])

    def _turn(self) -> None:
        """Let a repetition begin at another item."""
        for value in list(self.known):
            if any(making.function == "repeat_list" for _, _, making in self.makings.derived(value)):
                others = [v for v in self.known if v != value]
                for k in range(1, min(len(value), _PROPOSALS)):
                    for turned in (value[k:] + value[:k], value[-k:] + value[:-k]):
                        if len(self.index.places(turned)) > 1:
                            self._try([*others, turned])

    def _forget(self) -> None:
        for value in list(self.known):
            if value in self.known:
                rest = [v for v in self.known if v != value]
                self._try(rest) or self._try(
                    dict.fromkeys([*rest, *(v for v in self.values if len(v) > 1 and v != value)])
                )
        for start, end in self._neighbours():
            self._try(
                value
                for value in self.known
                if not any(start <= i and i + len(value) <= end for i in self.index.places(value))
            )

    def _neighbours(self) -> list[Span]:
        """Neighboring values that are used once and are no ramps: without any name they may be one list of literals."""
        row = self.index.row
        uses = Counter(row[piece.start : piece.end] for path in self.paths for piece in path)

        def free(piece: Piece) -> bool:
            value = row[piece.start : piece.end]
            return piece.literal or (uses[value] == 1 and (len(value) < 3 or not is_ramp(value)))

        sides = (list(pieces) for path in self.paths for is_free, pieces in groupby(path, free) if is_free)
        return [(side[0].start, side[-1].end) for side in sides]

    def _try(self, known: Iterable[Value]) -> bool:
        names = dict.fromkeys(known)
        key = frozenset(names)
        if key in self.tried:
            return False
        self.tried.add(key)
        paths = self._paths(names)
        chained, values, written = self._chained(paths)
        self.budget.spend(100)
        bits = quick_bits(chained)
        if bits >= self.bits:
            return False
        self.known, self.paths, self.chain, self.values, self.bits = names, paths, chained, values, bits
        self.written = written
        return True

    # --- parts

    def _nameless(self, strand: int) -> Segments:
        """Segments that can stand at each place without a name. An interleaving in front of the core is another weave."""
        woven = zips(self.index, strand)
        if strand == 0:
            woven.pop(0, None)
        return together(ramps(self.index, strand), polynomials(self.index, strand), periods(self.index, strand), woven)

    def _literals(self) -> list[Span]:
        """Places of literals: those of the paths, and all that the program writes down, where it stands first."""
        found = {(piece.start, piece.end) for path in self.paths for piece in path if piece.literal}
        for value in self.written:
            if len(value) > 3 and (places := self.index.places(value)):
                found.add((places[0], places[0] + len(value)))
        whole: list[Span] = []
        for start, end in sorted(found):
            if whole and start < whole[-1][1]:
                whole[-1] = whole[-1][0], max(end, whole[-1][1])
            else:
                whole.append((start, end))
        return whole

    def _paths(self, known: dict[Value, None]) -> list[list[Piece]]:
        """The cheapest path through every strand."""
        extra: Segments = {}
        for value in known:
            for i in self.index.places(value):
                extra.setdefault(i, []).append((i + len(value), AGAIN, None))
            found = self.makings.derived(value)
            self.budget.spend(10 + len(found) // 2)
            for start, end, making in found:
                extra.setdefault(start, []).append((end, making.bits + MERGE, making))
        for start, end, making in self.makings.paired(list(known)):
            extra.setdefault(start, []).append((end, making.bits + MERGE, making))
        return [
            self._single(k, extra) if strand.woven else self._several(k, extra)[1]
            for k, strand in enumerate(self.weave)
        ]

    def _several(self, strand: int, extra: Segments) -> tuple[float, list[Piece]]:
        start, end = self.index.starts[strand], self.index.ends[strand]
        return cheapest(self.index, start, end, (self.nameless[strand], extra), self.budget)

    def _single(self, strand: int, extra: Segments) -> list[Piece]:
        """The cheapest way to make a woven strand: one value if that is not much dearer than several."""
        index = self.index
        start, end = index.starts[strand], index.ends[strand]
        bits, path = self._several(strand, extra)
        if len(path) == 1:
            return path
        options = [s for part in (self.nameless[strand], extra) for s in part.get(start, ()) if s[0] == end]
        literal = index.literal_bits + index.item_bits * (end - start) + WEAVE
        best: Segment | None = min(options, key=lambda s: s[1], default=None)
        if best is not None and best[1] < literal:
            single = Piece(start, end, best[2], best[1], False)
        else:
            single = Piece(start, end, None, literal, True)
        return path if bits + _CHAIN_WITHIN < single.bits else [single]

    def _chained(self, paths: list[list[Piece]]) -> tuple[Chain, list[Value], list[Value]]:
        """The chain of all values, every value that it needs, and those of them that are literals."""
        row = self.index.row
        wanted: dict[Value, Making | None] = {}
        for path in paths:
            for piece in path:
                value = row[piece.start : piece.end]
                if wanted.get(value) is None:
                    wanted[value] = piece.making
        nodes, values = self.makings.graph(wanted)
        chained: Chain = []
        for strand, path in zip(self.weave, paths, strict=True):
            parts = [nodes[row[piece.start : piece.end]] for piece in path]
            if strand.woven:
                chained.append(("interleave", merged([("concatenate", node) for node in parts])))
            else:
                chained += [("concatenate", node) for node in parts]
        return chained, values, [value for value in values if nodes[value].function == "set_list"]

    def _costs(self) -> list[float]:
        """Price of the items before each place in the best program, pieces spread over their items."""
        at = [0.0] * (len(self.index.row) + 1)
        for path in self.paths:
            for piece in path:
                each = piece.bits / (piece.end - piece.start)
                for i in range(piece.start, piece.end):
                    at[i + 1] = each
        total = 0.0
        for i in range(1, len(at)):
            total += at[i]
            at[i] = total
        return at
