"""Tests that await, as tests that do not: what they await of a program, its loop runs to the end (`keeper.py`).

async def test_f():                      def test_f():
    assert await f(3) == 4                   assert _awaited(f, 3) == 4
    assert await room.enter() == 1           assert _awaited("enter", room) == 1
    await asyncio.sleep(0)                   _awaited("asyncio.sleep", 0)
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import count

from kolmocli.tasks.code.apart import AWAITED

_TO_THE_END = ("run", "run_until_complete")
_STARTED = ("create_task", "ensure_future", "gather", "shield")
"""What asyncio begins in a running loop."""
_SETUPS = {"asyncSetUp": "setUp", "asyncTearDown": "tearDown"}
_ASYNC = ast.AsyncFunctionDef | ast.Await | ast.AsyncFor | ast.AsyncWith


def synchronous(tree: ast.Module) -> ast.Module:
    """Raises ValueError for what only a loop of the tests' own can run."""
    nodes = [*ast.walk(tree)]
    if not any(
        isinstance(node, _ASYNC) or (isinstance(node, ast.Attribute) and node.attr in _TO_THE_END) for node in nodes
    ):
        return tree
    coroutines = [node for node in nodes if isinstance(node, ast.AsyncFunctionDef)]
    own = {node.name for node in coroutines if not any("fixture" in ast.unparse(each) for each in node.decorator_list)}
    imports = [alias for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    known = {"asyncio": "", **{alias.asname: "" for alias in imports if alias.name == "asyncio" and alias.asname}}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module == "asyncio":
            known |= {alias.asname or alias.name: alias.name for alias in node.names}
    return ast.fix_missing_locations(_Synchronous(own, known).visit(tree))


class _Synchronous(ast.NodeTransformer):
    def __init__(self, own: set[str], known: dict[str, str]) -> None:
        """`own` are the tests' coroutines; `known`, what asyncio and its parts are called: "" is the module."""
        self._own, self._known, self._numbers = own, known, count(1)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        self.generic_visit(node)
        plain = {name: getattr(node, name) for name in node._fields}
        return ast.copy_location(ast.FunctionDef(**plain | {"name": _SETUPS.get(node.name, node.name)}), node)

    def visit_Await(self, node: ast.Await) -> ast.expr:
        return self._awaited(node.value)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if self._runs(node):
            return self._awaited(node.args[0])
        part = self._part(node.func)
        self.generic_visit(node)
        return _awaiting(f"started.{part}", *node.args, keywords=node.keywords) if part in _STARTED else node

    def _runs(self, node: ast.Call) -> bool:
        return bool(node.args) and (
            self._part(node.func) == "run"
            or (isinstance(node.func, ast.Attribute) and node.func.attr == _TO_THE_END[1])
        )

    def _part(self, called: ast.expr) -> str | None:
        """The part of asyncio that this is."""
        match called:
            case ast.Attribute(ast.Name(name), part) if self._known.get(name) == "":
                return part
            case ast.Name(name):
                return self._known.get(name)
        return None

    def _awaited(self, node: ast.expr) -> ast.expr:
        if not isinstance(node, ast.Call):
            return _awaiting(None, self.visit(node))
        if self._is_own(node.func):
            node.args, node.keywords = [*map(self.visit, node.args)], [*map(self.visit, node.keywords)]
            return node
        part = self._part(node.func)
        self.generic_visit(node)
        match node.func:
            case _ if part:
                return _awaiting(f"asyncio.{part}", *node.args, keywords=node.keywords)
            case ast.Name(name) if name != AWAITED:
                return ast.Call(ast.Name(AWAITED, ast.Load()), [node.func, *node.args], node.keywords)
            case ast.Attribute(owner, name):
                return _awaiting(name, owner, *node.args, keywords=node.keywords)
        return _awaiting(None, node)

    def _is_own(self, called: ast.expr) -> bool:
        match called:
            case ast.Name(name) | ast.Attribute(ast.Name("self" | "cls"), name):
                return name in self._own
        return False

    def _refuse_own(self, node: ast.Name | ast.Attribute) -> ast.expr:
        """One that is handed on, or runs beside others, would have to be a coroutine."""
        if isinstance(node.ctx, ast.Load) and self._is_own(node):
            raise ValueError(f"the tests do not await their own {ast.unparse(node)} where it stands, which is not read")
        return self.generic_visit(node)  # type: ignore[return-value]

    visit_Name = visit_Attribute = _refuse_own

    def visit_AsyncFor(self, node: ast.AsyncFor) -> ast.stmt:
        made = ast.For(self.visit(node.target), self._listed(node.iter), [], [])
        made.body, made.orelse = ([self.visit(each) for each in part] for part in (node.body, node.orelse))
        return self._flat(made)

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        listed = self._listed(node.iter) if node.is_async else self.visit(node.iter)
        return ast.comprehension(self.visit(node.target), listed, [*map(self.visit, node.ifs)], 0)

    def _listed(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Call) and self._is_own(node.func):
            return self._awaited(node)
        return _awaiting("async for", self.visit(node))

    def visit_AsyncWith(self, node: ast.AsyncWith) -> list[ast.stmt]:
        item, *rest = node.items
        if isinstance(item.context_expr, ast.Call) and (part := self._part(item.context_expr.func)):
            raise ValueError(f"the tests use asyncio.{part} in `async with`, which is not read")
        inner: list[ast.stmt] = [ast.AsyncWith(rest, node.body)] if rest else node.body
        body = ast.Module([*inner], [])
        self.generic_visit(body)
        name = f"_entered_{next(self._numbers)}"
        entered = _awaiting("__aenter__", ast.Name(name, ast.Load()))
        nothing = [ast.Constant(None) for _ in range(3)]
        return [
            ast.Assign([ast.Name(name, ast.Store())], self.visit(item.context_expr)),
            ast.Assign([item.optional_vars], entered) if item.optional_vars else ast.Expr(entered),
            ast.Try(body.body, [], [], [ast.Expr(_awaiting("__aexit__", ast.Name(name, ast.Load()), *nothing))]),
        ]

    def _flat(self, node: ast.For) -> ast.stmt:
        for part in (node.body, node.orelse):
            part[:] = [each for made in part for each in (made if isinstance(made, list) else [made])]
        return node


def _awaiting(what: str | None, *given: ast.expr, keywords: Sequence[ast.keyword] = ()) -> ast.Call:
    return ast.Call(ast.Name(AWAITED, ast.Load()), [ast.Constant(what), *given], [*keywords])
