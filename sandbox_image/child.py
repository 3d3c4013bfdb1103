"""The child: one program, in a process that ends with it.

The trace goes out line by line, so a program that is killed still reports the statements that finished:

    <number of statements>\n        before any code of the program runs; the host accepts no more values
    [1, 2, 3]\n   or   null\n        one line per finished statement
    !OK\n   or   !RUNTIME ZeroDivisionError\n

A script is another matter: what it prints goes out as it is, and the last line says how it ended (`frames.said`).

A program may forge these lines, as it may print anything; the host trusts none of them further than the
number of statements, and compares values that the container has never seen.
"""

import gc
import math
import os
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import frames
import modules
import scope
import statements
import values

FINISHED, BROKEN = 0, 70
REHEARSALS = (
    (b"D", b"sequence_1 = range_func_up(0, 3)\nsequence_2 = repeat_list(2, sequence_1)\noutput = reverse_list(sequence_2)"),
    (b"D", b"sequence_3 = range_func_up(0, 3)\nsequence_4 = repeat_list(2, sequence_3)\noutput = concatenate(sequence_4, [1, -2])"),
    (b"D", b"sequence_5 = [1, 2]\nfor n in sequence_5:\n    sequence_5 = [n]\noutput"),
    (b"C", frames.join(b"def f(x):\n    return [x, 1, 'a']\n", b'[["f",[[3],{"d":[]}]]]')),
)  # fmt: skip
READ = 1 << 14  # a large buffer would be mapped, zeroed and unmapped again; few programs need one

_spaces: dict[bytes, tuple[dict[str, Any], Collection[str]]] = {}
"""Of each kind: the names a program starts with, and which of them are functions of the small language."""


def prepare(names: Sequence[str]) -> None:
    """Load these modules and all else that programs can use, in the template, before the first fork."""
    scope.load(names)
    _spaces.update({b"D": scope.language(), b"P": (scope.fresh(), ()), b"V": (scope.fresh(), ())})
    _spaces[b"C"] = scope.fresh("solution", open=scope.open_file), ()
    null = os.open(os.devnull, os.O_WRONLY)
    for _ in range(8):  # the paths that every child takes: what they allocate and cache lies ready in a few pages
        for kind, body in REHEARSALS:
            space, functions = _spaces[kind]
            _run(null, kind, body, dict(space), functions, 64)
    os.close(null)


def main(fd: int, max_items: int) -> None:
    """Read the kind (one byte) and the program, run it, report, end. Does not return."""
    message = os.read(fd, READ)
    kind = message[:1]
    if kind != b"D":  # what a program leaves in circles would count as its memory
        gc.freeze()  # counts from nothing, whatever the template did since
        gc.enable()
    if kind in b"SF":
        parts, early = _parts(fd, message[1:], 1 + (kind == b"F"))
        os.write(fd, modules.script(fd, parts[0], early, *parts[1:]))
        os._exit(FINISHED)
    message += _read(fd)
    space, functions = _spaces.get(kind, ({}, ()))
    if kind in (b"P", b"V", b"C"):
        space = scope.found_by_name(space)
    os.write(fd, _run(fd, kind, message[1:], space, functions, max_items))
    os._exit(FINISHED)


def _read(fd: int) -> bytes:
    chunks = []
    while chunk := os.read(fd, READ):
        chunks.append(chunk)
    return b"".join(chunks)


def _parts(fd: int, begun: bytes, count: int) -> tuple[list[bytes], bytes]:
    """So many parts, each after its length, and what has come of the input with them: the rest is the script's to read."""
    message, parts = bytearray(begun), list[bytes]()
    while len(parts) < count:
        start = frames.LENGTH.size
        end = start + frames.LENGTH.unpack_from(message)[0] if len(message) >= start else math.inf
        if len(message) >= end:
            parts.append(bytes(message[start : int(end)]))
            del message[: int(end)]
        elif chunk := os.read(fd, 1 << 18):
            message += chunk
        else:
            break
    return parts, bytes(message)


def _run(fd: int, kind: bytes, body: bytes, space: dict[str, Any], functions: Collection[str], max_items: int) -> bytes:
    """The last line of the report."""
    write = os.write
    try:
        count, lines = _start(kind, body, space, functions, max_items)
    except MemoryError:
        return b"!MLE while compiling\n"
    except (SyntaxError, ValueError, RecursionError, OverflowError) as error:
        return f"!SYNTAX {type(error).__name__}: {error.args[0] if error.args else ''}"[:200].encode() + b"\n"
    number = 1
    try:
        write(fd, b"%d\n" % count)
        for line in lines:
            write(fd, line.encode() + b"\n")
            number += 1
        return b"!OK\n"
    except values.TooLong as error:
        return f"!OLE {error}\n".encode()
    except MemoryError:
        space.clear()
        return b"!MLE\n"
    except BaseException as error:  # a program may raise anything; this process ends with it
        denied = isinstance(error, scope.NotImportable) or (isinstance(error, OSError) and error.errno in (1, 13))
        label = "DENIED" if denied else "RUNTIME"
        place = f" in statement {number}" if kind in b"DPV" else ""
        return f"!{label} {type(error).__name__[:60]}{place}\n".encode("utf-8", "replace")


def _start(
    kind: bytes, body: bytes, space: dict[str, Any], functions: Collection[str], max_items: int
) -> tuple[int, Iterator[str]]:
    """The number of lines of the report, and the lines, each made when it is asked for. Raises what the compiler raises."""
    if kind == b"C":
        return modules.calls(body, space, max_items)
    steps = statements.steps(body.decode("utf-8"), functions)
    line = values.plain_line if kind == b"V" else values.integer_line
    return len(steps), (line(step(space), max_items) for step in steps)
