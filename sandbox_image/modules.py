"""A program as a whole: a module whose functions are called, or a script that runs once for each input.

What each call or run came to is one line of the report. An exception ends a call and not the program; what it was is
the line. The process holds arguments and inputs, and never what is expected of them.
"""

import io
import sys
from collections.abc import Iterator
from types import CodeType
from typing import Any

import frames
import scope
import values
from statements import FILENAME


def calls(body: bytes, space: dict[str, Any], max_items: int) -> tuple[int, Iterator[str]]:
    """The number of calls, and what each comes to; the program runs before the first. Raises what the compiler raises."""
    code, wanted = _compiled(body)
    return len(wanted), _called(code, wanted, space, max_items)


def _called(code: CodeType, wanted: list[Any], space: dict[str, Any], max_items: int) -> Iterator[str]:
    exec(code, space)
    for function, arguments in wanted:
        positional, named = values.decode(arguments)
        yield _call(space, function, positional, named, max_items)


def _call(space: dict[str, Any], function: str, positional: list[Any], named: dict[str, Any], most: int) -> str:
    try:
        if function not in space:
            raise NameError(function)
        return values.line(space[function](*positional, **named), most)
    except (MemoryError, values.TooLong):
        raise
    except BaseException as error:
        return values.line(values.Raised(type(error).__name__), most)


def script(body: bytes) -> tuple[int, Iterator[str]]:
    """The number of inputs, and what the program prints for each, every time in a namespace of its own."""
    code, inputs = _compiled(body)
    return len(inputs), (_printed(code, text) for text in inputs)


def _printed(code: CodeType, text: str) -> str:
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="", write_through=True)
    given = io.TextIOWrapper(io.BytesIO(text.encode("utf-8", "surrogatepass")), "utf-8", "surrogatepass", newline=None)
    for module in (sys, scope.SYS):
        module.stdin, module.stdout = given, out  # type: ignore[attr-defined]
    raised: BaseException | None = None
    try:
        exec(code, scope.fresh(input=input, exit=sys.exit, quit=sys.exit, open=_standard_input))
    except SystemExit as error:
        if error.code not in (None, 0):
            raised = error
    except MemoryError:
        raise
    except BaseException as error:
        raised = error
    if raised is not None:
        return values.line(values.Raised(type(raised).__name__), values.MOST_PRINTED)
    out.flush()
    buffer = out.buffer
    assert isinstance(buffer, io.BytesIO)
    return values.line(buffer.getvalue().decode("utf-8", "replace"), values.MOST_PRINTED)


def _standard_input(file: object, *_: object, **__: object) -> Any:
    """Scripts read all of their input by `open(0)`."""
    if file != 0:
        raise PermissionError(1, "files")
    return sys.stdin


def _compiled(body: bytes) -> tuple[CodeType, list[Any]]:
    """The code of the program, and what comes after it."""
    program, more = frames.split(body)
    return compile(program.decode("utf-8"), FILENAME, "exec", 0, True, 0), more
