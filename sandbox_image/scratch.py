"""The files of a program: in its own memory, and gone with it.

A script finds the files that came with it in the folder where it runs. It may write others there and in `/tmp`, and so may a module
whose functions are called. Nothing here opens a file of the container, which the process around the program would not let it
(`jail.py`); what is written counts as memory of the program.
"""

import io
import os
import posixpath
import stat
import time
from collections.abc import Iterable, Iterator
from typing import Any

READ, MADE = "r", "wax"
HOME, TEMPORARY = "/program", "/tmp"
_SYSTEM = frozenset(
    ("bin", "boot", "dev", "etc", "home", "kolmo", "lib", "lib64", "media", "mnt", "opt", "proc", "root", "run", "sbin", "srv", "sys",
     "usr", "var")
)  # fmt: skip
"""Folders of a machine: whoever looks there is refused, and not told that there is nothing."""


class File:
    """What is in a file, when that was last changed, and what may be done with it."""

    def __init__(self, data: bytes | memoryview = b"") -> None:
        self.data, self.changed, self.mode = bytearray(data), time.time(), 0o644


class Handle(io.RawIOBase):
    """An open file: a place in bytes that other handles share."""

    def __init__(self, name: Any, mode: str, file: File) -> None:
        self.name, self.mode = name, mode
        self.file, self._at = file, len(file.data) if "a" in mode else 0
        self._reads, self._writes, self._appends = (
            READ in mode or "+" in mode,
            READ not in mode or "+" in mode,
            "a" in mode,
        )

    def readable(self) -> bool:
        return self._reads

    def writable(self) -> bool:
        return self._writes

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0, /) -> int:
        to = offset + (0, self._at, len(self.file.data))[whence]
        if to < 0:
            raise OSError(22, "Invalid argument")
        self._at = to
        return to

    def truncate(self, size: int | None = None, /) -> int:
        size = self._at if size is None else size
        self._fill(size)
        del self.file.data[size:]
        return size

    def readinto(self, into: Any, /) -> int:
        found = self.file.data[self._at : self._at + len(into)]
        into[: len(found)] = found
        self._at += len(found)
        return len(found)

    def write(self, data: Any, /) -> int:
        view = memoryview(data).cast("B")
        if self._appends:
            self._at = len(self.file.data)
        self._fill(self._at)
        self.file.data[self._at : self._at + len(view)] = view
        self._at += len(view)
        return len(view)

    def _fill(self, size: int) -> None:
        self.file.changed = time.time()
        if size > len(self.file.data):
            self.file.data.extend(bytes(size - len(self.file.data)))


class Scratch:
    """Files and folders by their whole names."""

    def __init__(self, given: Iterable[tuple[str, bytes | memoryview]] = ()) -> None:
        self.here = HOME
        self.files = {f"{HOME}/{name}": File(data) for name, data in given}
        self.folders = dict.fromkeys((HOME, TEMPORARY, *(above for name in self.files for above in _above(name))))

    def open(
        self, file: Any, mode: str, buffering: int, encoding: str | None, errors: str | None, newline: str | None
    ) -> Any:
        """As the `open` of Python; of a handle, what reads or writes it."""
        letters = set(mode)
        if (
            len(letters) != len(mode)
            or len(letters & {READ, *MADE}) != 1
            or not letters <= {READ, *MADE, *"+bt"}
            or letters >= {*"bt"}
        ):
            raise ValueError(f"invalid mode: {mode!r}")
        raw = file if isinstance(file, Handle) else self.handle(file, mode.replace("t", ""))
        if buffering == 0:
            if "b" not in mode:
                raise ValueError("can't have unbuffered text I/O")
            return raw
        buffer: Any
        if "+" in mode:
            buffer = io.BufferedRandom(raw)
        else:
            buffer = io.BufferedReader(raw) if READ in mode else io.BufferedWriter(raw)
        if "b" in mode:
            return buffer
        made = io.TextIOWrapper(buffer, encoding or "utf-8", errors, newline, line_buffering=buffering == 1)
        made.mode = mode  # type: ignore[misc]
        return made

    def handle(self, path: Any, mode: str) -> Handle:
        name = self.name(path)
        file = self.files.get(name)
        if name in self.folders:
            raise IsADirectoryError(21, "Is a directory", path)
        if file is None and READ in mode:
            raise FileNotFoundError(2, "No such file or directory", path)
        if file is not None and "x" in mode:
            raise FileExistsError(17, "File exists", path)
        if file is None:
            self.need_place(name, path)
            file = self.files[name] = File()
        elif not file.mode & (stat.S_IRUSR if READ in mode else stat.S_IWUSR) or (
            "+" in mode and not file.mode & stat.S_IWUSR
        ):
            raise PermissionError(13, "Permission denied", path)
        elif "w" in mode:
            file.data.clear()
            file.changed = time.time()
        return Handle(path, mode, file)

    def name(self, path: Any) -> str:
        """The whole name. Raises FileNotFoundError for none, and PermissionError for one in a folder of the machine."""
        if not path:
            raise FileNotFoundError(2, "No such file or directory", path)
        name = posixpath.normpath(posixpath.join(self.here, os.fsdecode(path)))
        name = name.removeprefix("/") if name[:2] == "//" else name
        if name == "/" or name.split("/")[1] in _SYSTEM:
            raise PermissionError(1, "files")
        return name

    def need_place(self, name: str, path: Any) -> None:
        """Raises OSError where nothing new can be."""
        above = posixpath.dirname(name)
        if above == "/":
            raise PermissionError(1, "files")
        if above not in self.folders:
            raise self.missing(above, path)

    def missing(self, name: str, path: Any) -> OSError:
        """That there is no folder of this name."""
        if name in self.files:
            return NotADirectoryError(20, "Not a directory", path)
        return FileNotFoundError(2, "No such file or directory", path)

    def inside(self, name: str) -> Iterator[str]:
        """What is in this folder, in the order in which it came there."""
        for each in [*self.files, *self.folders]:
            if posixpath.dirname(each) == name:
                yield posixpath.basename(each)

    def status(self, path: Any) -> os.stat_result:
        name = self.name(path)
        if name in self.files:
            return status(self.files[name])
        if name not in self.folders:
            raise FileNotFoundError(2, "No such file or directory", path)
        return _status(stat.S_IFDIR | 0o755, hash(name), 4096, 0)


def status(file: File) -> os.stat_result:
    return _status(stat.S_IFREG | file.mode, id(file), len(file.data), file.changed)


def _status(mode: int, number: int, size: int, changed: float) -> os.stat_result:
    """Its times are whole seconds, seconds, and nanoseconds."""
    times = [*[int(changed)] * 3, *[float(changed)] * 3, *[int(changed * 1e9)] * 3]
    return os.stat_result((mode, number, 0, 1, 0, 0, size, *times))


def _above(name: str) -> Iterator[str]:
    while (name := posixpath.dirname(name)) != "/":
        yield name
