"""The statements of a program: the one source of the line trace.

Imports nothing of the project: the image copies this file, so that a container and the embedded worker
cannot disagree on what a statement is.
"""

from __future__ import annotations

import re
from _ast import AnnAssign, Assign, AugAssign, Expr, Expression, Module, Name, PyCF_ONLY_AST, stmt
from collections.abc import Callable, Collection
from functools import partial
from keyword import iskeyword
from types import CodeType
from typing import Any

FILENAME = "<program>"
MODULES = (
    "__future__", "base64", "binascii", "bisect", "collections", "functools", "heapq", "itertools", "math", "operator",
    "random", "re", "string", "struct", "sys", "zlib",
)  # fmt: skip
MORE_MODULES = (
    "abc", "array", "calendar", "cmath", "contextlib", "copy", "dataclasses", "datetime", "decimal", "enum", "fractions",
    "hashlib", "io", "json", "numbers", "queue", "statistics", "textwrap", "time", "types", "typing", "unicodedata",
    "_strptime",
)  # fmt: skip
"""The importable part of the reference machine: what nearly every program does with, and the rest."""
HABITUAL_MODULES = (
    "argparse", "ast", "asyncio", "atexit", "bz2", "codecs", "colorsys", "concurrent", "concurrent.futures", "configparser",
    "contextvars", "copyreg", "csv", "difflib", "dis", "email", "email.generator", "email.message", "email.parser",
    "email.policy", "email.utils", "errno", "fileinput", "fnmatch", "gc", "getopt", "glob", "graphlib", "gzip", "hmac", "html",
    "html.parser", "inspect", "ipaddress", "keyword", "linecache", "locale", "logging", "lzma", "optparse", "pathlib",
    "pickle", "plistlib", "pprint", "reprlib", "sched", "secrets", "shlex", "shutil", "sqlite3", "stat", "tempfile", "timeit", "token", "tokenize", "tomllib",
    "traceback", "urllib.parse", "uuid", "warnings", "weakref", "xml", "xml.dom.expatbuilder", "xml.dom.minidom",
    "xml.etree.ElementTree", "zipfile",
)  # fmt: skip
"""What programs import from habit, and what reaches nothing in a container. The embedded interpreter has none of it."""
_PLAIN = re.compile(r"(?:([A-Za-z_]\w*) = [\w ,.()\[\]+*/%|&^~<>-]+)|[A-Za-z_]\w*", re.ASCII)
"""A line that is one whole statement by its looks: no string, comment, colon, second `=` or continuation in it."""
Step = Callable[[dict[str, Any]], object]
"""One statement: run in a namespace, it returns the value that the trace shows."""


def steps(source: str, functions: Collection[str] = ()) -> list[Step]:
    """The top-level statements, ready to run. Raises what `parse` raises.

    `functions` are names that may be called without a compiler: those of the small language.
    The two short ways exist because a child pays for every page that it touches, and the compiler touches many.
    They decide nothing: what does not look plain goes the long way.
    """
    lines = source.split("\n")
    return _calls(lines, functions) or _lines(lines) or [_statement(s) for s in parse(source)]


def _calls(lines: list[str], functions: Collection[str]) -> list[Step]:
    """Straight-line calls `name = function(name or integer, ...)` of known functions and names; else nothing."""
    bound: set[str] = set()
    found: list[Step] = []
    for line in lines:
        name, _, call = line.partition(" = ")
        function, _, rest = call.partition("(")
        if function not in functions or name in functions or not _is_name(name) or rest[-1:] != ")":
            return []
        arguments: list[str | int] = []
        for text in rest[:-1].split(", "):
            if text in bound:
                arguments.append(text)
            elif text.isdecimal() and text.isascii() and (text[0] != "0" or text == "0") and len(text) < 19:
                arguments.append(int(text))
            else:
                return []
        bound.add(name)
        found.append(partial(_call, name, function, arguments))
    return found


def _is_name(text: str) -> bool:
    return text.isidentifier() and text.isascii() and text[0] != "_" and not iskeyword(text)


def _call(name: str, function: str, arguments: list[str | int], space: dict[str, Any]) -> object:
    values = [space[each] if type(each) is str else each for each in arguments]
    value = space[name] = space[function](*values)
    return value


def _lines(lines: list[str]) -> list[Step]:
    """Plain lines, compiled each by itself without a tree; else nothing."""
    found: list[Step] = []
    for line in lines:
        match = _PLAIN.fullmatch(line)
        if not match:
            return []
        try:
            code = compile(line, FILENAME, "exec" if match[1] else "eval", 0, True, 0)
        except SyntaxError:
            return []
        found.append(partial(_run, code, match[1]))
    return found


def _statement(statement: stmt) -> Step:
    return partial(_run, compiled(statement), target(statement))


def _run(code: CodeType, name: str | None, space: dict[str, Any]) -> object:
    """The value of an expression (code for `eval` has one, code for `exec` gives None) or of the name that was bound."""
    value = eval(code, space)
    return space.get(name) if name else value


def parse(source: str) -> list[stmt]:
    """The top-level statements. Raises what the compiler raises: SyntaxError, ValueError, RecursionError, MemoryError."""
    tree: Module = compile(source, FILENAME, "exec", PyCF_ONLY_AST, True, 0)  # type: ignore[assignment]
    return tree.body


def target(statement: stmt) -> str | None:
    """The name that an assignment to one single name binds, else None."""
    match statement:
        case Assign(targets=[Name(id=name)]) | AugAssign(target=Name(id=name)):
            return name
        case AnnAssign(target=Name(id=name), value=value) if value is not None:
            return name
    return None


def compiled(statement: stmt) -> CodeType:
    """Code of one statement: to `eval` for an expression statement, to `exec` for any other."""
    if type(statement) is Expr:
        return compile(Expression(statement.value), FILENAME, "eval", 0, True, 0)
    return compile(Module([statement], []), FILENAME, "exec", 0, True, 0)
