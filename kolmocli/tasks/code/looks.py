"""Where tests look again at what they gave to a call: what was a list there may be another now.

A name is looked at where it is read, and in a loop until the loop ends, unless the loop binds it. What is made of a part of something
(`for row in table`, `row = table[0]`) is looked at where that is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

from kolmocli.tasks.code.classes import place_of

Position = tuple[int, int]
"""Line and column."""
Place = tuple["Scope", str]
_END = (1 << 60, 0)
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_DISPLAYS = ast.List | ast.Tuple | ast.Set | ast.Dict
COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(eq=False, slots=True)
class Scope:
    """Names of a function, or of the module."""

    outer: Scope | None
    bound: set[str]

    def place(self, name: str) -> Place:
        scope = self
        while scope.outer is not None and name not in scope.bound and not name.startswith("self."):
            scope = scope.outer
        return scope, name


@dataclass(eq=False, slots=True)
class Loop:
    end: Position
    bound: set[str]


@dataclass(frozen=True, slots=True)
class Argument:
    under: int | str | None
    """Its place in the call, or its name."""
    of: set[Place]
    """Places that it is, or is a part of."""
    constant: bool


@dataclass(frozen=True, slots=True)
class Called:
    node: ast.Call
    given: list[Argument]

    @property
    def name(self) -> str:
        called = self.node.func
        return called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""


def looked_after(tree: ast.AST) -> set[ast.Call]:
    """The calls after whose end something is read that they were given."""
    found = _Looks()
    found.read(tree, Scope(None, bound(tree)), ())
    found.follow()
    return {each.node for each in found.calls if any(found.is_looked_after(each, argument) for argument in each.given)}


class _Looks:
    def __init__(self) -> None:
        self.last: dict[Place, Position] = {}
        """Where a place is read last."""
        self.parts: list[tuple[Place, Place]] = []
        """Places, and that of which they are a part."""
        self.calls: list[Called] = []
        self.functions: dict[str, tuple[Scope, list[str]]] = {}
        """Those of the tests, and their parameters."""
        self.changeable: set[Place] = set()
        self.constant: set[Place] = set()
        self._fixed: set[Place] = set()
        """What is constant, and never changeable."""
        self.before: set[ast.expr] = set()
        """What loops go through."""

    def is_looked_after(self, called: Called, argument: Argument) -> bool:
        return any(self._last(place) > _end(called.node) for place in argument.of - self._fixed)

    def follow(self) -> None:
        """What is a part is looked at where the whole is, and what a function of the tests is given, where it is afterwards."""
        handed = [
            ((scope, parameter), called, argument)
            for called in self.calls
            for scope, parameters in [self.functions.get(called.name, (None, []))]
            for at, parameter in enumerate(parameters)
            for argument in called.given
            if argument.under in (at, parameter) and scope is not None
        ]
        known = self.constant - self.changeable
        self.changeable |= {
            place for place, _, argument in handed if not (argument.constant or (argument.of and argument.of <= known))
        }
        given = {place for place, *_ in handed}
        for scope, parameters in self.functions.values():
            self.changeable |= {(scope, name) for name in parameters if (scope, name) not in given}
        self._fixed = (self.constant | given) - self.changeable
        for _ in range(3):  # a part of a part
            for part, whole in self.parts:
                self.last[part] = max(self._last(part), self._last(whole))
            self.last |= {place: _END for place, called, argument in handed if self.is_looked_after(called, argument)}

    def _last(self, place: Place) -> Position:
        return self.last.get(place, (0, 0))

    def read(self, node: ast.AST, scope: Scope, loops: tuple[Loop, ...], at: Position | None = None) -> None:
        """All that is in here, which is read where it stands, or `at` another place."""
        if isinstance(node, FUNCTIONS):
            scope, loops = Scope(scope, bound(node)), ()
            names = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            named = "" if isinstance(node, ast.Lambda) else node.name
            self.functions[named] = scope, names[1:] if names[:1] in (["self"], ["cls"]) else names
        elif isinstance(node, ast.For | ast.While | COMPREHENSIONS):
            if not isinstance(node, ast.While):  # what a loop goes through is read before it
                first = node.iter if isinstance(node, ast.For) else node.generators[0].iter
                self.read(first, scope, loops, _start(node))
                self.before.add(first)
            loops = (*loops, Loop(_after(node), bound(node)))
        elif _asks_identity(node):
            at = _after(node)
        self._note(node, scope, loops, at)
        for inner in ast.iter_child_nodes(node):
            if inner not in self.before and not (isinstance(node, ast.Assert) and inner is node.msg):
                self.read(inner, scope, loops, at)

    def _note(self, node: ast.AST, scope: Scope, loops: tuple[Loop, ...], at: Position | None) -> None:
        match node:
            case ast.Name(ctx=ast.Load()) | ast.Attribute(ctx=ast.Load()) if (name := place_of(node)) is not None:
                ends = [loop.end for loop in loops if name not in loop.bound]
                place = scope.place(name)
                self.last[place] = max(self._last(place), at or _start(node), *ends)
            case ast.Call(_, given, by_name):
                under = [*enumerate(given), *((each.arg, each.value) for each in by_name)]
                self.calls.append(Called(node, [self._argument(key, value, scope) for key, value in under]))
            case ast.Assign([target], value) | ast.For(target, value) | ast.comprehension(target, value):
                is_constant = _is_constant(value) or (
                    not isinstance(node, ast.Assign) and _lists_constants(value, target)
                )
                wholes = [scope.place(name) for name in _parts_of(value)]
                for name in filter(None, map(place_of, ast.walk(target))):  # type: ignore[arg-type]
                    (self.constant if is_constant else self.changeable).add(scope.place(name))
                    self.parts += [(scope.place(name), whole) for whole in wholes]

    def _argument(self, under: int | str | None, value: ast.expr, scope: Scope) -> Argument:
        return Argument(under, {scope.place(name) for name in _parts_of(value)}, _is_constant(value))


def _parts_of(node: ast.expr) -> Iterator[str]:
    """The names of that of which this is, or has, a part."""
    if (name := place_of(node)) is not None:
        yield name
    elif isinstance(node, ast.Subscript | ast.Starred | ast.Attribute):
        yield from _parts_of(node.value)
    elif isinstance(node, ast.List | ast.Tuple | ast.Set):
        for each in node.elts:
            yield from _parts_of(each)
    elif isinstance(node, ast.Dict):
        for each in node.values:
            yield from _parts_of(each)
    elif isinstance(node, ast.Call):
        match node.func:
            case ast.Name("enumerate" | "zip" | "reversed" | "iter" | "next"):
                for each in node.args:
                    yield from _parts_of(each)
            case ast.Attribute(owner, "items" | "values" | "get"):
                yield from _parts_of(owner)


def _asks_identity(node: ast.AST) -> TypeGuard[ast.Compare]:
    """Whether this asks if two values are one, of which neither is a constant."""
    return (
        isinstance(node, ast.Compare)
        and isinstance(node.ops[0], ast.Is | ast.IsNot)
        and not any(map(_is_constant, (node.left, *node.comparators)))
    )


def _is_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant | ast.JoinedStr) or (
        isinstance(node, ast.UnaryOp) and _is_constant(node.operand)
    )


def _lists_constants(node: ast.expr, target: ast.expr) -> bool:
    """Whether what is gone through has nothing but constants: a range, or rows of them."""
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        rows = ast.Tuple | ast.List if isinstance(target, ast.Tuple) else ast.Tuple
        return all(
            _is_constant(each) or (isinstance(each, rows) and all(map(_is_constant, each.elts))) for each in node.elts
        )
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"


def bound(node: ast.AST) -> set[str]:
    """What is bound in here, but for functions within."""
    found = set[str]()
    waiting = [*ast.iter_child_nodes(node)]
    while waiting:
        each = waiting.pop()
        match each:
            case ast.arg(name):
                found.add(name)
            case ast.Name(name, ast.Store()) | ast.ExceptHandler(name=str(name)):
                found.add(name)
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                found.add(name)
                continue
            case ast.Lambda():
                continue
        waiting += ast.iter_child_nodes(each)
    return found


def _start(node: ast.expr | ast.stmt) -> Position:
    return node.lineno, node.col_offset


def _end(node: ast.expr | ast.stmt) -> Position:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def _after(node: ast.expr | ast.stmt) -> Position:
    line, column = _end(node)
    return line, column + 1
