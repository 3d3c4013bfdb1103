"""Mocks that are more than a function: they have parts, such as attributes and what their methods return. Each is an object that the
program has (`benched.py`), and parts are named by the steps that lead there.

response = Mock(status_code=200)                response = bench.mocked([[[".status_code"], 200]])
response.json.return_value = {}      becomes    bench.tell(response, [".json", "()"], {})
response.json.side_effect = OSError             bench.tell(response, [".json", "!"], ["raise", OSError, [], {}])
response.json.assert_called_once()              assert len(bench.calls_of(response, [".json"])) == 1
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence

from kolmocli.tasks.code import mock_calls
from kolmocli.tasks.code.rewriting import on_bench

_SPECIFIED = ("spec", "spec_set", "autospec", "wraps")
"""Who names these wants a mock that refuses some uses, or does what another does."""
_IDLE = ("name", "new_callable", "create", "unsafe")
"""What a mock may be told that changes nothing here."""
READ = {*mock_calls.READ} - {"mock_calls"}
"""What tests read of a part; the last would have the calls of its own parts too."""
Steps = tuple[str, ...]


def chain(node: ast.AST, names: Collection[str]) -> tuple[str, Steps] | None:
    """The mock of these names and the steps to a part of it; None for what is none."""
    match node:
        case ast.Name(name) if name in names:
            return name, ()
        case ast.Attribute(owner, name) if (found := chain(owner, names)) is not None:
            return found[0], (*found[1], "()" if name == "return_value" else f".{name}")
        case ast.Call(owner, [], []) if (found := chain(owner, names)) is not None:
            return found[0], (*found[1], "()")
    return None


def with_parts(tree: ast.AST, names: Collection[str]) -> tuple[set[str], set[str]]:
    """Which of these mocks have parts of their own, and which have parts of what they return. Names that tests give to parts are added
    to the first."""
    known, own, returned = {*names}, set[str](), set[str]()
    while more := {name: part for name, part in _aliases(tree, known) if name not in known}:
        known |= {*more}
        own |= {*more}
        for mock, steps in more.values():
            (returned if steps[0] == "()" else own).add(mock)
    for node in ast.walk(tree):
        part = chain(node, known) if isinstance(node, ast.Attribute) else None
        if part is not None:
            mock, (first, *rest) = part
            if first == "()" and rest:
                returned.add(mock)
            elif first != "()" and not mock_calls.is_of_function(first[1:]):
                own.add(mock)
    return own, returned - own


def _aliases(tree: ast.AST, names: Collection[str]) -> Iterator[tuple[str, tuple[str, Steps]]]:
    for node in ast.walk(tree):
        match node:
            case ast.Assign([ast.Name(name)], value) if is_alias(value) and (part := chain(value, names)) is not None:
                yield name, part


def is_alias(value: ast.expr) -> bool:
    """Whether it may be a part, and is not what tests read of one."""
    return isinstance(value, ast.Attribute) and (
        value.attr == "return_value" or not mock_calls.is_of_function(value.attr)
    )


def has_objects(tree: ast.AST) -> bool:
    """Whether tests that were rewritten have mocks that are objects."""
    made = ast.unparse(on_bench("mocked").func)
    return any(isinstance(node, ast.Attribute) and ast.unparse(node) == made for node in ast.walk(tree))


def keywords(made: ast.Call) -> list[ast.keyword]:
    """What a mock is told where it is made."""
    return [key for key in made.keywords if key.arg not in _IDLE]


def mocked(made: ast.Call, visit: Callable[[ast.expr], ast.expr]) -> ast.expr:
    """The object for this call of `Mock`. Raises ValueError for what is not read."""
    given = keywords(made)
    if made.args or any(key.arg in (None, *_SPECIFIED) for key in given):
        raise ValueError(f"the tests use more of a mock than is read: `{ast.unparse(made)}`")
    told = [_pair(_steps((), str(key.arg)), _value(str(key.arg), key.value, visit)) for key in given]
    return on_bench("mocked", ast.List(told, ast.Load()))


def told(mock: ast.expr, steps: Steps, value: ast.expr, visit: Callable[[ast.expr], ast.expr]) -> ast.stmt:
    """An assignment to the part at these steps."""
    *before, last = steps
    to = (*before, "!") if last == ".side_effect" else steps
    return ast.Expr(on_bench("tell", mock, listed(to), _value(last[1:], value, visit)))


def calls(mock: ast.expr, steps: Steps) -> str:
    """What gives the calls of the part at these steps."""
    return ast.unparse(on_bench("calls_of", mock, listed(steps)))


def part(mock: ast.expr, steps: Steps) -> ast.expr:
    """What is at these steps. Raises ValueError for calls of all parts together."""
    if steps[-1:] in ((".mock_calls",), (".method_calls",)):
        raise ValueError(f"the tests use more of a mock than is read: `{ast.unparse(mock)}{steps[-1]}`")
    return on_bench("part_of", mock, listed(steps)) if steps else mock


def alias(name: str, mock: ast.expr, steps: Steps) -> ast.stmt:
    """A name for the part at these steps."""
    return ast.Assign([ast.Name(name, ast.Store())], on_bench("made_part", mock, listed(steps)))


def stated(
    mock: ast.expr, steps: Steps, method: str, given: Sequence[ast.expr], named: Sequence[ast.keyword]
) -> list[ast.stmt]:
    """A method of the part at these steps that is called for itself, as `mock_calls.stated`."""
    if method in ("configure_mock", "attach_mock", "mock_add_spec"):
        raise ValueError(f"the tests use more of a mock than is read: `{ast.unparse(mock)}.{method}`")
    if method == "reset_mock":
        return [ast.Expr(ast.Call(ast.Attribute(mock, "_forget_", ast.Load()), [], []))]
    return mock_calls.stated(calls(mock, steps), method, given, named)


def listed(steps: Sequence[str]) -> ast.expr:
    return ast.List([ast.Constant(step) for step in steps], ast.Load())


def _steps(before: Steps, name: str) -> Steps:
    return (*before, {"return_value": "()", "side_effect": "!"}.get(name, f".{name}"))


def _pair(steps: Steps, value: ast.expr) -> ast.expr:
    return ast.List([listed(steps), value], ast.Load())


def _value(name: str, value: ast.expr, visit: Callable[[ast.expr], ast.expr]) -> ast.expr:
    return _effect(value, visit) if name == "side_effect" else visit(value)


def _effect(node: ast.expr, visit: Callable[[ast.expr], ast.expr]) -> ast.expr:
    """`side_effect` as a word and what belongs to it."""
    match node:
        case ast.List(effects) | ast.Tuple(effects):
            return _words("each", ast.List([_effect(each, visit) for each in effects], ast.Load()))
        case ast.Call(error, given, named) if mock_calls.is_error(node) and all(key.arg for key in named):
            by_name = ast.Dict([ast.Constant(key.arg) for key in named], [visit(key.value) for key in named])
            return _words("raise", visit(error), ast.List([visit(each) for each in given], ast.Load()), by_name)
        case ast.Name() | ast.Attribute() if mock_calls.is_error(node):
            return _words("raise", visit(node), ast.List([], ast.Load()), ast.Dict([], []))
        case ast.Lambda() | ast.Name() | ast.Attribute():
            return _words("call", visit(node))
    return _words("return", visit(node))


def _words(word: str, *more: ast.expr) -> ast.expr:
    return ast.List([ast.Constant(word), *more], ast.Load())
