"""Programs for the sequence that somebody else has found: what a search can learn from them."""

from __future__ import annotations

from kolmocli.language.interpreter import ExecutionError, execute
from kolmocli.language.program import Alias, Call, Program, Ref, canonical
from kolmocli.language.search.nodes import Constants, Node, Value
from kolmocli.language.search.strands import Strand, Weave


def reaching(program: Program, value: Value) -> Program | None:
    """The program as far as the first statement that makes the value, in canonical form; None if none does."""
    try:
        values = execute(program)
    except ExecutionError as error:
        values = error.values
    hit = next((i for i, made in enumerate(values) if tuple(made) == value), None)
    return None if hit is None else canonical(program.prefix(hit + 1))


def node_of(program: Program) -> Node:
    """The graph of a canonical program: the node of its last statement."""
    nodes: list[Node] = []
    for statement in program.statements:
        assert isinstance(statement, Call)
        constants: Constants = tuple(a for a in statement.arguments if not isinstance(a, Ref))
        nodes.append(Node(statement.function, constants, tuple(nodes[i] for i in statement.refs())))
    return nodes[-1]


def values_of(program: Program) -> list[Value]:
    """Values of its statements, each once."""
    return list(dict.fromkeys(tuple(value) for value in execute(program)))


def weave_of(program: Program) -> Weave:
    """The weave by which the program takes its own value apart: the merges that end it, undone from the last to the first."""
    values = [tuple(value) for value in execute(program)]
    at, parts = len(program) - 1, list[tuple[str, Value]]()
    while True:
        statement = program.statements[at]
        assert not isinstance(statement, Alias)
        if statement.function not in ("concatenate", "interleave"):
            break
        rest, part = statement.refs()
        parts.append((statement.function, values[part]))
        at = rest
    strands = [Strand(values[at], False)]
    for function, value in reversed(parts):
        if function == "interleave":
            strands.append(Strand(value, True))
        elif strands[-1].woven:
            strands.append(Strand(value, False))
        else:
            strands[-1] = Strand(strands[-1].items + value, False)
    return tuple(strands)
