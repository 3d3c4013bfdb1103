"""A total interpreter of the language: every program ends, within stated steps, sizes and magnitudes.

It never uses exec and never recurses, so programs from strangers may be run in this process: it is
the whole decoder of an archive. Where no limit is met its values are those of CPython running the same text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kolmocli.language import functions
from kolmocli.language.program import PREDICATES, SIGNATURES, Alias, Call, Program, Ref

_FUNCTIONS: dict[str, Callable[..., list[int]]] = {name: getattr(functions, name) for name in SIGNATURES}
_PREDICATES: dict[str, Callable[[int], bool]] = {name: getattr(functions, name) for name in PREDICATES}


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of one program. The defaults hold every sampled program many times over."""

    statements: int = 256
    items: int = 1 << 20
    """Items of all values together, counted before they are made."""
    magnitude: int = 1 << 63
    """Every integer is below this in absolute value, so that a decoder in any language needs 64 bits."""


class ExecutionError(Exception):
    """A program that has no value: a limit was met or an argument makes no sense.

    `statement` counts from 0; `values` are those of the statements before it.
    """

    def __init__(self, statement: int, reason: str, values: list[list[int]]) -> None:
        super().__init__(f"statement {statement + 1}: {reason}")
        self.statement = statement
        self.values = values


DEFAULT_BOUNDS = Bounds()


def execute(program: Program, bounds: Bounds = DEFAULT_BOUNDS) -> list[list[int]]:
    """The value after every statement; the last one is the result.

    Raises:
        ExecutionError: with the values so far, when a limit is met or a call fails.
    """
    values: list[list[int]] = []
    spent = 0
    for index, statement in enumerate(program.statements):
        if index >= bounds.statements:
            raise ExecutionError(index, f"more than {bounds.statements} statements", values)
        if isinstance(statement, Alias):
            values.append(values[statement.ref.index])
            continue
        arguments = [_resolve(a, values) for a in statement.arguments]
        spent += _items(statement, arguments)
        if spent > bounds.items:
            raise ExecutionError(index, f"more than {bounds.items} items", values)
        try:
            value = _FUNCTIONS[statement.function](*arguments)
        except (ValueError, ZeroDivisionError) as error:
            raise ExecutionError(index, str(error), values) from None
        if value and (max(value) >= bounds.magnitude or min(value) <= -bounds.magnitude):
            raise ExecutionError(index, "an integer is too large", values)
        values.append(value)
    return values


def evaluate(program: Program, bounds: Bounds = DEFAULT_BOUNDS) -> list[int]:
    """The result of the program: `execute(program)[-1]`."""
    return execute(program, bounds)[-1]


def _resolve(argument: Any, values: list[list[int]]) -> Any:
    if isinstance(argument, Ref):
        return values[argument.index]
    if isinstance(argument, str):
        return _PREDICATES[argument]
    return argument


def _items(call: Call, arguments: list[Any]) -> int:
    """An upper bound on the items that the call makes, from its arguments alone (each at least 1)."""
    match call.function:
        case "range_func_up":
            return 1 + max(0, arguments[1] + 1 - arguments[0])
        case "range_func_interval":
            start, stop, step = arguments
            return 1 + (max(0, -((start - stop) // step)) if step else 0)
        case "repeat_num":
            return 1 + max(0, arguments[0])
        case "repeat_list":
            return 1 + max(0, arguments[0]) * len(arguments[1])
        case _:
            return 1 + sum(len(a) for a in arguments if isinstance(a, (list, tuple)))
