"""Tests that write files, or look at them: those are in the memory of the program, which is asked for all that reaches them.

with open(path) as file:                 with __bench__.files.library("open")(path) as file:
    assert file.read() == "a"                assert file.read() == "a"
os.remove(path)                          __bench__.files.library("os.remove")(path)

Names of files are the tests' own (`paths.py`).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from kolmocli.tasks.code.calls import bound
from kolmocli.tasks.code.tester import BENCH

_OF_OS = "access chdir chmod listdir makedirs mkdir remove removedirs rename renames replace rmdir scandir stat truncate unlink utime walk"
_OF_PATH = "exists getmtime getsize isdir isfile islink lexists samefile"
_OTHERS = "io.open codecs.open gzip.open bz2.open lzma.open sqlite3.connect xml.etree.ElementTree.parse fileinput.input linecache.getlines"
_WHOLE = frozenset({"glob", "shutil", "tempfile", "zipfile"})
"""Modules of which all reaches files."""
_REACHING = frozenset(
    ["open", *(f"os.{name}" for name in _OF_OS.split()), *(f"os.path.{name}" for name in _OF_PATH.split()), *_OTHERS.split()]
)  # fmt: skip
_PLACES = frozenset({"os.getcwd", "os.path.abspath", "os.path.realpath", "os.path.expanduser"})
"""What depends on where the program runs. Tests that reach no file have that where they run themselves."""
_FILES = ast.Attribute(ast.Name(BENCH, ast.Load()), "files", ast.Load())
_PATHS = frozenset({"pathlib.Path", "pathlib.PosixPath"})


def with_files(tree: ast.Module, code: Sequence[str] = ()) -> ast.Module:
    """The same tests where they reach none. They may use what this code imports."""
    own = bound(tree)
    there = {name: path for text in code for name, path in _imported(text).items() if name not in own}
    names = there | _names(tree)
    known = {_path(node, names) for node in ast.walk(tree)}
    if _has_file(tree) or any(path in _PATHS or _reaches(path) for path in known if path):
        return ast.Module(_Filed(names).visit(ast.fix_missing_locations(tree)).body, [])
    return tree


def reach_files(tree: ast.Module) -> bool:
    """Whether the tests write files, or look at them: what they do at the end of a test takes these away."""
    names = _names(tree)
    return any((path := _path(node, names)) and _reaches(path) for node in ast.walk(tree))


def _reaches(path: str) -> bool:
    return path in _REACHING or path.partition(".")[0] in _WHOLE


def _has_file(tree: ast.Module) -> bool:
    """Whether pytest would give them a folder, or a program one of theirs."""
    nodes = [*ast.walk(tree)]
    given = any(isinstance(node, ast.Attribute) and ast.unparse(node) == ast.unparse(_FILES) for node in nodes)
    return given or any(isinstance(node, ast.Constant) and node.value == "builtins.open" for node in nodes)


def _names(tree: ast.Module) -> dict[str, str]:
    """What names of the tests are in Python's library."""
    found = {} if "open" in bound(tree) else {"open": "open"}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names):
                for alias in names:
                    top = alias.name.partition(".")[0]
                    found |= {alias.asname: alias.name} if alias.asname else {top: top}
            case ast.ImportFrom(str(module), names, 0):
                found |= {alias.asname or alias.name: f"{module}.{alias.name}" for alias in names}
    return found


def _imported(code: str) -> dict[str, str]:
    try:
        return _names(ast.parse(code))
    except (SyntaxError, ValueError):  # the end of a function whose beginning is the prompt
        return {}


def _path(node: ast.AST, names: Mapping[str, str]) -> str | None:
    """`os.path.exists`, for what is that."""
    match node:
        case ast.Name(name, ast.Load()):
            return names.get(name)
        case ast.Attribute(owner, name, ast.Load()) if (path := _path(owner, names)) is not None:
            return f"{path}.{name}"
    return None


class _Filed(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def _of_library(self, node: ast.Name | ast.Attribute) -> ast.expr:
        path = _path(node, self._names)
        if path in _PATHS:
            return ast.Attribute(_FILES, "Path", ast.Load())
        if path is not None and (path in _PLACES or (_reaches(path) and path not in _WHOLE)):
            return ast.Call(ast.Attribute(_FILES, "library", ast.Load()), [ast.Constant(path)], [])
        return self.generic_visit(node)  # type: ignore[return-value]

    visit_Name = visit_Attribute = _of_library
