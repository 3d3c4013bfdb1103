"""Find the functions of a program that its tests call."""

from __future__ import annotations

import ast
import builtins

from kolmocli.tasks.code.apart import AWAITED
from kolmocli.tasks.code.tester import BENCH, SEED


def called_functions(tree: ast.Module, setup: str, reference: str, asked: str | None = None) -> dict[str, str]:
    """The functions that the tests call and do not define, each with its first call, as it is written. One that the
    reference defines, or that is `asked` for, may be called as a builtin is.

    Raises ValueError when the setup does not compile.
    """
    known = {*dir(builtins), *bound(tree), *bound(parsed(setup))}.difference([*defined(reference), asked])
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Attribute(ast.Name(bench), "changing"), [ast.Name(name) as called, *given], by_name) if (
                bench == BENCH
            ):
                found.setdefault(name, ast.unparse(ast.Call(called, given, by_name)))
            case ast.Call(ast.Attribute(ast.Name(bench), "decorated"), [ast.Name(name), *_]) if bench == BENCH:
                found.setdefault(name, ast.unparse(ast.Call(node.args[0], node.args[1:], [])))
            case ast.Call(ast.Name(awaited), given) if awaited == AWAITED:
                match given:
                    case [ast.Name(name) as called, *rest]:
                        found.setdefault(name, ast.unparse(ast.Call(called, rest, node.keywords)))
            case ast.Call(func=ast.Name(id=name)) if name not in known and name != SEED:
                found.setdefault(name, ast.unparse(node))
    return {name: called for name, called in found.items() if name not in known}


def given_to_check(tree: ast.Module) -> str | None:
    """Name of the program's function in the asserts, where they are in a function `check` that takes it and that nothing
    calls; else None."""
    for node in tree.body:
        match node:
            case ast.FunctionDef(name="check", args=ast.arguments(args=[ast.arg(arg=name)])) if not is_used(
                "check", tree
            ):
                return name
    return None


def called_by_name(tree: ast.Module, name: str) -> ast.Module:
    """The asserts of a function `check` with the name of what it would be given, and a call of it."""
    given = given_to_check(tree)
    if given is None:
        return tree
    check = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "check")
    check.args.args = []
    for node in ast.walk(check):
        if isinstance(node, ast.Name) and node.id == given:
            node.id = name
    tree.body += ast.parse("check()").body
    return tree


def is_used(name: str, tree: ast.Module) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(tree))


def defined(code: str) -> list[str]:
    """The functions and classes that a text defines, if it is code; else none."""
    return [
        node.name for node in top_level(code) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]


def top_level(code: str) -> list[ast.stmt]:
    """The statements of a text, if it is code; else none."""
    try:
        return ast.parse(code).body
    except (SyntaxError, ValueError):
        return []


def assigned(code: str) -> list[str]:
    """The names that a text gives a value, if it is code: `NORTH, EAST = range(2)`."""
    stored = [
        node for each in top_level(code) if isinstance(each, ast.Assign | ast.AnnAssign) for node in ast.walk(each)
    ]
    return [node.id for node in stored if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]


def parsed(setup: str) -> ast.Module:
    try:
        return ast.parse(setup)
    except (SyntaxError, ValueError) as error:
        words = f"line {error.lineno}: {error.msg}" if isinstance(error, SyntaxError) else str(error)
        raise ValueError(f"`test_setup_code` does not compile: {words}") from None


def free(tree: ast.Module) -> set[str]:
    """Names that the code uses and does not give a meaning."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - bound(tree) - {*dir(builtins)}


def bound(tree: ast.Module) -> set[str]:
    """All names that the code gives a meaning, wherever it does."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.alias(name=name, asname=other):
                found.add(other or name.partition(".")[0])
    return found
