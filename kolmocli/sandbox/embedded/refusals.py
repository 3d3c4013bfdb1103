"""Refuse programs that the embedded sandbox's interpreter would not run as Python does.

Most of it is found in the source, before anything runs. The rest is an error of something that Python has and the
interpreter has not. When in doubt it refuses: a verdict that a container would not give is worse than none.
"""

from __future__ import annotations

import ast
import builtins
import re

from kolmocli.sandbox.wire import statements

LAZY = {"map", "filter", "zip", "reversed", "enumerate"}
"""Builtins whose result is an iterator in Python and a list in this interpreter."""
READY = {"zip", "reversed", "enumerate"}
"""Those of them that call nothing of the program, so that it cannot see when they do their work."""
SETS = {"set", "frozenset"}
"""The order of their items is Python's hash order there, and the order of insertion here."""
ABSENT = {"exec", "eval", "hash", "id", "getattr", "hasattr", "setattr"}
"""Builtins that give other results, or a way around this file."""
UNLIKE = {"re"}
"""Modules that are there, with another meaning: its regular expressions find other matches."""
CONSUMERS = {"list", "tuple", "sum", "sorted", "min", "max", "dict"}
CONSUMING_METHODS = {"join", "extend", "update"}
UNORDERED = {"len", "sorted", "any", "all", "sum", "min", "max"}
"""Functions whose result does not depend on the order of a set, as long as no `key` makes items equal that are not."""
CAUGHT = {
    "ZeroDivisionError",
    "ValueError",
    "IndexError",
    "KeyError",
    "OverflowError",
    "StopIteration",
    "AssertionError",
}
"""Errors that mean the same in both; others may be raised here by what works in Python, and must not be caught."""
MUTATORS = {
    "append",
    "extend",
    "insert",
    "pop",
    "remove",
    "clear",
    "sort",
    "reverse",
    "update",
    "setdefault",
    "popitem",
}

_NO_ATTRIBUTE = re.compile(r"(type object )?'([\w.]+)'(?: object)? has no attribute '(\w+)'")
_OF_ITS_OWN = re.compile(r"[a-z_]+|Counter|OrderedDict|ChainMap|Decimal|Fraction|.*\..*")
"""Names of types that no program has given: what they lack here, Python may have."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_MODULES = {*statements.MODULES, *statements.MORE_MODULES}
_NO_MODULE_ATTRIBUTE = re.compile(r"^module '\w+' has no attribute")
_NO_NAME = re.compile(r"name '(\w+)' is not defined")
_UNLIKE_PYTHON: dict[type[Exception], re.Pattern[str]] = {
    RuntimeError: re.compile("^Internal error"),
    ValueError: re.compile(
        r"^pow\(\) 2nd argument cannot be negative|^invalid literal for int.*[^\x00-\x7f]|surrogates not allowed$"
    ),
    TypeError: re.compile("^cannot convert .* to bytes$|^can only concatenate list"),
    LookupError: re.compile("^unknown encoding"),
}
"""The words of errors that Python does not raise there, or not always (`x += (1,)` extends a list)."""


class Refusal(Exception):
    """A construct that the interpreter cannot run as Python would."""


def refuse(statement: ast.stmt, with_language: bool) -> None:
    """Raise Refusal for what would give another value here than in Python."""
    lazy = LAZY - {"filter"} if with_language else LAZY  # the language has a function of this name
    parents = {id(child): node for node in ast.walk(statement) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(statement):
        parent = parents.get(id(node))
        match node:
            case ast.Import():
                _refuse_modules([alias.name for alias in node.names])
            case ast.ImportFrom():
                _refuse_modules([node.module or "."])
            case ast.Name(id=name) if name in ABSENT:
                raise Refusal(f"{name}()")
            case ast.Name(id=name) if name in lazy | SETS and not (
                isinstance(parent, ast.Call) and parent.func is node
            ):
                raise Refusal(f"{name} that is not called where it is named")
            case ast.Call(func=ast.Name(id=name)) if name in lazy and not _is_consumed(node, parent, name in READY):
                raise Refusal(f"{name}() whose result is not used up at once")
            case ast.GeneratorExp() if not _is_consumed(node, parent, False):
                raise Refusal("a generator that is not used up at once")
            case ast.Set() | ast.SetComp() | ast.Call(func=ast.Name(id="set" | "frozenset")):
                if not _is_unordered(node, parent):
                    raise Refusal("a set whose order can be seen")
            case ast.Constant(value=str(text)) if _SURROGATE.search(text):
                raise Refusal("strings with lone surrogates")  # it has another character for them
            case ast.ClassDef(body=body):
                _refuse_special_methods(body)
            case ast.Attribute(attr="deque") | ast.alias(name="deque"):
                raise Refusal("deque, which is a list outside")
            case ast.ExceptHandler(type=caught) if not _is_caught_alike(caught):
                raise Refusal("an except clause that may catch what only this interpreter raises")


def _refuse_modules(names: list[str]) -> None:
    for name in names:
        if name.partition(".")[0] not in _MODULES or name in UNLIKE:
            raise Refusal(f"import {name}")


def _refuse_special_methods(body: list[ast.stmt]) -> None:
    """Refuse special methods: the interpreter calls some and ignores others."""
    for statement in body:
        name = getattr(statement, "name", "")
        if name.startswith("__") and name != "__init__":
            raise Refusal(f"a class with {name}")


def _is_consumed(node: ast.expr, parent: ast.AST | None, ready: bool) -> bool:
    """Whether an iterator is used up where it is made, so that it does not matter that it is a list here."""
    match parent:
        case ast.Call(func=ast.Name(id="any" | "all")):  # they may stop early: what they skip must not be able to fail
            return isinstance(node, ast.GeneratorExp) and not any(
                isinstance(inner, ast.Call | ast.Subscript | ast.Div | ast.FloorDiv | ast.Mod | ast.Pow)
                for inner in ast.walk(node)
            )
        case ast.Call(func=ast.Name(id=name)) if node in parent.args:
            return name in CONSUMERS or (ready and name in LAZY)  # of which the outer one is looked at too
        case ast.Call(func=ast.Attribute(attr=name)) if node in parent.args:
            return name in CONSUMING_METHODS
        case ast.Starred():
            return True
        case ast.Assign(targets=[ast.Tuple() | ast.List()]):
            return True
        case ast.For(iter=over) if over is node:
            return ready and not _names(node) & _mutated(parent)
        case ast.comprehension(iter=over) if over is node:
            return ready
    return False


def _names(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def _mutated(loop: ast.For) -> set[str]:
    """Names whose values the body of a loop may change in place."""
    found: set[str] = set()
    for statement in loop.body:
        for node in ast.walk(statement):
            match node:
                case ast.Call(func=ast.Attribute(attr=method, value=value)) if method in MUTATORS:
                    found |= _names(value)
                case ast.Subscript(ctx=ast.Store() | ast.Del(), value=value):
                    found |= _names(value)
                case ast.AugAssign(target=target):
                    found |= _names(target)
    return found


def _is_unordered(node: ast.expr, parent: ast.AST | None) -> bool:
    match parent:
        case ast.Call(func=ast.Name(id=name), args=[argument]) if argument is node:
            return name in UNORDERED and not any(keyword.arg == "key" for keyword in parent.keywords)
        case ast.Compare(ops=ops):
            return all(isinstance(op, ast.In | ast.NotIn | ast.Eq | ast.NotEq) for op in ops)
    return False


def _is_caught_alike(caught: ast.expr | None) -> bool:
    match caught:
        case ast.Name(id=name):
            return name in CAUGHT
        case ast.Tuple(elts=several):
            return all(map(_is_caught_alike, several))
    return False


def is_missing(error: BaseException) -> bool:
    """Whether the error is about something that Python has."""
    if isinstance(error, NotImplementedError | ImportError | PermissionError):
        return True
    if isinstance(error, SyntaxError):
        return True  # it compiled here, so that Python would have run it
    words = str(error)
    if isinstance(error, NameError):
        name = _NO_NAME.search(words)
        return bool(name and hasattr(builtins, name[1]))
    if isinstance(error, AttributeError):
        if _NO_MODULE_ATTRIBUTE.search(words):
            return True
        attribute = _NO_ATTRIBUTE.search(words)
        return attribute is None or _has(attribute[2], attribute[3], attribute[1] is not None)
    kind = next((kind for kind in _UNLIKE_PYTHON if isinstance(error, kind)), None)
    return bool(kind and _UNLIKE_PYTHON[kind].search(words))


def _has(kind: str, attribute: str, unbound: bool) -> bool:
    """Whether Python has this attribute, or may have it, of an object of this type, or of the type itself. A class of the
    program's own has what every class has."""
    known = getattr(builtins, kind, None)
    if kind != "type" and isinstance(known, type):
        return hasattr(known, attribute) or (unbound and hasattr(type, attribute))
    if _OF_ITS_OWN.fullmatch(kind):
        return True
    return (
        hasattr(object, attribute) or attribute in ("__dict__", "__module__") or (unbound and hasattr(type, attribute))
    )
