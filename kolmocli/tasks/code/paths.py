"""Files, as tests have them: a part of the tester. The program has the files, and is asked for all that reaches one (`files.py`). Names of
files are the tests' own."""

from pathlib import PurePosixPath
from typing import Any

from kolmocli.tasks.code.apart import LIBRARY, MADE, PATHS
from kolmocli.tasks.code.handles import Handle

_ASKED = (
    "exists is_file is_dir is_symlink stat lstat mkdir rmdir unlink touch rename replace read_text read_bytes write_text write_bytes iterdir "
    "glob rglob resolve absolute expanduser samefile chmod"
)
"""Methods of a path that reach files."""
_OPENING = "open", "TemporaryFile", "TemporaryDirectory", "connect", "ZipFile"
"""Ends of the names of what makes an object in any case."""


def _asked(name: str) -> Any:
    return lambda self, *given, **named: self.of_bench.ask("method", name, self, *given, **named)


_Asking: Any = type("_Asking", (PurePosixPath,), {"__slots__": ()} | {name: _asked(name) for name in _ASKED.split()})


class FilePath(_Asking):
    """`pathlib.Path`."""

    __slots__ = ()
    of_bench: Any

    @classmethod
    def cwd(cls) -> Any:
        return cls(cls.of_bench.files.library("os.getcwd")())

    def open(self, *how: Any, **named: Any) -> Any:
        return self.of_bench.files.library("open")(self, *how, **named)


class LocalPath(FilePath):
    """`py.path.local`."""

    __slots__ = ()
    join, check, write_binary = PurePosixPath.joinpath, FilePath.exists, FilePath.write_bytes
    strpath, basename = property(str), PurePosixPath.name

    def read(self, mode: str = "r") -> Any:
        return self.read_bytes() if "b" in mode else self.read_text()

    def write(self, data: Any, mode: str = "w", ensure: bool = False) -> None:
        with self.open(mode) as file:
            file.write(data)

    def listdir(self) -> Any:
        return sorted(self.iterdir())

    def mkdir(self, *parts: str) -> Any:
        made = self.join(*parts)
        self.of_bench.files.library("os.mkdir")(made)
        return made


class Files:
    """Of a bench."""

    def __init__(self, bench: Any) -> None:
        self._bench = bench
        self.Path, self._local = (
            type("PosixPath", (each,), {"__slots__": (), "of_bench": bench}) for each in (FilePath, LocalPath)
        )
        MADE["PosixPath"] = self.Path  # paths that a program returns are such ones
        PATHS.update({self.Path: "PosixPath", self._local: "PosixPath"})
        self._own: Any = None
        """The folder of this test."""
        self.opened: set[Any] = set()
        """Keys of files, which are what `with` calls them."""

    def library(self, path: str) -> Handle:
        """A part of Python's library as the program has it, with its files."""
        return Handle(self._bench, (LIBRARY, path))

    def makes(self, key: Any) -> bool:
        """Whether this is a part of the library that makes an object whenever it is called."""
        return type(key) is tuple and key[1].endswith(_OPENING)

    def note(self, maker: Any, key: Any) -> None:
        """Something was made, and is kept under this key."""
        if self.makes(maker) and not maker[1].endswith("Directory"):
            self.opened.add(key)

    def begin(self) -> None:
        """Of the next test, and of its fixtures."""
        self._own = None

    def folder(self) -> Any:
        """pytest's `tmp_path`."""
        if self._own is None:
            self._own = self.mktemp("test")
        return self._own

    def local(self) -> Any:
        """Its `tmpdir`."""
        return self._local(self.folder())

    def mktemp(self, name: str, numbered: bool = True) -> Any:
        """That of its `tmp_path_factory`."""
        made = self.Path(f"/tmp/{name}-{self._bench.next_key()}" if numbered else f"/tmp/{name}")
        self.library("os.mkdir")(made)
        return made
