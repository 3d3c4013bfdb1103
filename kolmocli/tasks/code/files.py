"""Tests that write files, or look at them: those are in the memory of the program, which is asked for all that reaches them.

with open(path) as file:                 with __bench__.files.library("open")(path) as file:
    assert file.read() == "a"                assert file.read() == "a"
os.remove(path)                          __bench__.files.library("os.remove")(path)

Names of files are the tests' own (`paths.py`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from kolmocli.tasks.code.calls import bound
from kolmocli.tasks.code.imports import library_names, path_of
from kolmocli.tasks.code.tester import BENCH

_OF_OS = "access chdir chmod listdir makedirs mkdir remove removedirs rename renames replace rmdir scandir stat truncate unlink utime walk"
_OF_PATH = "exists getatime getctime getmtime getsize isdir isfile islink lexists samefile"
_OTHERS = "io.open codecs.open gzip.open bz2.open lzma.open sqlite3.connect xml.etree.ElementTree.parse fileinput.input linecache.getlines"
_WHOLE = frozenset({"glob", "shutil", "tempfile", "zipfile"})
"""Modules of which all reaches files."""
_REACHING = frozenset(
    ["open", *(f"os.{name}" for name in _OF_OS.split()), *(f"os.path.{name}" for name in _OF_PATH.split()), *_OTHERS.split()]
)  # fmt: skip
_PLACES = frozenset({"os.getcwd", "os.path.abspath", "os.path.realpath", "os.path.expanduser"})
"""What depends on where the program runs. Tests that reach no file have that where they run themselves."""
_OF_PROCESS = frozenset({"os.environ", "os.getenv", "sys.path", "sys.argv", "time.sleep"})
"""What is not of files, and the program's as well."""
_FILES = ast.Attribute(ast.Name(BENCH, ast.Load()), "files", ast.Load())
_PATHS = frozenset({"pathlib.Path", "pathlib.PosixPath"})


def names_of(tree: ast.Module, code: Sequence[str] = ()) -> dict[str, str]:
    """What names of the tests are in Python's library. They may use what this code imports."""
    return ({} if "open" in bound(tree) else {"open": "open"}) | library_names(tree, code)


def with_files(tree: ast.Module, names: Mapping[str, str]) -> ast.Module:
    """The same tests where they reach none, and nothing else of the program's process."""
    if have_files(tree, names) or any(path in _OF_PROCESS for path in _paths(tree, names)):
        return ast.fix_missing_locations(_Filed(names).visit(tree))
    return tree


def have_files(tree: ast.Module, names: Mapping[str, str]) -> bool:
    """Whether there are files: the tests reach some, pytest gives them a folder, or the program opens one of theirs."""
    if reach_files(tree, names):
        return True
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(ast.Name(name), "files") if name == BENCH:
                return True
            case ast.Constant("builtins.open"):
                return True
    return False


def reach_files(tree: ast.Module, names: Mapping[str, str]) -> bool:
    """Whether the tests write files, look at them or name them: what they do at the end of a test takes these away."""
    return any(path in _PATHS or _reaches(path) for path in _paths(tree, names))


def _paths(tree: ast.Module, names: Mapping[str, str]) -> Iterator[str]:
    return filter(None, (path_of(node, names) for node in ast.walk(tree)))


def _reaches(path: str) -> bool:
    return path in _REACHING or path.partition(".")[0] in _WHOLE


class _Filed(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def _of_library(self, node: ast.Name | ast.Attribute) -> ast.expr:
        path = path_of(node, self._names)
        if path in _PATHS:
            return ast.Attribute(_FILES, "Path", ast.Load())
        if path is not None and (path in _PLACES | _OF_PROCESS or (_reaches(path) and path not in _WHOLE)):
            return ast.Call(ast.Attribute(_FILES, "library", ast.Load()), [ast.Constant(path)], [])
        return self.generic_visit(node)  # type: ignore[return-value]

    visit_Name = visit_Attribute = _of_library
