"""What `os` has for the files of a program, in the place of what it has for those of the machine.

pathlib, shutil, glob and tempfile ask `os`. So they are Python's own, and find the files in the program's memory (`scratch.py`).
"""

import itertools
import os
import posixpath
import stat
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Self

from scratch import TEMPORARY, Handle, Scratch, status

FIRST = 1 << 10
"""The first descriptor: no number that the process has."""
FUNCTIONS = (
    "access", "chdir", "chmod", "close", "fstat", "ftruncate", "getcwd", "getcwdb", "listdir", "lseek", "lstat", "mkdir", "open", "read",
    "readlink", "remove", "rename", "replace", "rmdir", "scandir", "stat", "truncate", "unlink", "utime", "write",
)  # fmt: skip
MADE_OF_THEM = ("makedirs", "removedirs", "renames", "walk")
"""What `os` makes of these."""


def flags(mode: str) -> int:
    """Those with which `open` asks for a descriptor."""
    if "r" in mode:
        return os.O_RDWR if "+" in mode else os.O_RDONLY
    how = os.O_EXCL if "x" in mode else os.O_TRUNC if "w" in mode else os.O_APPEND
    return how | os.O_CREAT | (os.O_RDWR if "+" in mode else os.O_WRONLY)


class Entry:
    """Of `os.scandir`."""

    def __init__(self, files: "Folders", folder: str, name: str) -> None:
        self._files, self.name, self.path = files, name, posixpath.join(folder, name)

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        return self._files.stat(self.path)

    def inode(self) -> int:
        return self.stat().st_ino

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return stat.S_ISDIR(self.stat().st_mode)

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return not self.is_dir()

    def is_symlink(self) -> bool:
        return False

    def __fspath__(self) -> str:
        return self.path


class Entries:
    """An iterator over them, which can be closed."""

    def __init__(self, entries: Iterator[Entry]) -> None:
        self._entries = entries

    def __iter__(self) -> Iterator[Entry]:
        return self._entries

    def __next__(self) -> Entry:
        return next(self._entries)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._entries = iter(())


class Folders:
    """The functions, over the files of one program."""

    def __init__(self, scratch: Scratch) -> None:
        self.scratch = scratch
        self._real = {name: vars(os)[name] for name in ("close", "fstat", "lseek", "read", "write")}
        self._opened: dict[int, Handle] = {}
        self._numbers = itertools.count(FIRST)
        self.forget: Callable[[str], None] = lambda name: None
        """Called with the name of what is no file any more."""

    def install(self) -> None:
        """In the place of those of `os` in this process."""
        for name in FUNCTIONS:
            setattr(os, name, getattr(self, name))
        if shutil := sys.modules.get("shutil"):  # ways of its own, past these functions
            vars(shutil).update(_use_fd_functions=False, _copyxattr=lambda *_, **__: None)
        if tempfile := sys.modules.get("tempfile"):
            vars(tempfile).update(tempdir=TEMPORARY, _name_sequence=map("{:08}".format, itertools.count()))

    def handle(self, fd: Any) -> Handle | None:
        """What is open under this number."""
        return self._opened.get(fd)

    def open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: None = None) -> int:
        letters = "+" if flags & os.O_RDWR else ""
        if not flags & (os.O_WRONLY | os.O_RDWR):
            letters = "r"
        elif flags & os.O_CREAT and flags & os.O_EXCL:
            letters += "x"
        elif flags & os.O_APPEND:
            letters += "a"
        elif flags & os.O_TRUNC:
            letters += "w"
        else:
            letters = "r+"
        if flags & os.O_CREAT and "r" in letters and not posixpath.exists(path):
            self.scratch.handle(path, "x")
        number = next(self._numbers)
        self._opened[number] = self.scratch.handle(path, letters)
        return number

    def close(self, fd: int, /) -> None:
        if (handle := self._opened.pop(fd, None)) is None:
            self._real["close"](fd)
        else:
            handle.close()

    def read(self, fd: int, size: int, /) -> bytes:
        handle = self.handle(fd)
        return self._real["read"](fd, size) if handle is None else handle.read(size)

    def write(self, fd: int, data: Any, /) -> int:
        handle = self.handle(fd)
        return self._real["write"](fd, data) if handle is None else handle.write(data)

    def lseek(self, fd: int, offset: int, whence: int, /) -> int:
        handle = self.handle(fd)
        return self._real["lseek"](fd, offset, whence) if handle is None else handle.seek(offset, whence)

    def fstat(self, fd: int) -> os.stat_result:
        handle = self.handle(fd)
        return self._real["fstat"](fd) if handle is None else status(handle.file)

    def ftruncate(self, fd: int, length: int, /) -> None:
        self.of(fd).truncate(length)

    def truncate(self, path: Any, length: int) -> None:
        (self.of(path) if isinstance(path, int) else self.scratch.handle(path, "r+")).truncate(length)

    def of(self, fd: int) -> Handle:
        if (handle := self.handle(fd)) is None:
            raise OSError(9, "Bad file descriptor")
        return handle

    def stat(self, path: Any, *, dir_fd: None = None, follow_symlinks: bool = True) -> os.stat_result:
        return self.fstat(path) if isinstance(path, int) else self.scratch.status(path)

    def lstat(self, path: Any, *, dir_fd: None = None) -> os.stat_result:
        return self.stat(path)

    def access(self, path: Any, mode: int, **_: object) -> bool:
        try:
            status = self.stat(path)
        except OSError:
            return False
        return mode & (status.st_mode >> 6) == mode

    def chmod(self, path: Any, mode: int, **_: object) -> None:
        self.stat(path)
        if (file := self.scratch.files.get(self.scratch.name(path))) is not None:
            file.mode = stat.S_IMODE(mode)

    def utime(
        self, path: Any, times: tuple[float, float] | None = None, *, ns: tuple[int, int] | None = None, **_: object
    ) -> None:
        self.stat(path)
        if (file := self.scratch.files.get(self.scratch.name(path))) is not None:
            file.changed = times[1] if times else ns[1] / 1e9 if ns else time.time()

    def readlink(self, path: Any, **_: object) -> str:
        self.stat(path)
        raise OSError(22, "Invalid argument", path)

    def getcwd(self) -> str:
        return self.scratch.here

    def getcwdb(self) -> bytes:
        return os.fsencode(self.scratch.here)

    def chdir(self, path: Any) -> None:
        self.scratch.here = self._folder(path)

    def _folder(self, path: Any) -> str:
        name = self.scratch.name(path)
        if name not in self.scratch.folders:
            raise self.scratch.missing(name, path)
        return name

    def listdir(self, path: Any = ".") -> list[Any]:
        found = [*self.scratch.inside(self._folder("." if path is None else path))]
        return [*map(os.fsencode, found)] if isinstance(path, bytes) else found

    def scandir(self, path: Any = ".") -> Entries:
        path = "." if path is None else os.fsdecode(path)
        return Entries(Entry(self, path, name) for name in self.listdir(path))

    def mkdir(self, path: Any, mode: int = 0o777, *, dir_fd: None = None) -> None:
        name = self.scratch.name(path)
        if name in self.scratch.files or name in self.scratch.folders:
            raise FileExistsError(17, "File exists", path)
        self.scratch.need_place(name, path)
        self.scratch.folders[name] = None

    def rmdir(self, path: Any, *, dir_fd: None = None) -> None:
        name = self._folder(path)
        if any(self.scratch.inside(name)):
            raise OSError(39, "Directory not empty", path)
        del self.scratch.folders[name]

    def unlink(self, path: Any, *, dir_fd: None = None) -> None:
        name = self.scratch.name(path)
        if name in self.scratch.folders:
            raise IsADirectoryError(21, "Is a directory", path)
        if self.scratch.files.pop(name, None) is None:
            raise FileNotFoundError(2, "No such file or directory", path)
        self.forget(name)

    remove = unlink

    def rename(self, src: Any, dst: Any, **_: object) -> None:
        """In the place of what is there, too."""
        old, new = self.scratch.name(src), self.scratch.name(dst)
        files, folders = self.scratch.files, self.scratch.folders
        if old not in files and old not in folders:
            raise FileNotFoundError(2, "No such file or directory", src)
        self.scratch.need_place(new, dst)
        if new in folders and old in files:
            raise IsADirectoryError(21, "Is a directory", dst)
        if new in folders and any(self.scratch.inside(new)):
            raise OSError(39, "Directory not empty", dst)
        if new in files and old in folders:
            raise NotADirectoryError(20, "Not a directory", dst)
        held: dict[str, Any]
        for held in (files, folders):
            for name in [each for each in held if each == old or each.startswith(f"{old}/")]:
                held[new + name.removeprefix(old)] = held.pop(name)

    replace = rename
