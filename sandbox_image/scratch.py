"""The files of a script: in its own memory, and gone with it.

A script finds the files that came with it, and may write others beside them. Nothing here opens a file of the container, which the
process around the script would not let it (`jail.py`); what is written counts as memory of the script.
"""

import io
import os
import posixpath
from collections.abc import Iterable
from types import ModuleType
from typing import Any

READ, MADE = "r", "wax"


class Handle(io.RawIOBase):
    """An open file: a place in bytes that other handles share."""

    def __init__(self, name: str, mode: str, data: bytearray) -> None:
        self.name, self.mode = name, mode
        self._data, self._at = data, 0
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
        to = offset + (0, self._at, len(self._data))[whence]
        if to < 0:
            raise OSError(22, "Invalid argument")
        self._at = to
        return to

    def truncate(self, size: int | None = None, /) -> int:
        size = self._at if size is None else size
        self._fill(size)
        del self._data[size:]
        return size

    def readinto(self, into: Any, /) -> int:
        found = self._data[self._at : self._at + len(into)]
        into[: len(found)] = found
        self._at += len(found)
        return len(found)

    def write(self, data: Any, /) -> int:
        view = memoryview(data).cast("B")
        if self._appends:
            self._at = len(self._data)
        self._fill(self._at)
        self._data[self._at : self._at + len(view)] = view
        self._at += len(view)
        return len(view)

    def _fill(self, size: int) -> None:
        if size > len(self._data):
            self._data.extend(bytes(size - len(self._data)))


class Scratch:
    """Names are relative, as the script gives them: it has no folder but its own."""

    def __init__(self, given: Iterable[tuple[str, bytes | memoryview]] = ()) -> None:
        self._files = {name: bytearray(data) for name, data in given}

    def open(
        self, file: Any, mode: str, buffering: int, encoding: str | None, errors: str | None, newline: str | None
    ) -> Any:
        """As the `open` of Python."""
        letters = set(mode)
        if (
            len(letters) != len(mode)
            or len(letters & {READ, *MADE}) != 1
            or not letters <= {READ, *MADE, *"+bt"}
            or letters >= {*"bt"}
        ):
            raise ValueError(f"invalid mode: {mode!r}")
        raw = Handle(file, mode.replace("t", ""), self._data(self._name(file), letters))
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

    def _data(self, name: str, letters: set[str]) -> bytearray:
        data = self._files.get(name)
        if name == "." or (data is None and self._is_folder(name)):
            raise IsADirectoryError(21, "Is a directory", name)
        if data is None and (READ in letters or not self._is_folder(posixpath.dirname(name) or ".")):
            raise FileNotFoundError(2, "No such file or directory", name)
        if data is not None and "x" in letters:
            raise FileExistsError(17, "File exists", name)
        if data is None:
            data = self._files[name] = bytearray()
        elif "w" in letters:
            data.clear()
        return data

    @staticmethod
    def _name(path: Any) -> str:
        name = posixpath.normpath(os.fsdecode(path))
        if name[0] == "/" or name.split("/")[0] == "..":
            raise PermissionError(1, "files")
        return name

    def _is_folder(self, name: str) -> bool:
        return name == "." or any(each.startswith(f"{name}/") for each in self._files)

    def functions(self) -> dict[str, Any]:
        """What `os` has for files."""

        def listdir(path: Any = ".") -> list[str]:
            name = self._name(path)
            if not self._is_folder(name):
                raise FileNotFoundError(2, "No such file or directory", name)
            start = "" if name == "." else f"{name}/"
            inside = (each[len(start) :] for each in self._files if each.startswith(start))
            return list(dict.fromkeys(each.partition("/")[0] for each in inside))

        def remove(path: Any) -> None:
            name = self._name(path)
            if self._files.pop(name, None) is None:
                raise FileNotFoundError(2, "No such file or directory", name)

        return {"listdir": listdir, "remove": remove, "unlink": remove, "path": self._paths()}

    def _paths(self) -> ModuleType:
        """`os.path`, which would look at the container's files."""

        def is_file(path: Any) -> bool:
            return posixpath.normpath(os.fsdecode(path)) in self._files

        def is_folder(path: Any) -> bool:
            return self._is_folder(posixpath.normpath(os.fsdecode(path)))

        def size(path: Any) -> int:
            if not is_file(path):
                raise FileNotFoundError(2, "No such file or directory", path)
            return len(self._files[self._name(path)])

        def exists(path: Any) -> bool:
            return is_file(path) or is_folder(path)

        own = ModuleType("posixpath")
        own.__dict__.update(
            vars(posixpath), exists=exists, lexists=exists, isfile=is_file, isdir=is_folder, getsize=size
        )
        return own
