"""Classes of a program of which tests keep objects: which names they are, and the tests made ready for a bench that keeps them."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection

from kolmocli.tasks.code import apart
from kolmocli.tasks.code.tester import BENCH

_PYTHON = (
    "len str repr bool int float list tuple set sorted sum min max any all isinstance issubclass hasattr getattr callable next "
    "iter hash format abs round"
)
"""Functions of Python that tests call with objects."""


class Uses:
    """What the tests do with names that begin like a class's, and that they do not define."""

    def __init__(self, tree: ast.Module, own: Collection[str]) -> None:
        self.own = own
        self.holders: dict[str, ast.Call] = {}
        """Places of objects, and the calls that make them; `self.s` is one. A function of the tests holds what it returns."""
        self.certain: set[str] = set()
        """Names that only a class has a use for."""
        self.called: set[str] = set()
        """Not only for one method: `C().method()`."""
        self.looked: set[str] = set()
        """Places of which an attribute is asked."""
        self.handed: set[str] = set()
        """Names of what a function of the program is given."""
        self.compared: set[str] = set()
        """Names of what is compared, as plain values are."""
        self.of_classes: dict[str, str] = {}
        """`self.s` where `s` is bound in the body of a class."""
        for node in [*ast.walk(tree)] * 2:  # a fixture may return a name that it binds
            self._hold(node)
        for node in ast.walk(tree):
            self._look(node)

    def kept(self, defined: Collection[str]) -> list[str]:
        """The classes; those that are `defined` in code that is there are classes as soon as the tests call them."""
        found = self.certain | (self.called & {*defined} - {"Solution"}) | (self.handed - self.compared)
        for place in self.looked & self.holders.keys():
            made = self.holders[place]
            if _name(made) != "Solution" or made.args or made.keywords:
                found.add(_name(made))
        return sorted(found)

    def places(self) -> set[str]:
        """Where the tests keep what has no state."""
        found = {place for place in self.looked & self.holders.keys() if _name(self.holders[place]) == "Solution"}
        return found | {self.of_classes[place] for place in found & self.of_classes.keys()}

    def _made(self, node: ast.expr | None) -> ast.Call | None:
        """The call that makes the object that this is."""
        if isinstance(node, ast.Call) and self._is_class(node.func):
            return node
        place = None if node is None else place_of(node)
        return None if place is None else self.holders.get(place)

    def _names(self, values: list[ast.expr]) -> set[str]:
        return {_name(made) for made in map(self._made, values) if made is not None}

    def _is_class(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id[:1].isupper() and node.id not in self.own

    def _hold(self, node: ast.AST) -> None:
        match node:
            case ast.Assign([target], value) | ast.AnnAssign(target, value=value):
                place, made = place_of(target), self._made(value)
                if place is not None and made is not None:
                    self.holders[place] = made
            case ast.ClassDef(body=body):
                for bound in body:
                    if isinstance(bound, ast.Assign) and (place := place_of(bound.targets[0])) in self.holders:
                        self.of_classes[f"self.{place}"] = str(place)
                        self.holders[f"self.{place}"] = self.holders[str(place)]
            case ast.FunctionDef(name=name):
                for each in ast.walk(node):
                    made = self._made(each.value) if isinstance(each, ast.Return | ast.Yield) else None
                    if made is not None and _name(made) != "Solution":
                        self.holders[name] = made

    def _look(self, node: ast.AST) -> None:
        match node:
            case ast.Attribute(ast.Call(called, [], [])) if self._is_class(called):
                pass
            case ast.Attribute(ast.Call(ast.Name(name) as called)) | ast.Attribute(ast.Name(name) as called) if (
                self._is_class(called)
            ):
                self.certain.add(name)
            case ast.Call(ast.Name("isinstance" | "issubclass"), [_, ast.Name(name) as called]) if self._is_class(
                called
            ):
                self.certain.add(name)
            case ast.withitem(ast.Call(ast.Name(name) as called)) if self._is_class(called):
                self.certain.add(name)
            case _:
                self.called |= {
                    _name(each)
                    for each in ast.iter_child_nodes(node)
                    if isinstance(each, ast.Call) and self._is_class(each.func)
                }
        match node:
            case ast.Call(ast.Name(name), arguments, keywords) if name not in dir(builtins):
                self.handed |= self._names([*arguments, *(each.value for each in keywords)])
            case ast.Compare(left, [ast.Eq() | ast.NotEq(), *_], others):
                self.compared |= self._names([left, *others])
        if isinstance(node, ast.Attribute) and (place := place_of(node.value)) is not None:
            self.looked.add(place)


def _name(made: ast.Call) -> str:
    assert isinstance(made.func, ast.Name)
    return made.func.id


def place_of(node: ast.expr) -> str | None:
    """Where an object may be kept: `s`, or `self.s`, which `cls.s` is too."""
    match node:
        case ast.Name(name):
            return name
        case ast.Attribute(ast.Name("self" | "cls"), name):
            return f"self.{name}"
    return None


def defined_classes(code: str) -> list[str]:
    """None where this is no code."""
    try:
        return [node.name for node in ast.parse(code).body if isinstance(node, ast.ClassDef)]
    except (SyntaxError, ValueError):
        return []


class Asking(ast.NodeTransformer):
    """What tests ask of an object where Python would look into it: the bench has a handle in its place (`handles.py`)."""

    def __init__(self, bound: Collection[str]) -> None:
        """`bound` are names that the tests define, and that are no functions of Python then."""
        self._python = {*_PYTHON.split()} - {*bound}

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        return _on_bench("read", node.value, ast.Constant(node.attr)) if isinstance(node.ctx, ast.Load) else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Attribute):
            node.func.value = self.visit(node.func.value)
            node.args, node.keywords = (
                [self.visit(each) for each in node.args],
                [self.visit(each) for each in node.keywords],
            )
            return node
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in self._python:
            return _on_bench("python", ast.Constant(node.func.id), *node.args, keywords=node.keywords)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Compare(item, [ast.In() | ast.NotIn() as relation], [container]):
                inside = _on_bench("inside", item, container)
                return inside if isinstance(relation, ast.In) else ast.UnaryOp(ast.Not(), inside)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        match node.value:
            case ast.Call(ast.Attribute(owner) as method):
                method.value = self._live(owner)
                node.value.args = [self.visit(each) for each in node.value.args]
                node.value.keywords = [self.visit(each) for each in node.value.keywords]
                return node
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        node.value = self.visit(node.value) if isinstance(node.ctx, ast.Load) else self._live(node.value)
        node.slice = self.visit(node.slice)
        return node

    def _live(self, node: ast.expr) -> ast.expr:
        """What is changed in place: no copy of it."""
        match node:
            case ast.Attribute(owner, name):
                return _on_bench("live", self._live(owner), ast.Constant(name))
            case ast.Subscript(owner, key) if not isinstance(key, ast.Slice):
                return _on_bench("item", self._live(owner), self.visit(key))
        return self.visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        self.generic_visit(node)
        match node.target:
            case ast.Attribute(owner, name):
                return ast.Assign(
                    [node.target], ast.BinOp(_on_bench("read", owner, ast.Constant(name)), node.op, node.value)
                )
        return node

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.pattern:
        return node


class Changing(ast.NodeTransformer):
    """Calls of the program's functions after which the tests look at an argument: it may have been changed in place. `found` says
    whether there is one, or one with an argument that is no plain value."""

    def __init__(self, tree: ast.AST, own: Collection[str], methods: bool) -> None:
        """`own` are the names that are none of the program's functions; `methods`: tests keep objects, of which they call some."""
        self.found, self._methods = False, methods
        self._own = own
        self._looked: dict[str, int] = {}
        """The last line of an assert about a place."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Assert):
                self._look(node.test, node.lineno)

    def _look(self, node: ast.AST, line: int) -> None:
        if isinstance(node, ast.expr) and (place := place_of(node)) is not None:
            self._looked[place] = max(line, self._looked.get(place, 0))
        if not (isinstance(node, ast.Call) and self._is_of_program(node)):
            for inner in ast.iter_child_nodes(node):
                self._look(inner, line)

    def _is_of_program(self, node: ast.Call) -> bool:
        return isinstance(node.func, ast.Name) and node.func.id not in self._own

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        given = [*node.args, *(key.value for key in node.keywords)]
        self.found |= self._is_of_program(node) and any(map(_is_special, given))
        places = [place_of(each) for each in given]
        if any(place and self._looked.get(place, 0) > node.lineno for place in places):
            if self._is_of_program(node):
                self.found = True
                return _on_bench("changing", node.func, *node.args, keywords=node.keywords)
            if self._methods and isinstance(node.func, ast.Attribute):
                owner, name = node.func.value, ast.Constant(node.func.attr)
                return _on_bench("changing_by", owner, name, *node.args, keywords=node.keywords)
        return node


def _is_special(node: ast.expr) -> bool:
    """Whether this is a type, or a value that `apart.py` takes apart."""
    match node:
        case ast.Name(name):
            return isinstance(getattr(builtins, name, None), type)
        case ast.Call(ast.Name(name) | ast.Attribute(attr=name)):
            return name in apart.MADE
    return False


def _on_bench(method: str, *arguments: ast.expr, keywords: list[ast.keyword] | None = None) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name(BENCH), method), [*arguments], keywords or [])
