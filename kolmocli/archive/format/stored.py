"""Programs as an archive keeps them: those of the language, but a literal list may say where its items are.

Each program's result is appended to the output. A `set_list` may take its items from four places:
written in the program (a tuple), fresh from the residual (`Fresh`), from what was output before (`Earlier`), or by a
`Recurrence`. Apart from that a stored program is a program of the language and is run by its interpreter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kolmocli.archive.format.recurrences import Recurrence
from kolmocli.language.program import Call, Program, Ref


@dataclass(frozen=True, slots=True)
class Fresh:
    """The next `count` items of the residual."""

    count: int


@dataclass(frozen=True, slots=True)
class Earlier:
    """`count` items of the output, from `distance` before its end on; they may run into the new items themselves."""

    distance: int
    count: int


@dataclass(frozen=True, slots=True)
class StoredCall:
    """A call whose literal list may be a source. `refs` counts statements from 0, like `Ref`."""

    function: str
    arguments: tuple[int | Ref | str | tuple[int, ...] | Fresh | Earlier | Recurrence, ...]

    def refs(self) -> list[int]:
        return [a.index for a in self.arguments if isinstance(a, Ref)]


Stored = tuple[StoredCall, ...]


def stored(program: Program) -> Stored:
    """A program of the language in the form that the stream keeps; its literals are in the program."""
    calls = []
    for statement in program.statements:
        if not isinstance(statement, Call):
            raise ValueError("a stored program has no alias: take its canonical form")
        arguments = statement.arguments
        if statement.function == "range_func_interval":  # the stream keeps start, step and count
            start, stop, step = (int(a) for a in arguments if isinstance(a, int))
            arguments = (start, start + step * len(range(start, stop, step)), step)
        calls.append(StoredCall(statement.function, arguments))
    return tuple(calls)


def resolve(program: Stored, output: Sequence[int], fresh: Sequence[int]) -> Program:
    """The program of the language: sources replaced by their items. `fresh` holds those of all its `Fresh`."""
    position = 0
    calls = []
    for call in program:
        source = call.arguments[0] if call.arguments else None
        if isinstance(source, Fresh):
            items = tuple(fresh[position : position + source.count])
            position += source.count
            calls.append(Call("set_list", (items,)))
        elif isinstance(source, Earlier):
            calls.append(Call("set_list", (earlier_items(source, output),)))
        elif isinstance(source, Recurrence):
            calls.append(Call("set_list", (source.items(),)))
        else:
            calls.append(Call(call.function, call.arguments))  # type: ignore[arg-type]
    return Program(tuple(calls))


def earlier_items(source: Earlier, output: Sequence[int]) -> tuple[int, ...]:
    start = len(output) - source.distance
    if not 0 <= start < len(output):
        raise ValueError("an earlier item lies before the beginning")
    items = tuple(output[start : start + source.count])
    if len(items) < source.count:  # it runs into itself: a period
        items = (items * (source.count // len(items) + 1))[: source.count]
    return items
