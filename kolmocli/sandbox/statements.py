"""The statements of a program and the values they leave: the one source of the line trace.

Imports nothing of the project: the image copies this file, so that a container and the embedded worker
cannot disagree on what a statement is or which values count.
"""

from __future__ import annotations

from _ast import AnnAssign, Assign, AugAssign, Expr, Expression, Module, Name, PyCF_ONLY_AST, stmt
from types import CodeType

FILENAME = "<program>"
MODULES = (
    "base64", "binascii", "bisect", "collections", "functools", "heapq", "itertools", "math", "operator",
    "random", "re", "string", "struct", "zlib",
)  # fmt: skip
"""The importable part of the reference machine."""


class TooLong(Exception):
    """A value of the trace has more items, or an integer more digits, than the limits allow."""


def parse(source: str) -> list[stmt]:
    """The top-level statements. Raises what the compiler raises: SyntaxError, ValueError, RecursionError, MemoryError."""
    tree: Module = compile(source, FILENAME, "exec", PyCF_ONLY_AST, True, 0)  # type: ignore[assignment]
    return tree.body


def target(statement: stmt) -> str | None:
    """The name that an assignment to one single name binds, else None."""
    match statement:
        case Assign(targets=[Name(id=name)]) | AugAssign(target=Name(id=name)):
            return name
        case AnnAssign(target=Name(id=name), value=value) if value is not None:
            return name
    return None


def compiled(statement: stmt) -> CodeType:
    """Code of one statement: to `eval` for an expression statement, to `exec` for any other."""
    if type(statement) is Expr:
        return compile(Expression(statement.value), FILENAME, "eval", 0, True, 0)
    return compile(Module([statement], []), FILENAME, "exec", 0, True, 0)


def integers(value: object, max_items: int) -> list[int] | None:
    """The value as a list of integers, by exact built-in type; None when it is not a sequence of them.

    Exact types, because a subclass could lie about its items. Raises TooLong before it copies anything.
    """
    kind = type(value)
    if kind is int:
        return [value]  # type: ignore[list-item]
    if kind not in (list, tuple, range, bytes, str):
        return None
    if len(value) > max_items:  # type: ignore[arg-type]
        raise TooLong(f"a value of {len(value)} items")  # type: ignore[arg-type]
    if kind is str:
        return [ord(character) for character in value]  # type: ignore[attr-defined]
    items = list(value)  # type: ignore[call-overload]
    return items if all(type(item) is int for item in items) else None


def encode(value: object, max_items: int) -> bytes:
    """One line of the trace: a JSON list of integers, or `null`."""
    items = integers(value, max_items)
    if items is None:
        return b"null\n"
    try:
        return repr(items).encode("ascii") + b"\n"
    except ValueError as error:  # CPython refuses to print integers of more than 4,300 digits
        raise TooLong("an integer of more than 4,300 digits") from error
