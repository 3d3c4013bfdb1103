"""Objects of the program under test, as its tests see them: a part of the tester, which has a handle for each.

What tests do with a handle is a call that the program is asked to make (`keeping.py`), and its result is a plain value or another
handle. No handle equals a plain value but the one that it is made of, as a named tuple is of a tuple. None is less than a plain value or
away from one, and what is not made by the tests themselves contains what it lists: an object may claim anything, where nobody but the
tests knows what is right.
"""

from collections.abc import Callable, Iterator
from typing import Any

from kolmocli.tasks.code.tokens import Unknown, _need

_RELATING = frozenset(("sub", "truediv", "floordiv", "mod", "xor"))
"""With a number: so tests ask whether a result is near one, which is not the program's to say."""
_ORDER = "lt le gt ge"
_BINARY = "add sub mul truediv floordiv mod pow matmul lshift rshift xor and or"
_OTHERS = "neg pos invert abs getitem setitem delitem iadd isub imul itruediv ifloordiv imod ipow iand ior ixor ilshift irshift"
_CERTAIN = "len bool str repr int float complex bytes hash index round format next reversed"
"""Functions for which Python wants a value, and no token."""


class Handle:
    """An object of the program."""

    __slots__ = ("of_bench", "under_key")
    of_bench: Any
    under_key: Any

    def __init__(self, bench: Any, key: Any) -> None:
        object.__setattr__(self, "of_bench", bench)
        object.__setattr__(self, "under_key", key)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Of what is not called, `Keeping.read` is asked."""
        return lambda *arguments, **keywords: self.of_bench.ask("method", name, self, *arguments, **keywords)

    def __setattr__(self, name: str, value: Any) -> None:
        self.of_bench.ask("python", "setattr", self, name, value)

    def __delattr__(self, name: str) -> None:
        self.of_bench.ask("python", "delattr", self, name)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """An object of a class, where this is one."""
        if self.of_bench.makes(self.under_key):
            return self.of_bench.make(self.under_key, arguments, keywords)
        return self.of_bench.ask("method", "__call__", self, *arguments, **keywords)

    def __eq__(self, other: object) -> Any:
        if isinstance(other, Unknown):
            _need(other)
        if isinstance(other, Handle):
            return self.of_bench.ask("python", "eq", self, other)
        contents = self.of_bench.contents
        return self.under_key in contents and contents[self.under_key] == other

    def __ne__(self, other: object) -> Any:
        if isinstance(other, Unknown):
            _need(other)
        return self.of_bench.ask("python", "ne", self, other) if isinstance(other, Handle) else not self == other

    def __contains__(self, item: Any) -> Any:
        return self.of_bench.inside(item, self)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.of_bench.certain("list", self))

    def __enter__(self) -> Any:
        entered = self.of_bench.ask("method", "__enter__", self)
        return self if self.under_key in self.of_bench.files.opened else entered

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> Any:
        if kind is None:
            self.of_bench.ask("method", "__exit__", self, None, None, None)
        elif issubclass(kind, Exception):
            if self.under_key in self.of_bench.files.opened:  # it closes, whatever was raised
                kind = next(base for base in kind.__mro__ if base.__module__ == "builtins")
            if kind.__module__ != "builtins":
                self.of_bench.unfit = (
                    "they raise an exception of their own in the `with` of an object, which does not go to a program"
                )
                return None
            made = self.of_bench.make(kind.__name__, getattr(error, "args", ()), {})
            return self.of_bench.certain_of("__exit__", self, kind, made, None)
        return None

    def __fspath__(self) -> Any:
        return self.of_bench.certain_of("__fspath__", self)

    def __copy__(self) -> Any:
        return self.of_bench.ask("python", "copy", self)

    def __deepcopy__(self, _: Any) -> Any:
        return self.of_bench.ask("python", "deepcopy", self)


def _special() -> None:
    def asking(name: str) -> Callable[..., Any]:
        return lambda self, *more: self.of_bench.ask_of(self, name, *more)

    def ordering(name: str) -> Callable[..., Any]:
        def ordered(self: Handle, other: Any) -> Any:
            if isinstance(other, Unknown):
                _need(other)
            return self.of_bench.ask("python", name, self, other) if isinstance(other, Handle) else NotImplemented

        return ordered

    def binary(name: str, turned: bool) -> Callable[..., Any]:
        """What relates an object to a number is an object again, of which nothing more is asked but whether it equals another."""

        def operate(self: Handle, other: Any) -> Any:
            made = self.of_bench.ask("python", name, *((other, self) if turned else (self, other)))
            if name not in _RELATING or not isinstance(other, int | float | complex) or isinstance(made, Unknown):
                return made
            return self.of_bench.related(made) if isinstance(made, Handle) else NotImplemented

        return operate

    def certain(name: str) -> Callable[..., Any]:
        return lambda self, *more: self.of_bench.certain(name, self, *more)

    for name in _BINARY.split():
        function = f"{name}_" if name in ("and", "or") else name
        setattr(Handle, f"__{name}__", binary(function, False))
        setattr(Handle, f"__r{name}__", binary(function, True))
    for name in _ORDER.split():
        setattr(Handle, f"__{name}__", ordering(name))
    for name in _OTHERS.split():
        setattr(Handle, f"__{name}__", asking(name))
    for name in _CERTAIN.split():
        setattr(Handle, f"__{name}__", certain(name))


_special()
