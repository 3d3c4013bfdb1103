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
    def mocked(told: list[_Any]) -> _Any:
        return _mocked(told)

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
    """A mock that has parts, and what one returns that is not told what: it has every attribute, and does what the tests told it.

    `_told_` has values by the path from the outermost mock; what was not told is made where it is looked for, and is the same from then
    on. `_calls_` has those of all parts, each with its path.
    """

    def __init__(self, told: _Any = None, calls: _Any = None, path: str = "") -> None:
        self.__dict__.update(_told_={} if told is None else told, _calls_=[] if calls is None else calls, _path_=path)

    def _part_(self, *steps: str) -> _Any:
        """What tests ask a mock for is asked where they were read: here an assert would always hold."""
        part: _Any = self
        for step in steps:
            if step.startswith((".assert", ".called", ".call_", ".mock_calls", ".method_calls")):
                raise AttributeError(step)
            if not isinstance(part, _Inert):
                part = part() if step == "()" else getattr(part, step[1:])
                continue
            path = part._path_ + step
            if path not in part._told_:
                part._told_[path] = _Inert(part._told_, part._calls_, path)
            part = part._told_[path]
        return part

    def _tell_(self, steps: list[str], value: _Any) -> None:
        part = self._part_(*steps[:-1])
        part._told_[part._path_ + steps[-1]] = value

    def _noted_(self, steps: list[str]) -> _Any:
        part = self._part_(*steps)
        return [(given, named) for path, given, named in part._calls_ if path == part._path_]

    def _forget_(self) -> None:
        self._calls_.clear()

    def __getattr__(self, name: str) -> _Any:
        if name[:2] == "__":
            raise AttributeError(name)
        return self._part_(f".{name}")

    def __setattr__(self, name: str, value: _Any) -> None:
        self._told_[f"{self._path_}.{name}"] = value

    def __call__(self, *given: _Any, **named: _Any) -> _Any:
        self._calls_.append((self._path_, given, named))
        effect = self._told_.get(f"{self._path_}!")
        if effect is None:
            return self._part_("()")
        at = sum(path == self._path_ for path, _, _ in self._calls_)
        return _done(effect, at, given, named)

    def __enter__(self) -> _Any:
        return self._part_(".__enter__")()

    def __exit__(self, *given: _Any) -> None:
        self._part_(".__exit__")(*given)

    def __iter__(self) -> _Any:
        return iter(self._told_.get(f"{self._path_}.__iter__()", ()))

    def __getitem__(self, key: _Any) -> _Any:
        return self._part_(".__getitem__")(key)

    def __len__(self) -> int:
        return self._told_.get(f"{self._path_}.__len__()", 0)

    def __bool__(self) -> bool:
        return True


def _done(effect: list[_Any], at: int, given: _Any, named: _Any) -> _Any:
    """What a mock does in its call of this number."""
    word, value, *more = effect
    if word == "raise":
        raise value(*more[0], **more[1])
    if word == "each":
        if at > len(value):
            raise StopIteration
        return _done(value[at - 1], at, given, named)
    if word == "call" and callable(value):
        return value(*given, **named)
    if word == "call":  # a list under a name
        return _done(["each", [["return", each] for each in value]], at, given, named)
    return value


def _part_of_mock(mock: _Any, steps: list[str]) -> _Any:
    return mock._part_(*steps)


def _mocked(told: list[_Any]) -> _Any:
    """A mock that is told values by their steps."""
    made = _Inert()
    for steps, value in told:
        made._tell_(steps, value)
    return made
