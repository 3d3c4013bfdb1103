"""Parts of a program that the embedded interpreter has to know before it runs it.

Nothing here runs anything.
"""

from __future__ import annotations

import ast
from collections.abc import Container

from kolmocli.sandbox.wire import statements

_STRAIGHT = (
    ast.Assign, ast.Expr, ast.Name, ast.Load, ast.Store, ast.Call, ast.Constant, ast.List, ast.Tuple,
    ast.UnaryOp, ast.USub, ast.BinOp, ast.Add, ast.Sub, ast.Mult,
)  # fmt: skip


def parse(payload: bytes) -> tuple[str, list[ast.stmt]]:
    """The text of a program and its statements, each of which compiles. Raises what the compiler raises."""
    source = payload.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    body = statements.parse(source)
    for statement in body:
        statements.compiled(statement)
    return source, body


def texts(source: str, body: list[ast.stmt]) -> list[str]:
    """The source of each statement, decorators included."""
    lines = [line.encode() for line in source.split("\n")]
    found = []
    for statement in body:
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(d.lineno for d in decorators)]) - 1
        start = 0 if decorators else statement.col_offset
        last, end = (statement.end_lineno or 1) - 1, statement.end_col_offset
        part = lines[first : last + 1]
        if first == last:  # in one go: a line may hold very many statements
            part = [part[0][start:end]]
        else:
            part[0], part[-1] = part[0][start:], part[-1][:end]
        found.append(b"\n".join(part).decode())
    return found


def bound(body: list[ast.stmt]) -> set[str]:
    """Every name that the program binds anywhere, parameters aside."""
    names: set[str] = set()
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.alias):
                names.add((node.asname or node.name).partition(".")[0])
    return names


def is_straight(body: list[ast.stmt], functions: Container[str]) -> bool:
    """Calls of the language's functions and nothing else: no value can change after its statement."""
    for statement in body:
        name = statements.target(statement)
        if name and (name in functions or name.startswith("_")):
            return False
        for node in ast.walk(statement):
            if type(node) not in _STRAIGHT:
                return False
            if type(node) is ast.Call and getattr(node.func, "id", None) not in functions:
                return False
            if type(node) is ast.Constant and type(node.value) is not int:
                return False
    return True
