"""Tests that can be read without being run: asserts of calls of literals, compared with literals.

Most tests of HumanEval's and MBPP's shape are nothing else. They take no tester then, and work in sandboxes that could not
run one. Their values are those that the tester would find.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from kolmocli.errors import UsageError
from kolmocli.sandbox.base import Call
from kolmocli.tasks.code.checks import Check, Checks


class _Other(Exception):
    """There is more to these tests."""


def read_checks(tree: ast.Module, functions: Sequence[str]) -> Checks | None:
    """The checks that these tests are of the functions; None when they have to be run."""
    names = {name: name for name in functions}
    for read in (_checks, _tabled):
        try:
            checks = list(read(tree.body, names))
        except _Other:
            continue
        if checks:
            return Checks(tuple(checks))
    return None


def _tabled(body: Sequence[ast.stmt], names: dict[str, str]) -> Iterator[Check]:
    """Tests of EvalPlus: lists of `inputs` and `results`, and a loop that compares them, in a function `check` or outside.
    What they define for that, with numpy, is the relation `near`, which is ours.

        for i, (inp, exp) in enumerate(zip(inputs, results)):
            assertion(f(*inp), exp, 1e-6)
    """
    tables: dict[str, list[Any]] = {}
    inner: dict[str, ast.FunctionDef] = {}
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="inputs" | "results" as name)], value=value):
                tables[name] = _literal(_Infinite().visit(value))
            case ast.FunctionDef(name="check", args=ast.arguments(args=[_])):
                inner["check"] = statement
            case ast.Expr(value=ast.Call(func=ast.Name(id="check"), args=[ast.Name(id=function)])) if (
                "check" in inner and function in names
            ):
                check = inner["check"]
                yield from _tabled(check.body, {check.args.args[0].arg: names[function]})
            case ast.For(
                iter=ast.Call(func=ast.Name(id="enumerate"), args=[ast.Call(func=ast.Name(id="zip"))]),
                body=[ast.Expr(value=ast.Call(func=ast.Name(id="assertion"), args=[call, ast.Name(), tolerance]))],
            ):
                yield from _rows(call, tables, _literal(tolerance), names)
            case ast.Import() | ast.ImportFrom() | ast.FunctionDef(name="assertion" | "is_floats" | "is_float"):
                pass
            case _ if not tables and not any(isinstance(node, ast.Assert | ast.For) for node in ast.walk(statement)):
                pass
            case _:
                raise _Other


def _rows(call: ast.expr, tables: dict[str, list[Any]], tolerance: Any, names: dict[str, str]) -> Iterator[Check]:
    inputs, results = tables.get("inputs"), tables.get("results")
    match call:
        case ast.Call(func=ast.Name(id=function), args=[ast.Starred()], keywords=[]) if function in names:
            pass
        case _:
            raise _Other
    if not isinstance(inputs, list) or not isinstance(results, list) or len(inputs) != len(results):
        raise _Other
    for given, wanted in zip(inputs, results, strict=True):
        try:
            yield Check(Call.of(names[function], *given), wanted, "near", float(tolerance))
        except (UsageError, TypeError):
            raise _Other from None


def _checks(body: Sequence[ast.stmt], names: dict[str, str]) -> Iterator[Check]:
    """`names` are those of functions of the program, and what they are called in there."""
    inner: dict[str, ast.FunctionDef] = {}
    for statement in body:
        match statement:
            case ast.Assert(test=ast.Constant(value=True)) | ast.Pass() | ast.Expr(value=ast.Constant()):
                pass
            case ast.Assert(test=test):
                yield _check(test, names)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in names:
                _literal(value)  # of no use to the asserts, which have nothing but literals and calls
            case ast.FunctionDef(name=name, args=ast.arguments(posonlyargs=[], args=[_], kwonlyargs=[], defaults=[])):
                inner[name] = statement
            case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=[ast.Name(id=function)], keywords=[])) if (
                name in inner and function in names
            ):
                yield from _checks(inner[name].body, {inner[name].args.args[0].arg: names[function]})
            case _:
                raise _Other


def _check(test: ast.expr, names: dict[str, str]) -> Check:
    match test:
        case ast.Compare(left=ast.Call() as call, ops=[ast.Eq()], comparators=[expected]):
            return Check(_call(call, names), _literal(expected))
        case ast.Compare(left=expected, ops=[ast.Eq()], comparators=[ast.Call() as call]):
            return Check(_call(call, names), _literal(expected))
        case ast.Compare(
            left=ast.Call() as call, ops=[ast.Is()], comparators=[ast.Constant(None | bool() as expected)]
        ):
            return Check(_call(call, names), expected, "is")
        case ast.UnaryOp(op=ast.Not(), operand=ast.Call() as call):
            return Check(_call(call, names), relation="false")
        case ast.Call():
            return Check(_call(test, names), relation="true")
    raise _Other


def _call(node: ast.Call, names: dict[str, str]) -> Call:
    if not isinstance(node.func, ast.Name) or node.func.id not in names or any(k.arg is None for k in node.keywords):
        raise _Other
    try:
        return Call.of(
            names[node.func.id], *map(_literal, node.args), **{str(k.arg): _literal(k.value) for k in node.keywords}
        )
    except UsageError:
        raise _Other from None


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise _Other from None


class _Infinite(ast.NodeTransformer):
    """`inf` and `-inf` in lists of results are numbers too large to write otherwise."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(float(node.id)) if node.id in ("inf", "nan") else node
