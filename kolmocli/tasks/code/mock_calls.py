"""What a mock is in tests that go to a program: a function that notes its calls in a list, and what tests ask of that list."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping, Sequence

from kolmocli.tasks.code.apart import MOCKED
from kolmocli.tasks.code.rewriting import on_bench

CALL = """
class _Call(tuple):
    args = property(lambda self: self[0])
    kwargs = property(lambda self: self[1])
"""
"""What tests get for a call in the list."""
_NAMED = "_named"
_ASSERTS = {
    "assert_called": "len({calls}) > 0",
    "assert_called_once": "len({calls}) == 1",
    "assert_not_called": "len({calls}) == 0",
    "assert_called_with": "{calls}[-1:] == [{call}]",
    "assert_called_once_with": "{calls} == [{call}]",
    "assert_any_call": "{call} in {calls}",
    "assert_has_calls": "{wanted} in [{calls}[at:at + len({wanted})] for at in range(len({calls}) + 1)]",
}
READ = {
    "call_count": "len({calls})",
    "called": "len({calls}) > 0",
    "call_args": "(_Call({calls}[-1]) if len({calls}) > 0 else None)",
    "call_args_list": "[_Call(each) for each in {calls}]",
    "mock_calls": "[_Call(each) for each in {calls}]",
}
READ |= {name.replace("call_", "await_"): form for name, form in READ.items() if name.startswith("call_")}
_ASSERTS |= {name.replace("called", "awaited").replace("_call", "_await"): form for name, form in _ASSERTS.items()}


def function(name: str, calls: str, parts: Mapping[str, ast.expr], awaited: bool) -> ast.stmt:
    """The function, which may have to be awaited; `parts` are its `return_value` and `side_effect`."""
    [made] = ast.parse(f"def {name}(*{MOCKED}, **{_NAMED}): {calls}.append(({MOCKED}, {_NAMED}))").body
    assert isinstance(made, ast.FunctionDef)
    match parts.get("side_effect"):
        case None:
            made.body.append(ast.Return(parts.get("return_value", on_bench("inert"))))
        case ast.List(effects) | ast.Tuple(effects):
            for at, effect in enumerate(effects):
                made.body.append(ast.If(_expression(f"len({calls}) == {at + 1}"), [_effect(effect)], []))
            made.body += ast.parse("raise StopIteration").body
        case effect if is_error(effect):
            made.body.append(_effect(effect))
        case effect:
            by_name = ast.keyword(None, ast.Name(_NAMED))
            made.body.append(ast.Return(ast.Call(effect, [ast.Starred(ast.Name(MOCKED))], [by_name])))
    if not awaited:
        return made
    return ast.AsyncFunctionDef(**{name: getattr(made, name) for name in made._fields}, lineno=1, col_offset=0)


def stated(calls: str, method: str, given: Sequence[ast.expr], named: Sequence[ast.keyword]) -> list[ast.stmt]:
    """A method of a mock that is called for itself, as an assert; nothing for one that is not known."""
    if method == "reset_mock":
        return ast.parse(f"{calls}.clear()").body
    if method not in _ASSERTS:
        return []
    ordered = not method.startswith("assert_has_") or not any(key.arg == "any_order" for key in named)
    form = _ASSERTS[method] if ordered else "all(each in {calls} for each in {wanted})"
    wanted = ast.unparse(given[0]) if given else "[]"
    return ast.parse(f"assert {form.format(calls=calls, wanted=wanted, call=ast.unparse(noted(given, named)))}").body


def read(calls: str, part: str) -> ast.expr:
    """What is read of a mock, by a key of `READ`."""
    return _expression(READ[part].format(calls=calls))


def noted(given: Sequence[ast.expr], named: Sequence[ast.keyword]) -> ast.expr:
    """A call as it is in the list."""
    by_name = ast.Dict([ast.Constant(key.arg) for key in named], [key.value for key in named])
    return ast.Tuple([ast.Tuple([*given], ast.Load()), by_name], ast.Load())


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _effect(effect: ast.expr) -> ast.stmt:
    return ast.Raise(effect) if is_error(effect) else ast.Return(effect)


def is_of_function(name: str) -> bool:
    """Whether a mock that is a function has this."""
    return name in READ or name in _ASSERTS or name in ("reset_mock", "return_value", "side_effect")


def is_error(node: ast.expr) -> bool:
    """An exception or a class of them, by its name."""
    name = ast.unparse(node.func if isinstance(node, ast.Call) else node)
    found = getattr(builtins, name, None)
    return (isinstance(found, type) and issubclass(found, BaseException)) or name.endswith(("Error", "Exception"))
