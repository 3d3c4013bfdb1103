"""Long sequences: what can be seen in one pass over them. Repetitions of the whole, and ramps with literals between them."""

from __future__ import annotations

from kolmocli.language.program import Program
from kolmocli.language.search.nodes import Making, Node, Value, program_of
from kolmocli.language.search.order import arrange
from kolmocli.language.search.prices import initiator_bits
from kolmocli.language.search.ramps import ramp

_SHORTEST = 8
"""A shorter ramp is not worth cutting the literals for."""
_MOST = 60
"""Ramps: with the literals and the merges they are fewer statements than a program may have."""


def program_of_runs(value: Value) -> Program:
    """The value as ramps with literals between them."""
    return program_of(arrange([("concatenate", _merged(value))])[0])


def _merged(value: Value) -> Node:
    whole: Node | None = None
    at = 0
    pieces = []
    for start, end in sorted(sorted(_ramps(value), key=lambda span: span[0] - span[1])[:_MOST]):
        if start > at:
            pieces.append(Making("set_list", (value[at:start],), (), initiator_bits("set_list", value[at:start])))
        pieces.append(ramp(value[start:end]))
        at = end
    if at < len(value):
        pieces.append(Making("set_list", (value[at:],), (), initiator_bits("set_list", value[at:])))
    nodes: dict[tuple[object, ...], Node] = {}
    for making in pieces:
        node = _node(making, nodes)
        whole = node if whole is None else Node("concatenate", (), (whole, node))
    assert whole is not None
    return whole


def _node(making: Making, nodes: dict[tuple[object, ...], Node]) -> Node:
    """The node of a ramp or a literal; what is made in the same way twice is one node."""
    key = (making.function, making.constants, making.sources)
    if key not in nodes:
        refs = tuple(_node(ramp(source), nodes) for source in making.sources)
        nodes[key] = Node(making.function, making.constants, refs)
    return nodes[key]


def _ramps(value: Value) -> list[tuple[int, int]]:
    """Longest stretches with one constant difference, from left to right, that do not overlap."""
    found = []
    start, step = 0, None
    for i in range(1, len(value)):
        now = value[i] - value[i - 1]
        if now != step:
            if i - start >= _SHORTEST:
                found.append((start, i))
                start, step = i, None
            else:
                start, step = i - 1, now
    if len(value) - start >= _SHORTEST:
        found.append((start, len(value)))
    return found


def unit_of(value: Value) -> Value:
    """The shortest beginning of which the value is a repetition. Comparing slices is quick, so every divisor is tried."""
    size = len(value)
    for unit in range(1, size // 2 + 1):
        if size % unit == 0 and value[unit : 2 * unit] == value[:unit] and value[unit:] == value[:-unit]:
            return value[:unit]
    return value
