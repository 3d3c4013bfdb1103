"""Names that functions of tests change, and that are not their own: each becomes a list of one, which a program can have as well.

n = 0                                     n = [0]
def count():                              def count():
    nonlocal n               becomes          n[0] += 1
    n += 1                                f(count)
f(count)                                  assert n[0] == 2
assert n == 2
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kolmocli.tasks.code.looks import COMPREHENSIONS, FUNCTIONS, Place, Scope, bound

_SCOPES = FUNCTIONS | COMPREHENSIONS
_Body = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef


def boxed(tree: ast.Module) -> ast.Module:
    """The same tests without `global` and `nonlocal`, as far as a name is bound by assignments."""
    if not any(isinstance(node, ast.Global | ast.Nonlocal) for node in ast.walk(tree)):
        return tree
    scopes: dict[ast.AST, Scope] = {tree: Scope(None, bound(tree))}
    otherwise = _otherwise_bound(tree)
    boxes = {place for place in _declared(tree, scopes[tree], scopes) if place[1] not in otherwise}
    _Boxing(scopes, boxes).visit(tree)
    return tree


def _declared(node: ast.AST, scope: Scope, scopes: dict[ast.AST, Scope]) -> Iterator[Place]:
    """The places of names that a function in here takes from outside; `scopes` gets that of every function."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.Nonlocal | ast.Global):
            scope.bound -= {*inner.names}
            for name in inner.names:
                yield (scope if isinstance(inner, ast.Nonlocal) else _module(scope)).place(name)
        if isinstance(inner, _SCOPES):
            scopes[inner] = Scope(scope, bound(inner))
        yield from _declared(inner, scopes.get(inner, scope), scopes)


def _module(scope: Scope) -> Scope:
    return scope if scope.outer is None else _module(scope.outer)


def _otherwise_bound(tree: ast.AST) -> set[str]:
    """Names that stand where no item of a list can."""
    found = set[str]()
    for node in ast.walk(tree):
        match node:
            case ast.ExceptHandler(name=str(name)) | ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
                found.add(name)
            case ast.ClassDef(name):
                found |= {name, *bound(node)}
            case ast.alias(name, asname):
                found.add(asname or name.partition(".")[0])
            case ast.NamedExpr(ast.Name(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                found.add(name)
            case ast.Name(name, ast.Del()):
                found.add(name)
    return found


class _Boxing(ast.NodeTransformer):
    def __init__(self, scopes: dict[ast.AST, Scope], boxes: set[Place]) -> None:
        self._scopes, self._boxes = scopes, boxes
        self._scope: Scope | None = None

    def visit(self, node: ast.AST) -> ast.AST:
        outer, self._scope = self._scope, self._scopes.get(node, self._scope)
        names = {name for scope, name in self._boxes if scope is self._scopes.get(node)}
        first = {name: _first(node, name) for name in names} if isinstance(node, _Body) else {}
        made: ast.AST = super().visit(node)
        for name, begun in first.items():
            _begin(made, name, begun)  # type: ignore[arg-type]
        self._scope = outer
        return made

    def visit_Name(self, node: ast.Name) -> ast.expr:
        assert self._scope is not None
        if self._scope.place(node.id) not in self._boxes:
            return node
        item = ast.Subscript(ast.Name(node.id, ast.Load()), ast.Constant(0), node.ctx)
        return ast.fix_missing_locations(ast.copy_location(item, node))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        self.generic_visit(node)
        if isinstance(node.target, ast.Name) or node.value is None:
            return node
        return ast.copy_location(ast.Assign([node.target], node.value), node)

    def _undeclared(self, node: ast.Nonlocal | ast.Global) -> ast.stmt:
        assert self._scope is not None
        scope = self._scope if isinstance(node, ast.Nonlocal) else _module(self._scope)
        node.names = [name for name in node.names if scope.place(name) not in self._boxes]
        return node if node.names else ast.copy_location(ast.Pass(), node)

    visit_Nonlocal = visit_Global = _undeclared


def _first(node: _Body, name: str) -> ast.stmt | None:
    """The statement that begins with this name, if that is a plain assignment."""
    using = [each for each in node.body if any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(each))]
    match using[:1]:
        case [ast.Assign([ast.Name(target)], value) as first] if target == name:
            return None if any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(value)) else first
    return None


def _begin(node: _Body, name: str, first: ast.stmt | None) -> None:
    """Make the list: where the name was first assigned to, or before everything else."""
    at = node.body[0]
    if isinstance(first, ast.Assign):
        first.targets, first.value = [ast.Name(name, ast.Store())], ast.List([first.value], ast.Load())
        ast.fix_missing_locations(first)
        return
    given = not isinstance(node, ast.Module) and any(
        each.arg == name for each in ast.walk(node.args) if isinstance(each, ast.arg)
    )
    value = ast.Name(name, ast.Load()) if given else ast.Constant(None)
    made = ast.Assign([ast.Name(name, ast.Store())], ast.List([value], ast.Load()))
    node.body.insert(0, ast.fix_missing_locations(ast.copy_location(made, at)))
