"""A program as a whole: a module whose functions are called, or a script and one of its inputs.

What each call came to is one line of the report. An exception ends a call and not the program; what it was is
the line. Of a script the report is what it prints, and at the end how it ended. The process holds arguments and one input,
and never what is expected of them.
"""

import atexit
import os
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any, NoReturn

import frames
import scope
import values
from statements import FILENAME
from streams import Streams


def calls(body: bytes, space: dict[str, Any], max_items: int) -> tuple[int, Iterator[str]]:
    """The number of calls, and what each comes to; the program runs before the first. Raises what the compiler raises."""
    code, wanted = _compiled(body)
    return len(wanted), _called(code, wanted, space, max_items * values.OF_A_CALL)


def _called(code: CodeType, wanted: list[Any], space: dict[str, Any], max_items: int) -> Iterator[str]:
    sys.set_int_max_str_digits(0)
    exec(code, space)
    for function, arguments in wanted:
        positional, named = values.decode(arguments)
        yield _call(space, function, positional, named, max_items)


def _call(space: dict[str, Any], function: str, positional: list[Any], named: dict[str, Any], most: int) -> str:
    try:
        if function not in space:
            raise NameError(function)
        sys.set_int_max_str_digits(0)
        value = space[function](*positional, **named)
        sys.set_int_max_str_digits(values.MOST_DIGITS)  # of what is reported
        return values.line(value, most)
    except (MemoryError, values.TooLong):
        raise
    except BaseException as error:
        return values.line(values.raised(error), most)


def script(fd: int, program: bytes, early: bytes, files: bytes = b"") -> bytes:
    """Run it on the input that comes from `fd`, after what is there `early`; what it prints goes there. `files` are listed, each
    after its name. The last line of the report."""
    try:
        code = compile(program.decode("utf-8"), FILENAME, "exec", 0, True, 0)
    except MemoryError:
        return frames.said("MLE while compiling")
    except (SyntaxError, ValueError, RecursionError, OverflowError) as error:
        return frames.said(f"SYNTAX {type(error).__name__}: {error.args[0] if error.args else ''}")
    parts = frames.unlisted(files)
    streams = Streams(fd, early)

    def leave(status: int = 0) -> NoReturn:
        os.write(fd, frames.said("RAISED SystemExit" if status & 0xFF else "OK"))
        os._exit(0)

    sys.set_int_max_str_digits(0)  # what is printed is text, and the host reads no integer out of it
    scope.Process.streams, scope.Process.leave = streams, leave
    if files:
        scope.begin_files((str(name, "utf-8"), data) for name, data in zip(parts, parts, strict=True))
    for module in (sys, scope.SYS):
        module.__dict__.update(
            stdin=streams.stdin, stdout=streams.stdout, stderr=streams.stderr, __stdin__=streams.stdin,
            __stdout__=streams.stdout, __stderr__=streams.stderr,
        )  # fmt: skip
    try:
        return _ended(code, streams)
    except MemoryError:
        return frames.said("MLE")


def _ended(code: CodeType, streams: Streams) -> bytes:
    raised: str | None = None
    space = scope.found_by_name(scope.fresh(input=input, exit=sys.exit, quit=sys.exit, open=scope.open_file))
    try:
        exec(code, space)
    except SystemExit as error:
        ended = error.code is None or (isinstance(error.code, int) and not error.code & 0xFF)
        raised = None if ended else "SystemExit"
    except MemoryError:
        raise
    except BaseException as error:
        raised = type(error).__name__
    try:
        atexit._run_exitfuncs()
        _let_go(space)
        streams.flush(sys.stdout)
    except MemoryError:
        raise
    except BaseException as error:  # a hook, or a stream that the program put in the place of its output
        raised = raised or type(error).__name__
    return frames.said("OK" if raised is None else f"RAISED {raised[: values.LONGEST_NAME]}")


def _let_go(space: dict[str, Any]) -> None:
    """What Python lets go of at its end may still print: a `__del__`, a `finally`, a buffer. What these need stays: functions,
    classes, modules, and plain values."""
    for name in list(space):
        if name != "__builtins__" and not issubclass(type(space.get(name)), _NEEDED):
            space.pop(name, None)


_NEEDED = (FunctionType, ModuleType, type, int, float, str)


def _compiled(body: bytes) -> tuple[CodeType, list[Any]]:
    """The code of the program, and what comes after it."""
    program, more = frames.split(body)
    return compile(program.decode("utf-8"), FILENAME, "exec", 0, True, 0), more
