"""Functions of the tests that a program is given: `apply(lambda x: x + n, [1, 2])`.

One goes to the program as its source and the values of the names in it, and is made again there (`keeper.py`). A list, dict or set of
the tests that it uses is in the program too (`asking.py`). The tests see nothing else that it changes, so one that may change more does
not go; nor does one that asserts, for it knows what is expected.
`source_of` reads the tests; the rest is a part of the tester.
"""

import ast
import builtins
import copy
import types
from collections.abc import Callable
from typing import Any

from kolmocli.tasks.code.apart import LENT, LIBRARY, OBJECT, is_fixed
from kolmocli.tasks.code.tester import BENCH

BENCHED = "_Bench"
"""What a program has in the place of the bench, under that key (`benched.py`)."""
_FIXED = (type(None), bool, int, float, complex, str, bytes, range)


def source_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> str | None:
    """The source of a function, without what is known when it is defined; None for one that asserts, or changes names not its own."""
    if any(isinstance(each, ast.Global | ast.Nonlocal | ast.Assert) for each in ast.walk(node)):
        return None
    node = copy.deepcopy(node)
    if not isinstance(node, ast.Lambda):
        node.decorator_list = []
    for each in ast.walk(node):
        if isinstance(each, ast.arg):
            each.annotation = _kept_as(each.annotation)
        elif isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            each.returns = _kept_as(each.returns)
    node.args.defaults = [ast.Constant(None) for _ in node.args.defaults]
    node.args.kw_defaults = [each and ast.Constant(None) for each in node.args.kw_defaults]
    return ast.unparse(node)


class NotLent(TypeError):
    """A function that does not go to a program."""


class Lending:
    """The functions of the tests, and those of them that a program was given in this part."""

    def __init__(self) -> None:
        self.sources: dict[types.CodeType, str] = {}
        self.lent: dict[Any, Any] = {}
        """The keys of functions, and the functions by key."""
        self._under_way: list[Any] = []

    def noted(self, source: str) -> Callable[[Any], Any]:
        """What a function of this source is decorated with."""

        def note(made: Any) -> Any:
            self.sources[made.__code__] = source
            return made

        return note

    def sent(self, value: Any, call: int, send: Callable[[Any], Any]) -> Any:
        """What goes to a program for a function; the value itself for what is none that can be sent."""
        if not isinstance(value, types.FunctionType) or value.__code__ not in self.sources:
            return _of_library(value) or value
        if value in self._under_way:
            raise NotLent(f"`{value.__name__}`, which calls itself by another function")
        if value not in self.lent:
            key = f"{len(self.lent)}. function of call {call}"
            self.lent |= {value: key, key: value}
        self._under_way.append(value)
        try:
            return LENT, self.lent[value], *_lent(value, self.sources[value.__code__], send)
        finally:
            self._under_way.pop()


def _lent(made: types.FunctionType, source: str, send: Callable[[Any], Any]) -> list[Any]:
    """What a program makes the function from: its name, its source, what it uses and its defaults. `send` makes a value ready."""
    space = dict(made.__globals__)
    for name, cell in zip(made.__code__.co_freevars, made.__closure__ or (), strict=True):
        try:
            space[name] = cell.cell_contents
        except ValueError:  # not bound yet
            space.pop(name, None)
    tree, free = ast.parse(source), _free(made.__code__)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    own = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    own |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    used: dict[str, Any] = {}
    for name in {node.id: None for node in names}:
        if name == BENCH:
            used[name] = OBJECT, BENCHED
        elif name in free and name in space:
            if space[name] is not made:
                used[name] = _fixed(name, space[name], send)
        elif name not in own and not hasattr(builtins, name):
            raise NotLent(f"a function that uses `{name}`, which it does not have there")
    given = made.__defaults__, made.__kwdefaults__ and tuple(made.__kwdefaults__.items())
    defaults, keywords = (each and _fixed(made.__name__, each, send) for each in given)
    return [made.__name__, source, used, defaults, keywords and dict(keywords)]


def _free(code: types.CodeType) -> set[str]:
    """Names that are not the function's own, and those of attributes."""
    inner = [_free(each) for each in code.co_consts if isinstance(each, types.CodeType)]
    return {*code.co_freevars, *code.co_names}.union(*inner)


def _fixed(name: str, value: Any, send: Callable[[Any], Any]) -> Any:
    """A value that a function uses, and that it cannot change."""
    if isinstance(value, types.ModuleType):
        return LIBRARY, value.__name__, ""
    if type(value) in (tuple, frozenset):
        return type(value)(_fixed(name, each, send) for each in value)
    sent = send(value)
    if (
        type(value) not in _FIXED
        and not is_fixed(value)
        and (type(sent) is not tuple or sent[0] not in (OBJECT, LENT, LIBRARY))
    ):
        changes = type(value) in (list, dict, set, bytearray)
        raise NotLent(f"a function that uses `{name}`, which {'it may change' if changes else 'is no plain value'}")
    return sent


def _kept_as(annotation: ast.expr | None) -> ast.expr | None:
    """An annotation that means the same in a program."""
    names = [each for each in ast.walk(annotation) if isinstance(each, ast.Name)] if annotation else []
    return annotation if all(hasattr(builtins, name.id) for name in names) else None


def _of_library(value: Any) -> tuple[str, str, str] | None:
    """A function or a class of Python's own: `len`, `str.upper`, `operator.add`, `array.array`."""
    if isinstance(value, type):
        return None if value.__module__ in ("builtins", "__main__") else (LIBRARY, value.__module__, value.__qualname__)
    kinds = types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType
    if not isinstance(value, kinds) or not isinstance(getattr(value, "__self__", None), types.ModuleType | None):
        return None
    module = getattr(value, "__objclass__", value).__module__
    if module in (None, "__main__"):
        return None
    return LIBRARY, module.removeprefix("_"), value.__qualname__  # `operator` has the functions of `_operator`
