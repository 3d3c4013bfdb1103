"""Tests made ready for a bench that keeps objects of a program (`handles.py`)."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from kolmocli.tasks.code.lent import source_of
from kolmocli.tasks.code.rewriting import on_bench
from kolmocli.tasks.code.tester import BENCH

_PYTHON = (
    "len str repr bool int float list tuple set sorted sum min max any all isinstance issubclass hasattr getattr callable next "
    "iter hash format abs round vars dir"
)
"""Functions of Python that tests call with objects."""
_CHANGING = (
    "append extend insert remove pop clear sort reverse update add discard setdefault popitem appendleft popleft rotate"
)
"""Methods that change what Python has of its own."""
_PARTS = ast.Attribute | ast.Call | ast.Subscript
"""What may be a part of an object."""
_DISPLAYS = ast.List | ast.Dict | ast.Set | ast.ListComp
"""What makes a value that can be changed."""


class Asking(ast.NodeTransformer):
    """What tests ask of an object where Python would look into it: the bench has a handle in its place (`handles.py`)."""

    def __init__(
        self,
        bound: Collection[str],
        constants: Collection[str] = (),
        sources: Mapping[ast.AST, str | None] | None = None,
    ) -> None:
        """`bound` are names that the tests define, and that are no functions of Python then; `constants` those of values that the program
        has; `sources`, those of functions that are changed already."""
        self._sources = sources or {}
        self._python, self._constants = {*_PYTHON.split()} - {*bound}, constants
        self._changed: Collection[str] = ()
        """Names of what is changed in place: it may be a part of an object."""
        self._shared: Collection[str] = ()
        """Names of lists, dicts and sets that an object is given, and that are looked at or changed: it may keep them."""
        self._drawn = set[str]()
        """Names that functions use which a program may be given: an iterator of such a name is the program's."""

    def visit_Module(self, node: ast.Module) -> ast.Module:
        changed = {name for each in ast.walk(node) if (name := _changed(each))}
        self._drawn = _used_by_lent(node)
        self._shared = _shared(node, changed, self._drawn)
        self._changed = changed | self._shared
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
            return node
        if node.id in self._constants:
            return on_bench("constant", ast.Constant(node.id))
        return on_bench("now", node) if node.id in self._changed else node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        match node.targets:
            case [ast.Name() as target]:
                return ast.Assign([target], self._assigned(target, node.value))
            case [ast.Tuple(names) as target] if isinstance(node.value, ast.Tuple) and len(names) == len(
                node.value.elts
            ):
                values = [self._assigned(name, value) for name, value in zip(names, node.value.elts, strict=True)]
                return ast.Assign([self.visit(target)], ast.Tuple(values, ast.Load()))
        return self.generic_visit(node)  # type: ignore[return-value]

    def _assigned(self, target: ast.expr, value: ast.expr) -> ast.expr:
        name = target.id if isinstance(target, ast.Name) else None
        if name in self._changed and isinstance(value, _PARTS):
            return self._live(value)
        made = self.visit(value)
        match made:
            case ast.Call(ast.Attribute(_, "python"), [ast.Constant("iter"), given]) if name in self._drawn:
                return on_bench("iterator", given)
        return on_bench("shared", made) if name in self._shared and isinstance(value, _DISPLAYS) else made

    def _source(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> str | None:
        return self._sources[node] if node in self._sources else source_of(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        source = self._source(node)
        self.generic_visit(node)
        return node if source is None else ast.Call(on_bench("function", ast.Constant(source)), [node], [])

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt:
        source = None if node.decorator_list else self._source(node)
        self.generic_visit(node)
        if source is not None:
            node.decorator_list = [on_bench("function", ast.Constant(source))]
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = _function

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id in self._shared and node.attr in _CHANGING.split():
            return self._live(node)
        self.generic_visit(node)
        return on_bench("read", node.value, ast.Constant(node.attr)) if isinstance(node.ctx, ast.Load) else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Attribute):
            return self._method(node, node.func, node.func.attr in _CHANGING.split())
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in self._python:
            return on_bench("python", ast.Constant(node.func.id), *node.args, keywords=node.keywords)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Compare(item, [ast.In() | ast.NotIn() as relation], [container]):
                inside = on_bench("inside", item, container)
                return inside if isinstance(relation, ast.In) else ast.UnaryOp(ast.Not(), inside)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        match node.value:
            case ast.Call(ast.Attribute() as method) as call:
                node.value = self._method(call, method, changes=True)
                return node
        return self.generic_visit(node)  # type: ignore[return-value]

    def _method(self, node: ast.Call, method: ast.Attribute, changes: bool) -> ast.Call:
        """A call of a method, which may be one that changes its owner."""
        if _changing_by(node) is not None:
            owner, *given = node.args
            node.args = [self._live(owner), *map(self.visit, given)]
        else:
            method.value = (self._live if changes else self.visit)(method.value)
            node.args = [*map(self.visit, node.args)]
        node.keywords = [*map(self.visit, node.keywords)]
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        node.value = self.visit(node.value) if isinstance(node.ctx, ast.Load) else self._live(node.value)
        node.slice = self.visit(node.slice)
        return node

    def _live(self, node: ast.expr) -> ast.expr:
        """What is changed in place: no copy of it."""
        match node:
            case ast.Name() if node.id not in self._constants:
                return node
            case ast.Attribute(owner, name):
                return on_bench("live", self._live(owner), ast.Constant(name))
            case ast.Call(called, given, by_name):
                given = [self.visit(each) for each in given]
                by_name = [self.visit(each) for each in by_name]
                if isinstance(called, ast.Attribute):
                    owner = self._live(called.value)
                    return on_bench("live_call", owner, ast.Constant(called.attr), *given, keywords=by_name)
                if isinstance(called, ast.Name) and called.id not in self._python:
                    return on_bench("live_made", called, *given, keywords=by_name)
            case ast.Subscript(owner, key) if not isinstance(key, ast.Slice):
                return on_bench("item", self._live(owner), self.visit(key))
        return self.visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        self.generic_visit(node)
        match node.target:
            case ast.Attribute(owner, name):
                return ast.Assign(
                    [node.target], ast.BinOp(on_bench("read", owner, ast.Constant(name)), node.op, node.value)
                )
        return node

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.pattern:
        return node

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.pattern:
        return node


def _changing_by(node: ast.AST) -> ast.Attribute | None:
    """The method that is called here through the bench (`changing.py`)."""
    match node:
        case ast.Call(ast.Attribute(ast.Name(bench), "changing_by"), [owner, ast.Constant(str(name)), *_]) if (
            bench == BENCH
        ):
            return ast.Attribute(owner, name)
    return None


def _changed(node: ast.AST) -> str | None:
    """The name of what is changed in place here."""
    match _changing_by(node) or (node.func if isinstance(node, ast.Call) else node):
        case ast.Attribute(ast.Name(name), method) if method in _CHANGING.split():
            return name
        case ast.Subscript(ast.Name(name), ctx=ast.Store() | ast.Del()):
            return name
    return None


def _shared(tree: ast.AST, changed: Collection[str], used: set[str]) -> set[str]:
    """Names of lists, dicts and sets that an object may keep, where the tests look at them or change them."""
    made, given, looked = set[str](), set[str](), set[str](changed)
    imports = [alias for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    not_objects = {BENCH, *((alias.asname or alias.name).partition(".")[0] for alias in imports)}
    for node in ast.walk(tree):
        match node:
            case ast.Assign([ast.Name(name)], value) if isinstance(value, _DISPLAYS):
                made.add(name)
            case ast.Assign([ast.Tuple(names)], ast.Tuple(values)):
                pairs = zip(names, values, strict=False)
                made |= {
                    name.id for name, value in pairs if isinstance(name, ast.Name) and isinstance(value, _DISPLAYS)
                }
            case ast.Assert(test):
                looked |= {each.id for each in ast.walk(test) if isinstance(each, ast.Name)}
        match node:
            case ast.Call(ast.Attribute(owner), arguments, keywords):
                if (called := _changing_by(node)) is not None:
                    owner, arguments = called.value, arguments[1:]
                if not (isinstance(owner, ast.Name) and owner.id in not_objects):
                    given |= _names([*arguments, *(each.value for each in keywords)])
            case ast.Call(ast.Name(name), arguments, keywords) if name[:1].isupper():
                given |= _names([*arguments, *(each.value for each in keywords)])
    return made & (given | used) & looked


def _used_by_lent(tree: ast.AST) -> set[str]:
    """Names of what the functions use that a call is given: a program may call them."""
    functions = dict[str, list[ast.AST]]()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            functions.setdefault(node.name, []).append(node)
    found = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            given = [*node.args, *(each.value for each in node.keywords)]
            named = [made for each in given if isinstance(each, ast.Name) for made in functions.get(each.id, ())]
            methods = [each for each in given if isinstance(each, ast.Attribute) and each.attr in _CHANGING.split()]
            for function in (*named, *methods, *(each for each in given if isinstance(each, ast.Lambda))):
                found |= {each.id for each in ast.walk(function) if isinstance(each, ast.Name)}
    return found


def _names(nodes: Collection[ast.expr]) -> set[str]:
    """Those that are given, alone or in a list."""
    inner = [each for node in nodes for each in (ast.walk(node) if isinstance(node, _DISPLAYS) else [node])]
    return {node.id for node in inner if isinstance(node, ast.Name)}
