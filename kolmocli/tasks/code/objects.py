"""Tests that call methods of a class of the program, as LeetCode has them: `Solution().twice(n=3)`.

Only plain values leave a program, so an object of it cannot. But a method of an object that is made for one call is a
function, and that is what tests get; `method_glue` is the text that makes it one in the program.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Method:
    """A method that tests call as a function of this name."""

    owner: str
    name: str
    function: str

    @classmethod
    def of(cls, entry_point: str) -> Method | None:
        """`Solution().twice`; None for a plain name."""
        owner, called, name = entry_point.partition("().")
        return cls(owner, name, name) if called and owner.isidentifier() and name.isidentifier() else None


def method_glue(methods: Collection[Method], *, perhaps: bool = False) -> str:
    """Code below a program that makes functions of methods; `perhaps` where the program may bring the function itself."""
    parts = [
        f"def {method.function}(*arguments, **keywords):\n    return {method.owner}().{method.name}(*arguments, **keywords)\n"
        for method in methods
    ]
    if perhaps:
        parts = [
            f"if {method.owner!r} in globals():\n{_indented(part)}" for method, part in zip(methods, parts, strict=True)
        ]
    return "".join(f"\n\n{part}" for part in parts)


def _indented(code: str) -> str:
    return "".join(f"    {line}\n" for line in code.splitlines())


def without_objects(tree: ast.Module, known: Collection[str] = ()) -> tuple[ast.Module, list[Method]]:
    """The tests with functions for methods of objects that are made for one call, or of a `Solution`, which has no state.
    `known` are names that the setup of the tests defines.

    Raises:
        ValueError: they use an object of the program in another way, which no program could serve.
    """
    from kolmocli.tasks.code.calls import bound

    own = {*dir(builtins), *bound(tree), *known}
    holders = {
        place: call.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for place, call in [(_place(node.targets[0]), node.value)]
        if place is not None and isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        if call.func.id not in own and call.func.id[:1].isupper()
    }
    of_classes = {
        f"self.{place}": place
        for case in ast.walk(tree)
        if isinstance(case, ast.ClassDef)
        for node in case.body
        if isinstance(node, ast.Assign) and (place := _place(node.targets[0])) in holders
    }
    holders |= {held: holders[place] for held, place in of_classes.items()}
    used = (_place(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    asked = {place for place in used if place is not None and place in holders}
    for name in sorted(asked):
        if holders[name] != "Solution":
            raise ValueError(
                f"the tests keep an object of the program's class `{holders[name]}`; only plain values leave a program"
            )
    asked |= {of_classes[held] for held in asked & of_classes.keys()}
    change = _Functions(own, asked)
    changed = change.visit(tree)
    return (ast.fix_missing_locations(changed), list(change.methods.values())) if change.methods else (tree, [])


def _place(node: ast.expr) -> str | None:
    """Where an object may be kept: `s`, or `self.s`, which `cls.s` is too."""
    match node:
        case ast.Name(name):
            return name
        case ast.Attribute(ast.Name("self" | "cls"), name):
            return f"self.{name}"
    return None


class _Functions(ast.NodeTransformer):
    def __init__(self, known: Collection[str], holders: Collection[str]) -> None:
        self.known, self.holders = known, holders
        self.methods: dict[tuple[str, str], Method] = {}

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        if len(node.targets) == 1 and (place := _place(node.targets[0])) and place in self.holders:
            return ast.Pass()
        self.generic_visit(node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        match node.value:
            case ast.Call(func=ast.Name(id=owner), args=arguments, keywords=keywords) if (
                owner not in self.known and owner[:1].isupper()
            ):
                if arguments or keywords:
                    raise ValueError(
                        f"the tests use an object of the program's class `{owner}`; only plain values leave a program"
                    )
                return self._function(owner, node.attr)
            case ast.Name() | ast.Attribute() if (place := _place(node.value)) and place in self.holders:
                return self._function("Solution", node.attr)
        self.generic_visit(node)
        return node

    def _function(self, owner: str, method: str) -> ast.expr:
        taken = method in self.known or any(m.function == method and m.owner != owner for m in self.methods.values())
        function = f"{owner}_{method}" if taken else method
        found = self.methods.setdefault((owner, method), Method(owner, method, function))
        return ast.Name(found.function, ast.Load())
