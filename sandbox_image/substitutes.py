"""Modules that programs import from habit, cut down to what harms nothing; docs/sandbox.md has the table.

None of this is a wall: a program may find the real ones, and meets what the process around it allows (`jail.py`). It is
here so that an honest program is not ended by an import, by fast input, or by a thread that it joins at once.
"""

import os
import posixpath
import sys
import time
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, NoReturn

import absent_errors
import futures
import loops
import threads
from folders import FUNCTIONS, MADE_OF_THEM
from scratch import status
from streams import Streams


class Refused(PermissionError):
    """Something that the reference machine does not have, at its first use."""

    def __init__(self, what: str) -> None:
        super().__init__(1, what)


class Absent:
    """Stands for what is not there: it may be imported and passed about, and whoever uses it is refused."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise Refused(self.__name__)

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__":
            raise AttributeError(name)
        made = self.__dict__[name] = absent(f"{self.__name__}.{name}")  # the same again: tests may patch a part of it
        return made

    def __instancecheck__(self, value: object) -> bool:
        return False

    def __or__(self, other: object) -> "Absent":
        return self

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type]:
        """A class may inherit from it, as tests do that a program brings along: it is objects of that class that there are none of."""

        def refuse(cls: type, *_: object, **__: object) -> NoReturn:
            raise Refused(self.__name__)

        return (type(self.__name__.rpartition(".")[2], (), {"__new__": refuse}),)

    __ror__ = __or__
    __call__ = __iter__ = __enter__ = __getitem__ = __bool__ = _refuse


def absent(path: str) -> Any:
    """What stands for a name of a module: an exception can be raised and caught."""
    return absent_errors.error(path) or Absent(path)


class Substitute(ModuleType):
    """A module that has only some names of the real one; `known` are the others, which are refused when they are used."""

    def __init__(self, name: str, names: dict[str, Any], known: Iterable[str] | None) -> None:
        super().__init__(name)
        self.__dict__.update(names)
        self.__dict__["_known"] = known if known is None else frozenset(known)

    def __getattr__(self, name: str) -> Any:
        known = self.__dict__["_known"]
        if name[:2] == "__" or (known is not None and name not in known):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        made = self.__dict__[name] = absent(f"{self.__name__}.{name}")
        return made


class System(ModuleType):
    """`sys` of a program. The streams that it puts in are those that `print` and `input` use."""

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if name in ("stdin", "stdout", "stderr"):
            setattr(sys, name, value)


HUSKS = (
    "asyncio", "cProfile", "cmd", "code", "concurrent", "curses", "dbm", "doctest", "fcntl", "getpass", "gettext",
    "http", "mimetypes", "mmap", "multiprocessing", "pdb", "platform", "profile", "pstats", "pty", "readline", "runpy",
    "select", "selectors", "shelve", "signal", "ssl", "symtable", "sysconfig", "syslog", "tarfile",
    "termios", "tkinter", "tracemalloc", "tty", "turtle", "unittest", "urllib", "zoneinfo",
)  # fmt: skip
"""Modules that can be imported, and nothing in them used."""
PACKAGES = (
    "PIL", "atcoder", "bitarray", "bs4", "cv2", "cython", "gmpy2", "jax", "matplotlib", "more_itertools", "networkx", "nltk",
    "numba", "numpy", "pandas", "pypyjit", "pytest", "regex", "requests", "scipy", "seaborn", "sklearn", "sortedcontainers",
    "sympy", "tensorflow", "torch", "tqdm", "typing_extensions",
)  # fmt: skip
"""The same of packages that the image lacks, where a program imports them as it begins, and not to see whether they are there."""
MOCKED = ("requests",)
"""Of these, what tests have mocks of (`tasks/code/imports.py` refuses tests that use it otherwise)."""
CUT_DOWN = ("builtins", "os", "resource", "threading")
_OS = (
    "PathLike", "error", "fsdecode", "fsencode", "fspath", "get_terminal_size", "strerror", "urandom",
)  # fmt: skip


class _Status:
    """Of a descriptor: a file that may be as long as the longest input. Fast input reads `max(st_size, 8192)` bytes of it, or
    `st_size`."""

    st_size, st_mode, st_blksize, st_mtime = 64 << 20, 0o100600, 4096, 0.0


def operating_system(streams: Streams, leave: Callable[[int], NoReturn]) -> Substitute:
    """`os`: names, paths, the environment (empty), the descriptors 0, 1 and 2, and the program's own files."""
    real = vars(os)
    names = {name: value for name, value in real.items() if type(value) in (int, str) and name[:2] != "__"}
    names |= {name: real[name] for name in _OS}

    files = streams.files
    if files is not None:
        names |= {name: getattr(files, name) for name in FUNCTIONS} | {name: real[name] for name in MADE_OF_THEM}

    def fstat(fd: int) -> Any:
        return _Status() if fd in (0, 1, 2) else status(streams.handle(fd).file)

    def close(fd: int) -> None:
        if files is not None and files.handle(fd) is not None:
            files.close(fd)

    environment: dict[str, str] = {}
    names |= {
        "environ": environment, "getenv": environment.get, "read": streams.read, "write": streams.write,
        "fstat": fstat, "fdopen": streams.open, "isatty": lambda fd: False, "close": close, "_exit": leave,
        "getpid": lambda: 2, "getppid": lambda: 1, "cpu_count": lambda: 1, "path": posixpath,
    }  # fmt: skip
    return Substitute("os", names, real)


class Clock:
    """Time since it was first looked at, in the place of a process's own, which a child may not ask for."""

    def __init__(self) -> None:
        self._begun: int | None = None

    def nanoseconds(self) -> int:
        if self._begun is None:
            self._begun = time.monotonic_ns()
        return time.monotonic_ns() - self._begun

    def seconds(self) -> float:
        return self.nanoseconds() / 1e9


def resources() -> Substitute:
    """`resource`: limits that nobody can raise, and a use of time that is the clock's."""
    numbers = dict.fromkeys(("AS", "CORE", "CPU", "DATA", "FSIZE", "MEMLOCK", "NOFILE", "NPROC", "RSS", "STACK"), 0)
    names: dict[str, Any] = {f"RLIMIT_{name}": number for number, name in enumerate(numbers)}
    names |= {"RLIM_INFINITY": -1, "RUSAGE_SELF": 0, "RUSAGE_CHILDREN": -1, "error": OSError}

    class Usage:
        ru_stime, ru_maxrss = 0.0, 0

        def __init__(self) -> None:
            self.ru_utime = time.monotonic() - begun

    begun = time.monotonic()
    names |= {
        "setrlimit": lambda resource, limits: None, "getrlimit": lambda resource: (-1, -1), "getrusage": lambda who: Usage(),
        "getpagesize": lambda: 4096,
    }  # fmt: skip
    return Substitute("resource", names, ())


def husk(name: str) -> Substitute:
    return Substitute(name, {"__path__": []} | _OWN.get(name, dict)(), None)


def _addresses() -> dict[str, Any]:
    loaded = sys.modules.get("urllib.parse")
    return {} if loaded is None else dict(vars(loaded))


_OWN: dict[str, Callable[[], dict[str, Any]]] = {
    "asyncio": loops.names,
    "concurrent": lambda: {"futures": husk("concurrent.futures")},
    "concurrent.futures": futures.names,
    "urllib": lambda: {"parse": husk("urllib.parse")},
    "urllib.parse": _addresses,
}
"""What some of them have of the real ones."""


def threading() -> Substitute:
    names = {name: value for name, value in vars(threads).items() if name in threads.NAMES}
    return Substitute("threading", names, ("Timer", "settrace", "setprofile"))
