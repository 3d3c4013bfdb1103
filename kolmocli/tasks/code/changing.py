"""Calls of tests after which they look at what they gave: a program may have changed it in place."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection

from kolmocli.tasks.code import apart
from kolmocli.tasks.code.lent import source_of
from kolmocli.tasks.code.looks import looked_after
from kolmocli.tasks.code.rewriting import on_bench
from kolmocli.tasks.code.tester import BENCH

_OF_DICTS = frozenset({"Counter", "OrderedDict", "defaultdict", "most_common"})
"""What only a dict of another type has, or is."""
_OF_ANY_ERROR = ("args", "with_traceback", "__class__", "__str__")


class Changing(ast.NodeTransformer):
    """Such calls go through the bench. `found` says whether there is one, or a value that is no plain one."""

    def __init__(self, tree: ast.AST, own: Collection[str], methods: bool) -> None:
        """`own` are the names that are none of the program's functions; `methods`: tests keep objects, of which they call some."""
        self.found = any(_is_taken_apart(node) or _is_of_bench(node) for node in ast.walk(tree)) or _asks_errors(tree)
        self._own, self._methods, self._calls = own, methods, looked_after(tree)
        self.sources: dict[ast.AST, str | None] = {}
        """Of functions, as they were before: a program that is given one has no bench."""

    def _is_of_program(self, node: ast.Call) -> bool:
        return isinstance(node.func, ast.Name) and node.func.id not in self._own

    def visit_Call(self, node: ast.Call) -> ast.expr:
        is_looked_after, of_program = node in self._calls, self._is_of_program(node)
        self.generic_visit(node)
        self.found |= of_program and any(map(_is_type, [*node.args, *(key.value for key in node.keywords)]))
        if is_looked_after and of_program:
            self.found = True
            return on_bench("changing", node.func, *node.args, keywords=node.keywords)
        if is_looked_after and self._methods and isinstance(node.func, ast.Attribute):
            owner, name = node.func.value, ast.Constant(node.func.attr)
            return on_bench("changing_by", owner, name, *node.args, keywords=node.keywords)
        return node

    def _noted(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> ast.AST:
        self.sources[node] = source_of(node)
        return self.generic_visit(node)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _noted

    def visit_withitem(self, node: ast.withitem) -> ast.withitem:
        match node.context_expr:
            case ast.Call(ast.Name("redirect_stdout") | ast.Attribute(_, "redirect_stdout"), [stream], []):
                node.context_expr, self.found = on_bench("redirected", stream), True
        self.generic_visit(node)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | list[ast.stmt]:
        self.generic_visit(node)
        kept = [target for target in node.targets if ast.unparse(target) != "sys.stdout"]
        if len(kept) == len(node.targets):
            return node
        self.found = True
        redirected: ast.stmt = ast.Expr(on_bench("redirect", kept[0] if kept else node.value))
        return [ast.Assign(kept, node.value), redirected] if kept else redirected


def _asks_errors(tree: ast.AST) -> bool:
    """Whether an exception is asked for more than what it says: `error.code`, `caught.value.code`."""
    nodes = [*ast.walk(tree)]
    errors = {node.name for node in nodes if isinstance(node, ast.ExceptHandler)}
    caught = {name for node in nodes for name in _catching(node)}
    for node in nodes:
        match node:
            case ast.Attribute(ast.Name(name), attribute) if name in errors and attribute not in _OF_ANY_ERROR:
                return True
            case ast.Attribute(ast.Attribute(ast.Name(name), "value" | "exception"), attribute) if (
                name in caught and attribute not in _OF_ANY_ERROR
            ):
                return True
    return False


def _catching(node: ast.AST) -> list[str]:
    """The names of what holds an exception that the tests expect (`frameworks.py`)."""
    match node:
        case ast.Assign(targets, ast.Call(ast.Name("_Caught"))):
            return [target.id for target in targets if isinstance(target, ast.Name)]
    return []


def _is_type(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and isinstance(getattr(builtins, node.id, None), type)


def _is_of_bench(node: ast.AST) -> bool:
    """Whether this is what a fixture for output became (`collected.py`), a patch (`mocks.py`), a file (`files.py`), or something awaited."""
    match node:
        case ast.Attribute(ast.Name(bench), "printed" | "patch" | "files"):
            return bench == BENCH
        case ast.Name(name):
            return name == apart.AWAITED
    return False


def _is_taken_apart(node: ast.AST) -> bool:
    """Whether this is a value that is no plain one, and that `apart.py` takes apart."""
    match node:
        case ast.Call(ast.Name(name) | ast.Attribute(attr=name)):
            return name in apart.MADE
        case ast.Name(name) | ast.Attribute(attr=name):
            return name in _OF_DICTS
    return False
