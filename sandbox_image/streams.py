"""What a script reads and prints: the socket of its child, as the descriptors 0 and 1 that it believes in.

Nothing is held: the input is read from the socket when the script asks for it, and what it prints goes out as it is
printed. A script may replace `sys.stdin` or `sys.stdout`, open descriptor 0 again, or write to descriptor 1 by `os.write`:
all of it ends here.
"""

import contextlib
import io
import os
from collections.abc import Callable
from typing import Any

from folders import Folders, flags
from scratch import Handle

_BUFFER = 1 << 16
_INPUTS, _OUTPUTS, _ERRORS = (
    (0, "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"),
    (1, "/dev/stdout", "/dev/fd/1"),
    (2, "/dev/stderr", os.devnull),
)


class Input(io.RawIOBase):
    """Descriptor 0: what was read of the socket already, and then the socket until its end."""

    name, mode = "<stdin>", "rb"

    def __init__(self, fd: int, early: bytes) -> None:
        self._fd, self._early = fd, early

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 0

    def take(self, size: int) -> bytes:
        """At most so many bytes, as os.read gives them."""
        if self._early:
            found, self._early = self._early[:size], self._early[size:]
            return found
        return os.read(self._fd, size) if self._fd >= 0 else b""

    def readinto(self, into: Any) -> int:
        found = self.take(len(into))
        into[: len(found)] = found
        return len(found)


class Output(io.RawIOBase):
    """Descriptor 1."""

    name, mode = "<stdout>", "wb"

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1

    def write(self, data: Any) -> int:
        left = memoryview(data).cast("B")
        size = len(left)
        while left and self.fd >= 0:
            left = left[os.write(self.fd, left) :]
        return size


class _Errors(io.RawIOBase):
    """Descriptor 2: nobody reads it."""

    name, mode = "<stderr>", "wb"

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 2

    def write(self, data: Any) -> int:
        return len(memoryview(data).cast("B"))


class Streams:
    """The three descriptors of one script. A program that is none has them too, and they are empty."""

    def __init__(self, fd: int = -1, early: bytes = b"") -> None:
        self.files: Folders | None = None
        self.input, self.output, self.errors = Input(fd, early), Output(fd), _Errors()
        self.stdin, self.stdout, self.stderr = (self.text(raw) for raw in (self.input, self.output, self.errors))
        self._opened = [self.stdout]

    @staticmethod
    def text(raw: io.RawIOBase, **options: Any) -> "io.TextIOWrapper[Any]":
        """What is printed lies in one buffer, in the order in which it was printed."""
        found: io.TextIOWrapper[Any]
        if raw.readable():
            found = io.TextIOWrapper(io.BufferedReader(raw, _BUFFER), "utf-8", "surrogatepass", **options)
        else:
            found = io.TextIOWrapper(io.BufferedWriter(raw, _BUFFER), "utf-8", "replace", write_through=True, **options)
        found.mode = "r" if raw.readable() else "w"  # type: ignore[misc]
        return found

    def open(
        self, file: object, mode: str = "r", buffering: int = -1, encoding: str | None = None, errors: str | None = None,
        newline: str | None = None, closefd: bool = True, opener: Callable[..., int] | None = None,
    ) -> Any:  # fmt: skip
        """`open` of a program: its own three descriptors, and the files in its memory."""
        raw: io.RawIOBase | None = None
        file = file if isinstance(file, int) else os.fspath(file)  # type: ignore[call-overload]
        if file in _INPUTS and not set(mode) & set("wax+"):
            raw = self.input
        elif file in _OUTPUTS and set(mode) & set("wa"):
            raw = self.output if file == 1 else Output(self.output.fd)  # opened by its path it is closed by itself
        elif file in _ERRORS and set(mode) & set("wa"):
            raw = _Errors()
        elif file == os.devnull:
            raw = Input(-1, b"")
        if raw is None:
            if self.files is None:
                raise PermissionError(1, "files")
            if opener is not None:
                file = opener(file, flags(mode))
            given = self.files.of(file) if isinstance(file, int) else file
            return self.files.scratch.open(given, mode, buffering, encoding, errors, newline)
        if raw is self.input and not self.stdin.closed:
            return self.stdin.buffer if "b" in mode else self.stdin  # what is in its buffer is not lost
        made = self.text(raw)
        self._opened.append(made)  # or it would be closed with its buffer, once nobody holds it
        return made.buffer if "b" in mode else made

    def read(self, fd: int, size: int, /) -> bytes:
        """os.read of a file: all of what is asked for, or all that is left."""
        if fd != 0:
            return self.handle(fd).read(size)
        found = bytearray()
        while len(found) < size and (more := self.input.take(min(size - len(found), _BUFFER))):
            found += more
        return bytes(found)

    def write(self, fd: int, data: Any, /) -> int:
        """os.write."""
        if fd not in (1, 2):
            return self.handle(fd).write(data)
        return (self.output if fd == 1 else self.errors).write(data)

    def handle(self, fd: int) -> Handle:
        """What is open under this number besides the three."""
        if self.files is None:
            raise OSError(9, "Bad file descriptor")
        return self.files.of(fd)

    def flush(self, shown: Any) -> None:
        """At the end: what stands in the place of sys.stdout, as Python does it, and then what was opened."""
        if shown is not None and not shown.closed:
            shown.flush()
        for stream in self._opened:
            with contextlib.suppress(ValueError):  # closed, or without its buffer, which a program may take out
                stream.flush()
