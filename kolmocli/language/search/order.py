"""The order of the statements: which order of a graph's nodes is the cheapest to code.

What a statement costs depends on the kind of the one before, on how many values nothing has used yet, and on how many
there are to refer to. A beam over the topological orders, with exact bits, finds an order within a few bits of the best:
2 to 4 % of a program of the sampler.
"""

from __future__ import annotations

from kolmocli.language.opcodes import END, WIDE
from kolmocli.language.search.nodes import Chain, Node, merged, needed
from kolmocli.language.search.prices import CLOSE, EXTEND_OF, FOLD_OF, KINDS, OPEN_WIDE, WORD, index_bits

_MANY = 48
"""Beyond this many statements the order is that of `needed`, all initiators first."""
_TYPICAL = {"initiator": 2.5, "operator": 7.0, "merger": 2.0}
"""Average price of a statement of each kind apart from its constants: states that have made different ones are compared
by what they paid above this."""


class State:
    """A beginning of a program: the nodes placed so far, in order, and the exact bits."""

    __slots__ = ("above", "bits", "first", "kind", "order", "place", "rank", "unused")

    def __init__(self) -> None:
        self.bits = 0
        self.above = 0.0
        self.kind = 0
        self.order: tuple[int, ...] = ()
        self.place: dict[int, int] = {}
        self.rank: dict[int, int] = {}
        """The place of each value among those that are not merges."""
        self.unused: tuple[int, ...] = ()

    def context(self) -> int:
        return self.kind + min(max(len(self.unused), 1), 3) - 1 if self.kind else 0

    def then(self, number: int, node: Node, refs: tuple[int, ...]) -> State:
        """The state after one more statement: node number `number`, which refers to the nodes numbered `refs`."""
        place, unused = self.place, self.unused
        count = len(self.order)
        words = WORD[self.context()]
        bits = -1
        if node.kind == "merger":
            first, second = refs
            if self.kind == KINDS["merger"]:
                last = self.order[-1]
                others = [n for n in unused if n != last]
                fold = bool(others) and first == last and second == others[0]
            else:
                fold = len(unused) > 1 and first == unused[0] and second == unused[1]
            if fold:
                bits = words.get(FOLD_OF[node.function], -1)
            elif place[first] == count - 1 and second in self.rank:
                bits = words.get(EXTEND_OF[node.function], -1)
                if bits >= 0:
                    bits += index_bits(self.rank[second], len(self.rank))
            else:
                bits = words[node.function] + index_bits(place[first], count) + index_bits(place[second], count)
        elif node.narrow >= 0 and node.function in words:
            bits = words[node.function] + node.narrow
            for ref in refs:
                bits += index_bits(place[ref], count)
        if bits < 0:
            bits = OPEN_WIDE[self.context()] + node.wide
            for ref in refs:
                bits += index_bits(place[ref], count)
        new = State()
        new.bits = self.bits + bits
        new.above = self.above + bits - max(node.narrow, 0) - _TYPICAL[node.kind]
        new.kind = KINDS[node.kind]
        new.order = (*self.order, number)
        new.place = {**place, number: count}
        new.rank = self.rank if node.kind == "merger" else {**self.rank, number: len(self.rank)}
        new.unused = (*(n for n in unused if n not in refs), number)
        return new

    def closed(self) -> int:
        """Bits of the whole program if it ends here."""
        return self.bits + CLOSE[self.context()]


def quick_bits(chain: Chain) -> int:
    """The bits of the program that makes all values in order of need, and then merges them: seldom 1 % above the best order."""
    order = _values_of(chain)
    place = {id(node): i for i, node in enumerate(order)}
    bits = count = kind = plain = 0
    unused: list[int] = []
    rank = []
    for node in order:
        words = WORD[kind + min(max(len(unused), 1), 3) - 1 if kind else 0]
        word = words.get(node.function, -1) if node.narrow >= 0 else -1
        bits += word + node.narrow if word >= 0 else words[WIDE] + node.wide
        for ref in node.refs:
            to = place[id(ref)]
            bits += index_bits(to, count)
            if to in unused:
                unused.remove(to)
        unused.append(count)
        rank.append(plain)
        if node.kind != "merger":
            plain += 1
        kind = KINDS[node.kind]
        count += 1
    last = place[id(chain[0][1])]
    merging = False
    for function, node in chain[1:]:
        second = place[id(node)]
        words = WORD[kind + min(max(len(unused), 1), 3) - 1]
        if merging:
            fold = len(unused) > 1 and second == unused[0]
        else:
            fold = len(unused) > 1 and last == unused[0] and second == unused[1]
        if fold:
            bits += words[FOLD_OF[function]]
        elif last == count - 1 and node.kind != "merger":
            bits += words[EXTEND_OF[function]] + index_bits(rank[second], plain)
        else:
            bits += words[function] + index_bits(last, count) + index_bits(second, count)
        for to in (last, second):
            if to in unused:
                unused.remove(to)
        unused.append(count)
        last, kind, merging = count, KINDS["merger"], True
        count += 1
    return bits + WORD[kind + min(max(len(unused), 1), 3) - 1][END]


def _values_of(chain: Chain) -> list[Node]:
    """The nodes that the values of the chain need, each once, in order of need."""
    order: dict[int, Node] = {}
    for _, node in chain:
        if id(node) not in order:
            order.update((id(below), below) for below in needed(node) if id(below) not in order)
    return list(order.values())


def arrange(chain: Chain, width: int = 8) -> tuple[list[Node], int]:
    """The nodes of the whole chain in a cheap order, and the exact bits of that program: no more than `quick_bits`."""
    root = merged(chain)
    nodes = needed(root)
    number = {id(n): i for i, n in enumerate(nodes)}
    refs = [tuple(number[id(r)] for r in n.refs) for n in nodes]
    if len(nodes) > _MANY:
        return _plainly(nodes, refs)
    root_number = len(nodes) - 1
    sources = [i for i, n in enumerate(nodes) if n.kind == "initiator"]
    others = [i for i, n in enumerate(nodes) if n.kind != "initiator" and i != root_number]
    beam = [State()]
    for count in range(len(nodes)):
        following: dict[tuple[frozenset[int], int, tuple[int, ...]], State] = {}
        for state in beam:
            place = state.place
            ready = [i for i in others if i not in place and all(r in place for r in refs[i])]
            ready += [i for i in sources if i not in place][:2]
            if count == root_number:
                ready = [root_number]
            for i in ready:
                new = state.then(i, nodes[i], refs[i])
                key = (frozenset(new.place), new.kind, new.unused)
                if key not in following or new.bits < following[key].bits:
                    following[key] = new
        beam = sorted(following.values(), key=lambda s: s.above)[:width]
    simple = State()
    values = _values_of(chain)
    spine = {id(n) for n in nodes} - {id(n) for n in values}
    for node in (*values, *(n for n in nodes if id(n) in spine)):
        simple = simple.then(number[id(node)], node, refs[number[id(node)]])
    best = min([*beam, simple], key=State.closed)
    return [nodes[i] for i in best.order], best.closed()


def _plainly(nodes: list[Node], refs: list[tuple[int, ...]]) -> tuple[list[Node], int]:
    order = [i for i, n in enumerate(nodes) if n.kind != "merger"] + [
        i for i, n in enumerate(nodes) if n.kind == "merger"
    ]
    if any(n.kind == "operator" and any(r.kind == "merger" for r in needed(n)) for n in nodes):
        order = list(range(len(nodes)))
    state = State()
    for i in order:
        state = state.then(i, nodes[i], refs[i])
    return [nodes[i] for i in order], state.closed()
