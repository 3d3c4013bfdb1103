"""Classes of a program of which tests keep objects: which names they are, and where the tests keep what."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection

from kolmocli.tasks.code.calls import top_level


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
            case (
                ast.Attribute(ast.Call(ast.Name(name) as called))
                | ast.Attribute(ast.Name(name) as called)
                | ast.Call(ast.Name("isinstance" | "issubclass"), [_, ast.Name(name) as called])
                | ast.For(iter=ast.Name(name) as called)
                | ast.comprehension(iter=ast.Name(name) as called)
                | ast.Call(ast.Name("len" | "list" | "iter" | "sorted" | "set"), [ast.Name(name) as called])
                | ast.withitem(ast.Call(ast.Name(name) as called))
            ) if self._is_class(called):
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
    return [node.name for node in top_level(code) if isinstance(node, ast.ClassDef)]
