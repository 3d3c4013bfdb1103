"""Values with the calls that make them: a program as a graph, before its statements have an order.

A node is a call whose variables are other nodes, together with its value. Whoever needs a value twice refers to one node
twice; the order of the statements, and with it what a reference costs, is settled at the end (`order.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kolmocli.language import functions
from kolmocli.language.opcodes import kind_of
from kolmocli.language.program import Argument, Call, Program, Ref
from kolmocli.language.search.prices import constant_bits

Value = tuple[int, ...]
Operand = "int | Value | str | Node"

_FUNCTIONS: dict[str, Any] = vars(functions)


class Node:
    """A call and its value. Immutable; two nodes are the same only if they are one object."""

    __slots__ = ("arguments", "function", "kind", "narrow", "refs", "value", "wide")

    def __init__(self, function: str, *arguments: Any, value: Value | None = None) -> None:
        self.function = function
        self.arguments = arguments
        self.refs: tuple[Node, ...] = tuple(a for a in arguments if isinstance(a, Node))
        self.kind = kind_of(function)
        self.narrow, self.wide = constant_bits(function, [a for a in arguments if not isinstance(a, Node)])
        """Bits of the constants in the short and in the wide form; -1: there is no short form."""
        if value is None:
            value = tuple(_FUNCTIONS[function](*(_plain(a) for a in arguments)))
        self.value = value

    def __repr__(self) -> str:
        return f"{self.function}({', '.join(map(repr, self.arguments))})"


def _plain(argument: Any) -> Any:
    if isinstance(argument, Node):
        return list(argument.value)
    return _FUNCTIONS[argument] if isinstance(argument, str) else argument


def needed(root: Node) -> list[Node]:
    """Every node that the root needs, each once, what a node needs before itself, from left to right; the root last."""
    done: dict[int, Node] = {}
    stack: list[tuple[Node, Iterator[Node]]] = [(root, iter(root.refs))]
    while stack:
        node, rest = stack[-1]
        below = next((n for n in rest if id(n) not in done), None)
        if below is None:
            done[id(node)] = node
            stack.pop()
        else:
            stack.append((below, iter(below.refs)))
    return list(done.values())


def program_of(nodes: Iterable[Node]) -> Program:
    """The program whose statements are these nodes, in this order."""
    places: dict[int, int] = {}
    calls = []
    for node in nodes:
        arguments: list[Argument] = [Ref(places[id(a)]) if isinstance(a, Node) else a for a in node.arguments]
        places[id(node)] = len(calls)
        calls.append(Call(node.function, tuple(arguments)))
    return Program(tuple(calls))
