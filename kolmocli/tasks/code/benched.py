"""What functions of the tests that a program is given have of the bench, which is not there: a part of what stands below it (`keeper.py`)."""

import builtins as _builtins
import functools as _functools
from typing import Any as _Any


def _of_library(module: str, name: str) -> _Any:
    """What has this name in the module, or among the builtins."""
    of = _builtins.__import__(module, fromlist=["*"]) if module else _builtins
    return _functools.reduce(getattr, name.split(".") if name else [], of)


class _Bench:
    """What functions of the tests that a program is given have of the bench: it has the files."""

    files = property(lambda self: self)
    Path = property(lambda self: _of_library("pathlib", "Path"))

    @staticmethod
    def inert() -> _Any:
        return _Inert()

    @staticmethod
    def library(path: str) -> _Any:
        return _of_library(*path.rpartition(".")[::2])

    @staticmethod
    def clock() -> float:
        return _of_library("time", "time")()

    @staticmethod
    def drawn(size: int) -> bytes:
        return _of_library("os", "urandom")(size)


class _Inert:
    """What a mock returns that is not told what: it has every attribute, and does nothing."""

    def __getattr__(self, name: str) -> _Any:
        if name[:2] == "__":
            raise AttributeError(name)
        made = self.__dict__[name] = _Inert()
        return made

    def __call__(self, *_given: _Any, **_named: _Any) -> _Any:
        return self.__dict__.setdefault("return_value", _Inert())

    def __enter__(self) -> _Any:
        return self

    def __exit__(self, *_: object) -> None:
        """It keeps no exception to itself."""

    def __iter__(self) -> _Any:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __bool__(self) -> bool:
        return True
