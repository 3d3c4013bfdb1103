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
from collections.abc import Callable, Collection, Mapping, Sequence
from types import FunctionType
from typing import Any

import statements
from statements import MODULES

REMOVED = ("open", "input", "breakpoint", "help", "license", "copyright", "credits", "exit", "quit")
FINISHED, BROKEN = 0, 70
REHEARSALS = (
    b"sequence_1 = range_func_up(0, 3)\nsequence_2 = repeat_list(2, sequence_1)\noutput = reverse_list(sequence_2)",
    b"sequence_3 = range_func_up(0, 3)\nsequence_4 = repeat_list(2, sequence_3)\noutput = concatenate(sequence_4, [1, -2])",
    b"sequence_5 = [1, 2]\nfor n in sequence_5:\n    sequence_5 = [n]\noutput",
)
READ = 1 << 14  # a large buffer would be mapped, zeroed and unmapped again; few programs need one

_namespaces: dict[bytes, tuple[dict[str, Any], frozenset[str]]] = {}
"""Of each language: the names a program starts with, and which of them are functions of the small language."""


class NotImportable(ImportError):
    """A module that the reference machine does not have."""


def prepare() -> None:
    """Load all that programs can use, in the template, before the first fork."""
    fork_hooks = os.register_at_fork
    os.register_at_fork = lambda **_: None  # `random` must not reseed itself: seeds are fixed
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
        functions = frozenset(name for name, value in space.items() if type(value) is FunctionType and name[0] != "_")
        _namespaces[language] = space, functions
    null = os.open(os.devnull, os.O_WRONLY)
    for _ in range(8):  # the paths that every child takes: what they allocate and cache lies ready in a few pages
        for rehearsal in REHEARSALS:
            space, functions = _namespaces[b"D"]
            _run(null, rehearsal, dict(space), functions, 64)
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


def main(fd: int, max_items: int) -> None:
    """Read the language (one byte) and the program, run it, report, end. Does not return."""
    message = _read(fd)
    os.write(fd, _run(fd, message[1:], *_namespaces[message[:1]], max_items))
    os._exit(FINISHED)


def _read(fd: int) -> bytes:
    chunks = []
    while chunk := os.read(fd, READ):
        chunks.append(chunk)
    return b"".join(chunks)


def _run(fd: int, source: bytes, space: dict[str, Any], functions: Collection[str], max_items: int) -> bytes:
    """The last line of the report."""
    write, encode = os.write, statements.encode
    try:
        steps = statements.steps(source.decode("utf-8"), functions)
    except MemoryError:
        return b"!MLE while compiling\n"
    except (SyntaxError, ValueError, RecursionError, OverflowError) as error:
        return f"!SYNTAX {type(error).__name__}: {error.args[0] if error.args else ''}"[:200].encode() + b"\n"
    number = 0
    try:
        write(fd, b"%d\n" % len(steps))
        for step in steps:
            number += 1
            write(fd, encode(step(space), max_items))
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
