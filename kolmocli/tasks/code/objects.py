"""Tests that call methods of a class of the program, as LeetCode has them: `Solution().twice(n=3)`.

Only plain values leave a program, so an object of it cannot. But a method of an object that is made for one call is a
function, and that is what tests get; `method_glue` is the text that makes it one in the program. An object that tests keep
stays in the program, and tests get a handle (`handles.py`); `keeper.py` is the text that keeps it.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache

from kolmocli.tasks.code import apart, benched, keeper as keeper_text, looping
from kolmocli.tasks.code.asking import Asking
from kolmocli.tasks.code.boxes import boxed
from kolmocli.tasks.code.calls import bound, defined, given_to_check
from kolmocli.tasks.code.changing import Changing
from kolmocli.tasks.code.classes import Uses, defined_classes, place_of
from kolmocli.tasks.code.files import have_files, names_of, with_files
from kolmocli.tasks.code.mock_parts import has_objects
from kolmocli.tasks.code.repeating import is_seeded, repeatable
from kolmocli.tasks.code.rewriting import on_bench


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


@cache
def keeper() -> str:
    """Code below a program that keeps the objects that tests make."""
    lines = [line for text in (apart, looping, benched, keeper_text) for line in inspect.getsource(text).splitlines()]
    text = "\n".join(line for line in lines if not line.startswith("from kolmocli."))
    names = "_object_made, _object_asked, _object_changed"  # no other: a program may have names like those of the text
    return f"\n\ndef _object_keeper():\n{_indented(text)}    return {names}\n\n\n{names} = _object_keeper()\n"


def _indented(code: str) -> str:
    return "".join(f"    {line}\n" for line in code.splitlines())


@dataclass(frozen=True, slots=True)
class Objects:
    """What tests use of a program besides its functions."""

    methods: tuple[Method, ...] = ()
    """Of objects that are made for one call."""
    classes: tuple[str, ...] = ()
    """Of which they keep objects."""
    errors: tuple[str, ...] = ()
    """Exceptions that they catch, and that are not Python's."""
    constants: tuple[str, ...] = ()
    """Names of values that they read."""
    kept: bool = False
    """They keep objects, or look at what a function may have changed."""
    files: bool = False
    """They write files, or look at them."""
    seeds: bool = False
    """They seed `random`."""
    imports: str = ""
    """Of the tests, which the reference does without, as it would in their process."""


NONE = Objects()


def without_objects(
    tree: ast.Module, known: Collection[str] = (), code: Sequence[str] = (), values: Collection[str] = ()
) -> tuple[ast.Module, Objects]:
    """The tests with functions for methods of objects that are made for one call, or of a `Solution`, which has no state. Where they
    keep other objects, they are made ready for a bench that keeps those.

    Args:
        known: names that the setup of the tests defines.
        code: the reference, and what stands above a program; what is a class there is one.
        values: names that the reference assigns.

    Raises:
        ValueError: they inherit from a class of the program.
    """
    library = names_of(tree, code)
    files, draws = have_files(tree, library), any("random" in text for text in code)
    tree = boxed(repeatable(with_files(tree, library), library, draws))
    names = bound(tree)
    own = {*dir(builtins), *names, *known}
    errors = [name for name in _errors(tree) if name not in own]
    constants = _constants(tree, [name for name in values if name not in {*own, *errors}])
    own |= {*constants}
    there = [name for text in code for name in defined_classes(text)]
    functions = {name for text in code for name in defined(text)}.difference(there)
    uses = Uses(tree, {*own, *errors, *functions})
    classes = uses.kept(there)
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(bases=bases) if heirs := [ast.unparse(b) for b in bases if ast.unparse(b) in classes]:
                raise ValueError(
                    f"the tests have a class that inherits from the program's `{heirs[0]}`, which is not read"
                )
    change = _Functions({*own, *classes}, uses.places() if "Solution" not in classes else ())
    tree = ast.fix_missing_locations(change.visit(tree))
    changing = Changing(tree, {*own, *errors, *classes} - {given_to_check(tree)}, bool(classes))
    tree = changing.visit(tree)
    if kept := bool(classes or constants) or changing.found or has_objects(tree):
        tree = Asking(names, constants, changing.sources).visit(tree)
    found = Objects(
        tuple(change.methods.values()), tuple(classes), tuple(errors), constants, kept, files, is_seeded(tree)
    )
    return ast.fix_missing_locations(tree), found


def _constants(tree: ast.Module, values: Collection[str]) -> tuple[str, ...]:
    """Those of these names that the tests read, and do not call."""
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    return tuple(name for name in dict.fromkeys(values) if name in used - called)


def with_handles(code: str) -> str:
    """Tests that use no objects as they look, made ready for a program that returns some."""
    tree = ast.parse(code)
    return ast.unparse(ast.fix_missing_locations(Asking(bound(tree)).visit(tree)))


def _errors(tree: ast.Module) -> list[str]:
    """Exceptions that the tests catch, and what is called like one."""
    found = dict[str, None]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and node.type is not None:
            kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            found |= {kind.id: None for kind in kinds if isinstance(kind, ast.Name)}
        if isinstance(node, ast.Name) and node.id.endswith(("Error", "Exception")):
            found[node.id] = None
    return list(found)


def _root(node: ast.expr) -> str | None:
    """The name that a decorator begins with."""
    while isinstance(node, ast.Attribute | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


class _Functions(ast.NodeTransformer):
    def __init__(self, known: Collection[str], holders: Collection[str]) -> None:
        self.known, self.holders = known, holders
        self.methods: dict[tuple[str, str], Method] = {}

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        if len(node.targets) == 1 and (place := place_of(node.targets[0])) and place in self.holders:
            return ast.Pass()
        self.generic_visit(node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt | list[ast.stmt]:
        """Decorators of the program are calls of it."""
        self.generic_visit(node)
        made: list[ast.stmt] = []
        while node.decorator_list and _root(node.decorator_list[-1]) not in self.known:
            called = on_bench("decorated", node.decorator_list.pop(), ast.Name(node.name))
            made.append(ast.copy_location(ast.Assign([ast.Name(node.name, ast.Store())], called), node))
        return [node, *map(ast.fix_missing_locations, made)] if made else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        match node.value:
            case ast.Call(ast.Name(owner), [], []) if owner not in self.known and owner[:1].isupper():
                return self._function(owner, node.attr)
            case ast.Name() | ast.Attribute() if (place := place_of(node.value)) and place in self.holders:
                return self._function("Solution", node.attr)
        self.generic_visit(node)
        return node

    def _function(self, owner: str, method: str) -> ast.expr:
        taken = method in self.known or any(m.function == method and m.owner != owner for m in self.methods.values())
        function = f"{owner}_{method}" if taken else method
        found = self.methods.setdefault((owner, method), Method(owner, method, function))
        return ast.Name(found.function, ast.Load())
