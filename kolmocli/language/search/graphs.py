"""From values to the cheapest graph that makes them: who is made of whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kolmocli.language.search.alone import alone, alone_bits
from kolmocli.language.search.budget import Budget
from kolmocli.language.search.derive import Found, derived, paired
from kolmocli.language.search.index import Index
from kolmocli.language.search.nodes import Making, Node, Value


class Makings:
    """Makings of the values in an index, from each other; each is worked out once."""

    def __init__(self, index: Index, budget: Budget) -> None:
        self.index = index
        self.budget = budget
        self.hidden: dict[Value, Making] = {}
        """Makings of values that stand nowhere."""
        self._derived: dict[Value, list[Found]] = {}
        self._images: dict[Value, dict[Value, Making]] = {}
        self._paired: dict[tuple[Value, Value], list[Found]] = {}
        self._nodes: dict[tuple[object, ...], Node] = {}

    def derived(self, value: Value) -> list[Found]:
        """Results of one call on the value, with their places."""
        if value not in self._derived:
            self.budget.spend(20 * len(value) + 100)
            found = self._derived[value] = list(derived(self.index, value, self.hidden))
            self.budget.spend(4 * len(found))
            self._images[value] = _by_value(self.index, found)
        return self._derived[value]

    def paired(self, values: list[Value]) -> Iterable[Found]:
        """Results of one call on two of these values, with their places."""
        for x in values:
            for y in values:
                if len(x) == len(y) and x != y:
                    if (x, y) not in self._paired:
                        self.budget.spend(5)
                        self._paired[x, y] = list(paired(self.index, x, y))
                    yield from self._paired[x, y]

    def graph(self, wanted: Mapping[Value, Making | None]) -> tuple[dict[Value, Node], list[Value]]:
        """A node for every wanted value, and all values that they need.

        Some are known to be made in some way. For the others the cheapest is chosen, of the initiators and of what the
        other values give.
        """
        made = {value: making for value, making in wanted.items() if making is not None}
        pool = dict.fromkeys(wanted)
        for making in made.values():
            pool.update(dict.fromkeys(making.sources))
        open_values = sorted((alone_bits(v), v) for v in pool if v not in made)
        pairs = {self.index.row[start:end]: making for start, end, making in self.paired(list(pool))}
        while open_values:
            _, value = open_values.pop()
            options = [self._images[v][value] for v in pool if v in self._images and value in self._images[v]]
            if value in pairs:
                options.append(pairs[value])
            if value in self.hidden:
                options.append(self.hidden[value])
            least = float("inf")
            for making in (*alone(value), *options):
                bits = making.bits + sum(alone_bits(source) for source in making.sources if source not in pool)
                if bits < least and not any(_needs(source, value, made) for source in making.sources):
                    made[value], least = making, bits
            for source in made[value].sources:
                if source not in pool:
                    pool[source] = None
                    open_values.append((0.0, source))
        nodes: dict[Value, Node] = {}
        for value in wanted:
            self._node(value, made, nodes)
        return nodes, list(nodes)

    def _node(self, value: Value, made: dict[Value, Making], nodes: dict[Value, Node]) -> Node:
        if value not in nodes:
            making = made[value]
            refs = tuple([self._node(source, made, nodes) for source in making.sources])
            key = (making.function, making.constants, *map(id, refs))
            if key not in self._nodes:
                self._nodes[key] = Node(making.function, making.constants, refs)
            nodes[value] = self._nodes[key]
        return nodes[value]


def _by_value(index: Index, found: list[Found]) -> dict[Value, Making]:
    """The cheapest making of each value."""
    best: dict[Value, Making] = {}
    for start, end, making in found:
        value = index.row[start:end]
        if value not in best or making.bits < best[value].bits:
            best[value] = making
    return best


def _needs(value: Value, wanted: Value, made: dict[Value, Making]) -> bool:
    """Whether the value is made of the wanted one, or of what is."""
    if value == wanted:
        return True
    return value in made and any(_needs(source, wanted, made) for source in made[value].sources)
