"""Names of files, as tests have them: a part of the tester. What asks for a file itself, the program is asked (`files.py`)."""

from pathlib import PurePosixPath
from typing import Any

from kolmocli.tasks.code.apart import MADE

_ASKED = (
    "exists is_file is_dir is_symlink stat lstat mkdir rmdir unlink touch rename replace read_text read_bytes write_text write_bytes iterdir "
    "glob rglob resolve absolute expanduser samefile chmod"
)


class FilePath(PurePosixPath):
    """`pathlib.Path`."""

    __slots__ = ()
    of_bench: Any

    @classmethod
    def cwd(cls) -> Any:
        return cls.of_bench.library("pathlib.Path.cwd")()

    def open(self, *how: Any, **named: Any) -> Any:
        return self.of_bench.library("open")(self, *how, **named)


def _asked(name: str) -> Any:
    return lambda self, *given, **named: self.of_bench.ask("method", name, self, *given, **named)


for _name in _ASKED.split():
    setattr(FilePath, f"{_name}", _asked(_name))


def path_of(bench: Any) -> type[FilePath]:
    """The class of a bench. Paths that a program returns are of it, too."""
    made = type("PosixPath", (FilePath,), {"__slots__": (), "of_bench": bench})
    MADE["PosixPath"] = made
    return made
