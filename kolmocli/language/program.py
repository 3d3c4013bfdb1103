"""Programs of the language: parse text, print text, canonical form, skeleton.

A program is straight-line Python, one statement per line:

    sequence_1 = range_func_up(0, 9)
    sequence_2 = repeat_list(3, sequence_1)

A statement is one call of one function, with integer, variable, list or predicate arguments, or a bare
variable (`output = sequence_1`). The result of a program is the value of its last statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """Type of an argument."""

    INT = "int"
    REF = "variable"
    LIST = "list"
    PREDICATE = "predicate"


_INTEGER, _REF = Kind.INT, Kind.REF
SIGNATURES: dict[str, tuple[Kind, ...]] = {
    "range_func_up": (_INTEGER, _INTEGER),
    "range_func_interval": (_INTEGER, _INTEGER, _INTEGER),
    "repeat_num": (_INTEGER, _INTEGER),
    "set_list": (Kind.LIST,),
    "repeat_list": (_INTEGER, _REF),
    "reverse_list": (_REF,),
    "substitute": (_REF, _INTEGER, _INTEGER),
    "get_subsequence_with_jumps": (_REF, _INTEGER),
    "get_subsequence_between_indices": (_REF, _INTEGER, _INTEGER),
    "max_n": (_REF, _INTEGER),
    "min_n": (_REF, _INTEGER),
    "add_item_list": (_REF, _INTEGER),
    "subtract_item_list": (_REF, _INTEGER),
    "modulo_item_list": (_REF, _INTEGER),
    "scan_add": (_REF,),
    "filter": (Kind.PREDICATE, _REF),
    "concatenate": (_REF, _REF),
    "interleave": (_REF, _REF),
    "add_two_lists": (_REF, _REF),
    "subtract_two_lists": (_REF, _REF),
    "modulo_two_lists": (_REF, _REF),
}
"""The 21 functions that a statement can call, with their argument kinds. With the predicates: 24."""
PREDICATES = ("is_even", "is_odd", "is_not_zero")
INITIATORS = ("range_func_up", "range_func_interval", "repeat_num", "set_list")
FUNCTION_NAMES = (*SIGNATURES, *PREDICATES)


class ProgramError(ValueError):
    """Text that is not a program of the language; `line` counts from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line


@dataclass(frozen=True, slots=True)
class Ref:
    """The value of an earlier statement; `index` counts statements from 0."""

    index: int


Argument = int | Ref | tuple[int, ...] | str
"""An int, a Ref, a literal list, or the name of a predicate."""


@dataclass(frozen=True, slots=True)
class Call:
    function: str
    arguments: tuple[Argument, ...]

    def refs(self) -> Iterator[int]:
        return (a.index for a in self.arguments if isinstance(a, Ref))


@dataclass(frozen=True, slots=True)
class Alias:
    """`output = sequence_2`: the value of an earlier statement again."""

    ref: Ref

    def refs(self) -> Iterator[int]:
        yield self.ref.index


Statement = Call | Alias


@dataclass(frozen=True, slots=True)
class Program:
    """Statements in order. References point backwards; the names of variables are not kept."""

    statements: tuple[Statement, ...]

    def __str__(self) -> str:
        last = len(self.statements) - 1
        return "\n".join(format_statement(s, i, last=i == last) for i, s in enumerate(self.statements))

    def __len__(self) -> int:
        return len(self.statements)

    def prefix(self, statements: int) -> Program:
        """The first `statements` statements: what remains when a program is cut at a line."""
        return Program(self.statements[:statements])


_LINE = re.compile(r"(?:([A-Za-z_]\w*) *= *)?([A-Za-z_]\w*) *(\((.*)\))?")
_INT = re.compile(r"-?[0-9]+")
_NAME = re.compile(r"[A-Za-z_]\w*")
_ARGUMENT = re.compile(r"\[[^\[\]]*\]|[^,\[\]]+")
_MAX_DIGITS = 18
"""Integers are limited to 18 digits, so that every value fits a machine word in any decoder."""


class LineParser:
    """Parses one line at a time, remembering the variables: the parser of a program that still grows.

    `feed` raises `ProgramError` and leaves the state as it was, so a caller may stop at the first bad line.
    """

    def __init__(self) -> None:
        self.variables: dict[str, Ref] = {}
        self.statements: list[Statement] = []

    def feed(self, text: str) -> Statement:
        number = len(self.statements) + 1
        found = _LINE.fullmatch(text.strip(" "))
        if found is None:
            raise ProgramError(number, "expected `name = function(arguments)`")
        target, name, call, arguments = found.groups()
        statement = Alias(self._ref(name, number)) if call is None else self._call(name, arguments, number)
        if target is not None and target in FUNCTION_NAMES:
            raise ProgramError(number, f"{target} is a function and cannot be assigned")
        if target is not None:
            self.variables[target] = Ref(len(self.statements))
        self.statements.append(statement)
        return statement

    def program(self) -> Program:
        return Program(tuple(self.statements))

    def _ref(self, name: str, number: int) -> Ref:
        if name not in self.variables:
            raise ProgramError(number, f"unknown variable {name[:40]!r}")
        return self.variables[name]

    def _call(self, name: str, text: str, number: int) -> Call:
        kinds = SIGNATURES.get(name)
        if kinds is None:
            raise ProgramError(number, f"unknown function {name[:40]!r}")
        parts = [p.strip(" ") for p in _ARGUMENT.findall(text)]
        if len(parts) != len(kinds) or _ARGUMENT.sub("", text).replace(" ", "") != "," * (len(kinds) - 1):
            raise ProgramError(number, f"{name} takes {len(kinds)} argument(s)")
        return Call(name, tuple(self._argument(p, k, number) for p, k in zip(parts, kinds, strict=True)))

    def _argument(self, text: str, kind: Kind, number: int) -> Argument:
        if kind is Kind.INT:
            return _integer(text, number)
        if kind is Kind.PREDICATE:
            if text not in PREDICATES:
                raise ProgramError(number, f"filter takes one of {', '.join(PREDICATES)}")
            return text
        if kind is Kind.LIST:
            if not (text.startswith("[") and text.endswith("]")):
                raise ProgramError(number, "set_list takes a literal list")
            inside = text[1:-1].strip(" ")
            return tuple(_integer(x.strip(" "), number) for x in inside.split(",")) if inside else ()
        if not _NAME.fullmatch(text):
            raise ProgramError(number, f"expected a variable, not {text[:40]!r}")
        return self._ref(text, number)


def _integer(text: str, number: int) -> int:
    if not _INT.fullmatch(text) or len(text) > _MAX_DIGITS:
        raise ProgramError(number, f"expected an integer of at most {_MAX_DIGITS} digits, not {text[:40]!r}")
    if text.lstrip("-").startswith("0") and text != "0":
        raise ProgramError(number, f"{text[:40]!r} is not how Python writes an integer")
    return int(text)


def parse(text: str) -> Program:
    """Parse a whole program. Blank lines are skipped; an empty program is an error.

    Raises:
        ProgramError: naming the first statement that is not of the language.
    """
    parser = LineParser()
    for line in text.split("\n"):
        if line.strip(" "):
            parser.feed(line)
    if not parser.statements:
        raise ProgramError(1, "the program is empty")
    return parser.program()


def format_statement(statement: Statement, index: int, last: bool = True) -> str:
    """The statement as text; statement i assigns `sequence_{i+1}`, an alias that is the last one `output`."""
    if isinstance(statement, Alias):
        target = "output" if last else f"sequence_{index + 1}"
        return f"{target} = sequence_{statement.ref.index + 1}"
    arguments = ", ".join(_format_argument(a) for a in statement.arguments)
    return f"sequence_{index + 1} = {statement.function}({arguments})"


def _format_argument(argument: Argument) -> str:
    if isinstance(argument, Ref):
        return f"sequence_{argument.index + 1}"
    if isinstance(argument, tuple):
        return "[" + ", ".join(map(str, argument)) + "]"
    return str(argument)


def canonical(program: Program) -> Program:
    """The same result with aliases resolved and statements that it does not need dropped.

    Idempotent. The statement that makes the result is the last one.
    """
    resolved: dict[int, int] = {}
    for index, statement in enumerate(program.statements):
        resolved[index] = resolved[statement.ref.index] if isinstance(statement, Alias) else index
    needed: set[int] = set()
    stack = [resolved[len(program) - 1]]
    while stack:
        index = stack.pop()
        if index not in needed:
            needed.add(index)
            stack.extend(resolved[i] for i in program.statements[index].refs())
    renumbered = {old: Ref(new) for new, old in enumerate(sorted(needed))}
    calls: list[Statement] = []
    for old in sorted(needed):
        call = program.statements[old]
        assert isinstance(call, Call)
        arguments = tuple(renumbered[resolved[a.index]] if isinstance(a, Ref) else a for a in call.arguments)
        calls.append(Call(call.function, arguments))
    return Program(tuple(calls))
