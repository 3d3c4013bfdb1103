"""Values with the calls that make them: a program as a graph, before its statements have an order.

A node is a call whose variables are other nodes. A value that is needed twice is one node, referred to twice; the order of the
statements, and with it what a reference costs, is settled at the end (`order.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kolmocli.language.opcodes import kind_of
from kolmocli.language.program import SIGNATURES, Argument, Call, Kind, Program, Ref
from kolmocli.language.search.prices import constant_bits

Value = tuple[int, ...]
Constants = tuple[int | str | Value, ...]


class Making(NamedTuple):
    """Making of a value: a call, whose variables are given by their values."""

    function: str
    constants: Constants
    sources: tuple[Value, ...]
    bits: float
    """An estimate of what the call takes, without its sources."""


class Node:
    """A call. Two nodes are the same only if they are one object."""

    __slots__ = ("constants", "function", "kind", "narrow", "refs", "wide")

    def __init__(self, function: str, constants: Constants, refs: tuple[Node, ...]) -> None:
        self.function = function
        self.constants = constants
        self.refs = refs
        self.kind = kind_of(function)
        self.narrow, self.wide = constant_bits(function, constants)
        """Bits of the constants in the short and in the wide form; -1: there is no short form."""


Chain = list[tuple[str, Node]]
"""Values and the functions that merge them, each with all before it; the first function means nothing."""


def merged(chain: Chain) -> Node:
    """The node of the whole chain."""
    whole = chain[0][1]
    for function, node in chain[1:]:
        whole = Node(function, (), (whole, node))
    return whole


def needed(root: Node) -> list[Node]:
    """Every node that the root needs, each once, what a node needs before itself, from left to right; the root last."""
    done: dict[int, Node] = {}
    stack = [root]
    while stack:
        node = stack[-1]
        for below in node.refs:
            if id(below) not in done:
                stack.append(below)
                break
        else:
            done[id(node)] = node
            stack.pop()
    return list(done.values())


def program_of(nodes: Iterable[Node]) -> Program:
    """The program whose statements are these nodes, in this order."""
    places: dict[int, int] = {}
    calls: list[Call] = []
    for node in nodes:
        constants, refs = iter(node.constants), iter(node.refs)
        arguments: list[Argument] = [
            Ref(places[id(next(refs))]) if kind is Kind.REF else next(constants) for kind in SIGNATURES[node.function]
        ]
        places[id(node)] = len(calls)
        calls.append(Call(node.function, tuple(arguments)))
    return Program(tuple(calls))
