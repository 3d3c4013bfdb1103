"""Tests that would do something else each time: they run several times for one program (`asserts.py`), and in another process than it.

random.seed(7)                becomes    random.seed(7)
                                         _seed_of_tests(7)
time.time()                              __bench__.clock()
datetime.now(tz)                         datetime.fromtimestamp(__bench__.clock(), tz)
os.urandom(8)                            __bench__.drawn(8)

So the program draws from the same numbers after a seed as it would in their process. The clock of the tests stands still in each run,
and once calls are found to depend on it, in all of them.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from kolmocli.tasks.code.imports import path_of
from kolmocli.tasks.code.rewriting import on_bench
from kolmocli.tasks.code.tester import SEED

BELOW = f"\n\ndef {SEED}(*given):\n    __import__('random').seed(*given)\n"
"""What stands below the program for a seed."""
_CLOCKS = {
    "datetime.datetime.now": "fromtimestamp", "datetime.datetime.today": "fromtimestamp", "datetime.date.today": "fromtimestamp",
    "datetime.datetime.utcnow": "utcfromtimestamp",
}  # fmt: skip
"""What tells the time, and what makes the same of a time."""


def repeatable(tree: ast.Module, names: Mapping[str, str], draws: bool) -> ast.Module:
    """The tests, in which these names are of the library (`files.py`). Seeds reach a program that draws."""
    return ast.fix_missing_locations(_Repeatable(names, draws).visit(tree))


def is_seeded(tree: ast.AST) -> bool:
    return any(isinstance(node, ast.Name) and node.id == SEED for node in ast.walk(tree))


class _Repeatable(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str], draws: bool) -> None:
        self._names, self._draws = names, draws

    def visit_Expr(self, node: ast.Expr) -> ast.stmt | list[ast.stmt]:
        self.generic_visit(node)
        match node.value:
            case ast.Call(called, given, []) if self._draws and path_of(called, self._names) == "random.seed":
                return [node, ast.Expr(ast.Call(ast.Name(SEED, ast.Load()), given, []))]
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        path = path_of(node.func, self._names)
        match node:
            case ast.Call(args=[]) if path == "time.time":
                return on_bench("clock")
            case ast.Call(args=[size]) if path == "os.urandom":
                return on_bench("drawn", size)
            case ast.Call(ast.Attribute(owner)) if path in _CLOCKS:
                made = ast.Attribute(owner, _CLOCKS[path], ast.Load())
                return ast.Call(made, [on_bench("clock"), *node.args], node.keywords)
        return node
