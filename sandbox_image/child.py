"""The child: one program, in a process that ends with it.

The trace goes out line by line, so a program that is killed still reports the statements that finished:

    <number of statements>\n        before any code of the program runs; the host accepts no more values
    [1, 2, 3]\n   or   null\n        one line per finished statement
    !OK\n   or   !RUNTIME ZeroDivisionError\n

A program may forge these lines, as it may print anything; the host trusts none of them further than the
number of statements, and compares values that the container has never seen.
"""

import builtins
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import statements
from statements import MODULES

REMOVED = ("open", "input", "breakpoint", "help", "license", "copyright", "credits", "exit", "quit")
FINISHED, BROKEN = 0, 70
REHEARSAL = b"a = range_func_up(0, 3)\nb = repeat_list(2, a)\noutput = concatenate(b, [1, -2])"
MAX_PROGRAM = 1 << 20

_namespaces: dict[bytes, dict[str, Any]] = {}


class NotImportable(ImportError):
    """A module that the reference machine does not have."""


def prepare() -> None:
    """Load all that programs can use, in the template, before the first fork."""
    fork_hooks = os.register_at_fork
    os.register_at_fork = lambda **_: None  # type: ignore[assignment]  # `random` must not reseed itself: seeds are fixed
    for name in MODULES:
        __import__(name)
    os.register_at_fork = fork_hooks
    sys.argv = [""]
    for language, prelude in ((b"D", "functions"), (b"P", None)):
        space: dict[str, Any] = {"__name__": "__main__", "__builtins__": _builtins()}
        if prelude:
            path = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{prelude}.py")
            with open(path, encoding="utf-8") as file:
                exec(compile(file.read(), "<language>", "exec", 0, True, 2), space)
        _namespaces[language] = space
    null = os.open(os.devnull, os.O_WRONLY)
    for _ in range(8):  # the paths that every child takes: what they allocate and cache lies ready in a few pages
        _run(null, REHEARSAL, dict(_namespaces[b"D"]), 16)
    os.close(null)


def _builtins() -> dict[str, Any]:
    names = {name: value for name, value in vars(builtins).items() if name not in REMOVED}
    names["__import__"] = _importer(builtins.__import__)
    return names


def _importer(real: Callable[..., Any]) -> Callable[..., Any]:
    def __import__(
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        if level or name.partition(".")[0] not in MODULES:
            raise NotImportable(name)
        module = real(name, globals, locals, fromlist, level)
        if name == "random":
            module.seed(0)
        return module

    return __import__


def main(fd: int, language: bytes, max_items: int) -> None:
    """Read the program, run it, report, end. Does not return."""
    source = _read(fd)
    os.write(fd, _run(fd, source, _namespaces[language], max_items))
    os._exit(FINISHED)


def _read(fd: int) -> bytes:
    chunks = []
    while chunk := os.read(fd, MAX_PROGRAM):
        chunks.append(chunk)
    return b"".join(chunks)


def _run(fd: int, source: bytes, space: dict[str, Any], max_items: int) -> bytes:
    """The last line of the report."""
    write, encode = os.write, statements.encode
    try:
        body = statements.parse(source.decode("utf-8"))
        steps = [(statements.target(s), type(s) is statements.Expr, statements.compiled(s)) for s in body]
    except MemoryError:
        return b"!MLE while compiling\n"
    except (SyntaxError, ValueError, RecursionError, OverflowError) as error:
        return f"!SYNTAX {type(error).__name__}: {error.args[0] if error.args else ''}"[:200].encode() + b"\n"
    number = 0
    try:
        write(fd, b"%d\n" % len(steps))
        for name, is_expression, code in steps:
            number += 1
            if is_expression:
                value = eval(code, space)
            else:
                exec(code, space)
                value = space.get(name) if name else None
            write(fd, encode(value, max_items))
        return b"!OK\n"
    except statements.TooLong as error:
        return f"!OLE {error}\n".encode()
    except MemoryError:
        space.clear()
        return b"!MLE\n"
    except BaseException as error:  # a program may raise anything; this process ends with it
        denied = isinstance(error, NotImportable) or (isinstance(error, OSError) and error.errno in (1, 13))
        label = "DENIED" if denied else "RUNTIME"
        return f"!{label} {type(error).__name__[:60]} in statement {number}\n".encode("utf-8", "replace")
