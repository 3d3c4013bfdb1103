"""Which values to name: a value that is used again, as it is or in another form, is a statement of its own.

Given the named values, the cheapest path is found by `parse`. Which to name is a greedy choice, judged by the exact bits of the
whole program: everything that the best program so far makes, then spans that stand in the strands in two forms.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from kolmocli.language.search.budget import Budget
from kolmocli.language.search.derive import derived, paired
from kolmocli.language.search.index import Index
from kolmocli.language.search.nodes import Node, Value, needed
from kolmocli.language.search.order import Chain, quick_bits
from kolmocli.language.search.parse import Made, Piece, Segment, Segments, cheapest, node_of, ramps
from kolmocli.language.search.prices import AGAIN, WEAVE
from kolmocli.language.search.ramps import ramp
from kolmocli.language.search.spans import Span, apart, combined, literal_forms, ranked, similar
from kolmocli.language.search.strands import Weave

_CHAIN_WITHIN = 12.0
"""What a woven strand pays if it is several values: they are merged before they are woven in."""
_PROPOSALS = 12
_ROUNDS = 4


class Naming:
    """The search for the values to name, for one way of taking the sequence apart."""

    def __init__(self, weave: Weave, budget: Budget) -> None:
        self.budget = budget
        self.index = Index(weave)
        budget.spend(4 * len(self.index.row))
        self.weave = weave
        self.ramps = [ramps(self.index, k) for k in range(len(weave))]
        self.found: dict[int, tuple[Node, list[tuple[int, Segment]]]] = {}
        self.known: list[Node] = []
        self.cache: dict[tuple[object, ...], Node] = {}
        self.chain, self.paths = self._parsed([])
        self.bits = self._price(self.chain)

    def begin(self) -> None:
        """Name what pays at once."""
        self._name_spans(0)
        self._name_what_there_is()

    def improve(self) -> None:
        """Name what pays until nothing does."""
        for _ in range(_ROUNDS):
            before = self.bits
            self._name_spans(_PROPOSALS)
            self._name_what_there_is()
            self._name_pairs()
            self._redefine()
            self._forget()
            if self.bits >= before:
                return

    def root(self) -> Node:
        """The graph of the best program."""
        return _merged(self.chain)

    # --- moves

    def _name_what_there_is(self) -> None:
        while True:
            names = {n.value for n in self.known}
            fresh = [n for n in self._values() if n.value not in names]
            if self._try([*self.known, *fresh]):
                continue
            fresh = [n for n in fresh if self._related(n)]
            if len(fresh) < 2 or not any([self._try([*self.known, n]) for n in fresh]):
                return

    def _name_spans(self, proposals: int) -> None:
        self.budget.spend(8 * len(self.index.row))
        literals = [(piece.start, piece.end) for path in self.paths for piece in path if piece.literal]
        size = sum(end - start for start, end in literals)
        self.budget.spend(size * size // 4 + 4 * size)
        pairs = chain(similar(self.index), literal_forms(self.index, literals))
        spans = ranked(self.index, self._costs(), pairs)
        if len(spans) > 1 or not proposals:
            self._add(apart(spans))
        for span in spans[:proposals]:
            self._add([span])

    def _name_pairs(self) -> None:
        literals = [(piece.start, piece.end) for path in self.paths for piece in path if piece.literal]
        values = self._values()
        self.budget.spend(len(values) * sum(end - start for start, end in literals))
        for span in ranked(self.index, self._costs(), combined(self.index, literals, values))[:_PROPOSALS]:
            self._add([span], values)

    def _add(self, spans: list[Span], others: Iterable[Node] = ()) -> bool:
        """Name these spans and the other values, and no literals that the spans are cut out of."""
        row = self.index.row
        names = {row[start:end] for start, end in spans}
        fresh = [self._initiator(value) for value in names - {n.value for n in self.known}]
        if not fresh:
            return False
        kept = []
        known = {n.value: n for n in (*others, *self.known)}
        for node in known.values():
            if node.function == "set_list":
                home = self.index.places(node.value)[0]
                if any(home < end and start < home + len(node.value) for start, end in spans):
                    continue
            kept.append(node)
        return self._try(self._with(kept, fresh)) or (
            len(kept) < len(known) and self._try(self._with(list(known.values()), fresh))
        )

    def _with(self, known: list[Node], fresh: list[Node]) -> list[Node]:
        """Known nodes and fresh ones; known literals that can be made of a fresh one are."""
        for node in fresh:
            for start, (end, _, made) in self._derived(node):
                value = self.index.row[start:end]
                old = next((n for n in known if n.function == "set_list" and n.value == value), None)
                if old is not None and made is not None:
                    known = _replaced(known, old, node_of(made))
        return [*known, *fresh]

    def _forget(self) -> None:
        for node in list(self.known):
            if node in self.known:
                self._try([n for n in self.known if n is not node])

    def _redefine(self) -> None:
        """Make named values of others where that is cheaper than what makes them now."""
        for node in list(self.known):
            if node not in self.known:
                continue
            for other in self._values():
                if other.value == node.value or any(n is node for n in needed(other)):
                    continue
                for start, (end, _, made) in self._derived(other):
                    if end - start == len(node.value):
                        if self.index.row[start:end] == node.value and made is not None:
                            if self._try(_replaced(self.known, node, node_of(made))):
                                break
                else:
                    continue
                break

    def _try(self, known: list[Node]) -> bool:
        chain, paths = self._parsed(known)
        bits = self._price(chain)
        if bits >= self.bits:
            return False
        self.chain, self.paths, self.bits, self.known = chain, paths, bits, known
        return True

    # --- parts

    def _values(self) -> list[Node]:
        """The values of the best program that are not merges, of two items at least."""
        nodes = {id(below): below for _, node in self.chain for below in needed(node)}
        return [n for n in nodes.values() if n.kind != "merger" and len(n.value) > 1]

    def _related(self, node: Node) -> bool:
        return len(self.index.places(node.value)) > 1 or bool(self._derived(node))

    def _derived(self, node: Node) -> list[tuple[int, Segment]]:
        if id(node) not in self.found:
            self.budget.spend(20 * len(node.value) + 100)
            self.found[id(node)] = (node, list(derived(self.index, node)))
        return self.found[id(node)][1]

    def _initiator(self, value: Value) -> Node:
        step = value[1] - value[0]
        if all(b - a == step for a, b in zip(value, value[1:])):
            return ramp(value[0], step, len(value))
        return Node("set_list", value)

    def _segments(self, known: Iterable[Node]) -> Segments:
        known = list(known)
        segments: Segments = {}
        for node in known:
            for i in self.index.places(node.value):
                segments.setdefault(i, []).append((i + len(node.value), AGAIN, node))
            for i, segment in self._derived(node):
                segments.setdefault(i, []).append(segment)
        self.budget.spend(10 * len(known) * len(known))
        for i, segment in paired(self.index, known):
            segments.setdefault(i, []).append(segment)
        return segments

    def _parsed(self, known: list[Node]) -> tuple[Chain, list[list[Piece]]]:
        extra = self._segments(known)
        made: dict[Value, Node] = {n.value: n for n in known}
        chain: Chain = []
        paths = []
        for k, strand in enumerate(self.weave):
            path = self._single(k, extra) if strand.woven else self._chain(k, extra)
            paths.append(path)
            nodes = [self._node(piece, made) for piece in path]
            if strand.woven and len(nodes) > 1:
                nodes = [_merged([("concatenate", node) for node in nodes])]
            function = "interleave" if strand.woven else "concatenate"
            chain += [(function, node) for node in nodes]
        return chain, paths

    def _chain(self, strand: int, extra: Segments) -> list[Piece]:
        start, end = self.index.starts[strand], self.index.ends[strand]
        return cheapest(self.index, start, end, (self.ramps[strand], extra), self.budget)[1]

    def _single(self, strand: int, extra: Segments) -> list[Piece]:
        """The cheapest way to make a woven strand: one value if that is not much dearer than several."""
        index = self.index
        start, end = index.starts[strand], index.ends[strand]
        bits, path = cheapest(index, start, end, (self.ramps[strand], extra), self.budget)
        if len(path) == 1:
            return path
        options = [s for part in (self.ramps[strand], extra) for s in part.get(start, ()) if s[0] == end]
        literal = index.literal_bits + index.item_bits * (end - start) + WEAVE
        best: Segment | None = min(options, key=lambda s: s[1], default=None)
        if best is not None and best[1] < literal:
            single = Piece(start, end, best[2], best[1], False)
        else:
            single = Piece(start, end, None, literal, True)
        return path if bits + _CHAIN_WITHIN < single.bits else [single]

    def _node(self, piece: Piece, made: dict[Value, Node]) -> Node:
        """The node of a piece; equal values are one node."""
        start, end = piece.start, piece.end
        value = self.index.row[start:end]
        node = made.get(value)
        if node is None:
            key: Made = ("set_list", value)
            if not piece.literal:
                key = piece.made or ("ramp", value[0], self.index.steps[start] if end - start > 1 else 0, end - start)
            if isinstance(key, Node):
                node = key
            elif key in self.cache:
                node = self.cache[key]
            else:
                node = self.cache[key] = ramp(*key[1:]) if key[0] == "ramp" else Node(*key)
            made[value] = node
        return node

    def _price(self, chain: Chain) -> int:
        self.budget.spend(20)
        return quick_bits(chain)

    def _costs(self) -> list[float]:
        """What the items before each place take in the best program, pieces spread over their items."""
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


def _merged(chain: Chain) -> Node:
    whole = chain[0][1]
    for function, node in chain[1:]:
        whole = Node(function, whole, node)
    return whole


def _replaced(known: list[Node], old: Node, new: Node) -> list[Node]:
    """The nodes with one made in another way, and those that are made of it."""
    done: dict[int, Node] = {id(old): new}

    def again(node: Node) -> Node:
        if id(node) not in done:
            arguments = [again(a) if isinstance(a, Node) else a for a in node.arguments]
            same = all(a is b for a, b in zip(arguments, node.arguments, strict=True))
            done[id(node)] = node if same else Node(node.function, *arguments, value=node.value)
        return done[id(node)]

    return [again(node) for node in known]
