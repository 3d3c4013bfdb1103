"""A program as a whole in the embedded interpreter: a module whose functions are called, or a script with its inputs.

The twin of `sandbox_image/modules.py`. Values are looked at inside the interpreter, because outside it a string may
stand for a value that it cannot carry.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

import pydantic_monty as monty

from kolmocli.sandbox.embedded.refusals import Refusal, is_missing, refuse
from kolmocli.sandbox.wire import values
from kolmocli.sandbox.wire.statements import target

_PLAIN = """
def __plain(value):
    kind = type(value)
    if value is None or kind in (int, float, bool, str, bytes, complex):
        return value
    if kind is list:
        return [__plain(item) for item in value]
    if kind is tuple:
        return tuple([__plain(item) for item in value])
    if isinstance(value, dict):
        return {__plain(key): __plain(item) for key, item in value.items()}
    if kind is set or kind is frozenset:
        return value
    if kind is range:
        raise NotImplementedError('range')
    raise TypeError(kind.__name__)
"""
_RANGE = """
__count = len(__value)
__start = __value[0] if __count else 0
(__count, __start, __value[1] if __count > 1 else __start + 1)
"""
"""The same items, whatever its end and step were: two such ranges are equal."""
_INPUT = """
__lines = __text.split("\\n")
if __lines[-1] == "":
    __lines.pop()
def input(prompt=""):
    print(prompt, end="")
    if not __lines:
        raise EOFError("EOF when reading a line")
    return __lines.pop(0)
"""
_UNLIKE = {"__name__", "open"}
"""Names with another value here than in a container."""
Open = Callable[[], Any]
"""A session in a `with`."""


def valued(open_session: Open, texts: list[str], body: list[ast.stmt], max_items: int) -> Iterator[str]:
    """The value of each statement."""
    with open_session() as session:
        session.feed_run(_PLAIN)
        for statement, text in zip(body, texts, strict=True):
            _refuse(statement)
            name = target(statement)
            if isinstance(statement, ast.Expr):
                session.feed_run(f"__value = ({text}\n)\nNone", print_callback=_ignore)
            else:
                session.feed_run(
                    f"{text}\n{f'__value = {name}' if name else '__value = None'}\nNone", print_callback=_ignore
                )
            yield values.plain_line(_plain(session), max_items)


def called(
    open_session: Open, texts: list[str], body: list[ast.stmt], calls: list[Any], max_items: int
) -> Iterator[str]:
    """The result of each call. Raises what ends the program as a whole: a limit, a refusal, an error outside a call."""
    with open_session() as session:
        session.feed_run(_PLAIN)
        _feed_all(session, texts, body, _ignore)
        for function, arguments in calls:
            positional, named = values.decode(arguments)
            given = {"__positional": positional, "__named": named}
            try:
                session.feed_run(
                    f"__value = {function}(*__positional, **__named)\nNone", inputs=given, print_callback=_ignore
                )
                value = _plain(session)
            except monty.MontyConversionError as error:
                raise Refusal("arguments of this kind") from error
            except monty.MontyRuntimeError as error:
                value = _raised(error)
            yield values.line(value, max_items)


def printed(
    open_session: Open, texts: list[str], body: list[ast.stmt], inputs: list[str]
) -> Iterator[str | values.Raised]:
    """Text that the program prints for each input, in a session of its own."""
    for text in inputs:
        try:
            yield _output(open_session, texts, body, text)
        except monty.MontyRuntimeError as error:
            made = _raised(error)
            if made.error == "SystemExit" and not made.said:  # a good end without an argument, a bad one with ""
                raise Refusal("SystemExit without words") from error
            yield made


def _output(open_session: Open, texts: list[str], body: list[ast.stmt], text: str) -> str:
    out: list[str] = []
    with open_session() as session:
        session.feed_run(_INPUT, inputs={"__text": text})
        _feed_all(session, texts, body, lambda stream, piece: out.append(piece) if stream == "stdout" else None)
    return "".join(out)


def _feed_all(session: Any, texts: list[str], body: list[ast.stmt], told: Callable[[str, str], None]) -> None:
    for statement in body:
        _refuse(statement)
    for text in texts:
        session.feed_run(f"{text}\nNone", print_callback=told)


def _refuse(statement: ast.stmt) -> None:
    refuse(statement, False)
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and node.id in _UNLIKE:
            raise Refusal(node.id)


def _plain(session: Any) -> Any:
    try:
        return session.feed_run("__plain(__value)")
    except monty.MontyRuntimeError as error:
        inner = error.exception()
        if isinstance(inner, TypeError):
            return values.Opaque(str(inner))
        if isinstance(inner, NotImplementedError) and session.feed_run("type(__value) is range"):
            count, start, second = session.feed_run(_RANGE)
            return range(start, start + count * (second - start), second - start)
        raise


def _raised(error: monty.MontyRuntimeError) -> values.Raised:
    """An exception that Python would raise too; any other one ends the program."""
    inner = error.exception()
    if isinstance(inner, TimeoutError | MemoryError) or is_missing(inner):
        raise error
    return values.raised(inner)


def _ignore(stream: str, text: str) -> None:
    """Functions print into the void, here and in a container."""
