"""Tests that await, as tests that do not: what they await of a program, its loop runs to the end (`keeper.py`).

async def test_f():                      def test_f():
    assert await f(3) == 4                   assert _awaited(f, 3) == 4
    assert await room.enter() == 1           assert _awaited("enter", room) == 1
    await asyncio.sleep(0)                   _awaited("asyncio.sleep", 0)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import count

from kolmocli.tasks.code.apart import AWAITED
from kolmocli.tasks.code.looping import WITHIN, WITHOUT

_STARTED = ("create_task", "ensure_future", "gather", "shield")
"""What asyncio begins in a running loop."""
_SETUPS = {"asyncSetUp": "setUp", "asyncTearDown": "tearDown"}
_ASYNC = ast.AsyncFunctionDef | ast.Await | ast.AsyncFor | ast.AsyncWith


def synchronous(tree: ast.Module) -> ast.Module:
    """Raises ValueError for what only a loop of the tests' own can run."""
    nodes = [*ast.walk(tree)]
    change = _Synchronous(_known(nodes))
    if any(isinstance(node, ast.Name) and node.id == AWAITED for node in nodes) or not any(map(change.awaits, nodes)):
        return tree
    change.find(nodes)
    return ast.fix_missing_locations(change.visit(tree))


def _known(nodes: Sequence[ast.AST]) -> dict[str, str]:
    """What asyncio and its parts are called: "" is the module."""
    found = {"asyncio": ""}
    for node in nodes:
        match node:
            case ast.Import(names):
                found |= {alias.asname: "" for alias in names if alias.name == "asyncio" and alias.asname}
            case ast.ImportFrom("asyncio", names):
                found |= {alias.asname or alias.name: alias.name for alias in names}
    return found


class _Synchronous(ast.NodeTransformer):
    def __init__(self, known: dict[str, str]) -> None:
        self._known, self._numbers = known, count(1)
        self._own = set[str]()
        """Coroutines of the tests that they await themselves."""
        self._handed = set[str]()
        """Those that a program is given, and what they use: it awaits them."""
        self._enters = False
        """A test may be a coroutine, and the next one is in no loop."""

    def awaits(self, node: ast.AST) -> bool:
        return isinstance(node, _ASYNC) or (isinstance(node, ast.Call) and self._runs(node))

    def find(self, nodes: Sequence[ast.AST]) -> None:
        coroutines = [node for node in nodes if isinstance(node, ast.AsyncFunctionDef)]
        self._enters = bool(coroutines)
        fixtures = {node.name for node in coroutines if _is_fixture(node)}
        loaded = [node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
        own = {node.name for node in coroutines} - fixtures
        found: set[str] | None = None
        while found != self._handed:
            found = self._handed
            within = {id(each) for node in coroutines if node.name in found for each in ast.walk(node)}
            awaited = {id(called) for node in nodes if id(node) not in within for called in self._awaits(node)}
            self._handed = {node.id for node in loaded if node.id in own and id(node) not in awaited}
        self._own = own - self._handed
        if tests := sorted(name for name in self._handed if name.startswith("test")):
            raise ValueError(f"the tests do not await {tests[0]} where it stands, which is not read")

    def _awaits(self, node: ast.AST) -> Iterator[ast.expr]:
        """The functions whose coroutines this runs."""
        match node:
            case (
                ast.Await(ast.Call(called))
                | ast.AsyncFor(iter=ast.Call(called))
                | ast.comprehension(iter=ast.Call(called))
            ):
                yield called
            case ast.Call(args=[ast.Call(called), *_]) if self._runs(node):
                yield called

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        if node.name in self._handed:
            return node
        self.generic_visit(node)
        plain = {name: getattr(node, name) for name in node._fields}
        plain |= {"name": _SETUPS.get(node.name, node.name), "body": [ast.Expr(_awaiting(WITHIN)), *node.body]}
        return ast.copy_location(ast.FunctionDef(**plain), node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        names = {each.name for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}
        if both := [name for name, plain in _SETUPS.items() if {name, plain} <= names]:
            raise ValueError(f"the tests have {both[0]} and {_SETUPS[both[0]]}, which is not read")
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        self.generic_visit(node)
        if self._enters and _is_begun_by_a_framework(node):
            node.body.insert(0, ast.Expr(_awaiting(WITHOUT)))
        return node

    def visit_Await(self, node: ast.Await) -> ast.expr:
        return self._awaited(node.value)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if self._runs(node):
            made = self._awaited(node.args[0])
            own = isinstance(made, ast.Call) and self._is_own(made.func)
            pair = ast.Tuple([made, _awaiting(WITHOUT)], ast.Load())
            return ast.Subscript(pair, ast.Constant(0), ast.Load()) if own else made
        part = self._part(node.func)
        self.generic_visit(node)
        return _awaiting(f"started.{part}", *node.args, keywords=node.keywords) if part in _STARTED else node

    def _runs(self, node: ast.Call) -> bool:
        return bool(node.args) and (
            self._part(node.func) == "run"
            or (isinstance(node.func, ast.Attribute) and node.func.attr == "run_until_complete")
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

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and self._is_own(node):
            raise ValueError(f"the tests do not await their own {ast.unparse(node)} where it stands, which is not read")
        return self.generic_visit(node)  # type: ignore[return-value]

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


def _is_begun_by_a_framework(node: ast.FunctionDef) -> bool:
    """And so outside of any loop."""
    return _is_fixture(node) or node.name.startswith(("test", "setUp", "setup_", "tearDown"))


def _is_fixture(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("fixture" in ast.unparse(each) for each in node.decorator_list)


def _awaiting(what: str | None, *given: ast.expr, keywords: Sequence[ast.keyword] = ()) -> ast.Call:
    return ast.Call(ast.Name(AWAITED, ast.Load()), [ast.Constant(what), *given], [*keywords])
