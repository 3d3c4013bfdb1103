"""Plain values as text: what a program may be handed, and what it may hand back.

Plain are None, bool, int, float, complex, str, bytes, and list, tuple, range, set, frozenset and dict of plain values,
each by its exact built-in type: a subclass could lie about what it holds, an object about what it equals. The three
dictionaries of `collections` count as dict, as they equal one. The text is
JSON. An int, a float, a str, a bool and a list stand for themselves; everything else is an object of one key:

    {"n": 0} None · {"t": [...]} tuple · {"s": [...]} set · {"f": [...]} frozenset · {"d": [[key, value], ...]} dict
    {"r": [start, stop, step]} range · {"b": "..."} bytes, as Latin-1 · {"c": [re, im]} complex · {"x": "nan"} nan, inf, -inf
    {"e": "ValueError"} nothing, because a call raised this · {"o": "generator"} nothing, because a value of this type is not plain

`null` is the trace's own: a statement that has no value. Imports nothing of the project: the image copies this file.
"""

from __future__ import annotations

import builtins
import json
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

DEEPEST = 64
"""Levels of containers in each other."""
MOST_DIGITS = 4_300
"""Digits of an integer: CPython prints no longer ones."""
LONGEST_NAME = 60
"""Characters of the name of a type."""
LONGEST_MESSAGE = 300
"""Characters that leave a program of what an exception says."""
OF_A_CALL = 16
"""Times as many items may be in the result of a call as in a value of the trace."""
MOST_ALIKE = 1_024
"""Keys of one dict, or items of one set, with the same hash."""


class NotPlain(Exception):
    """A value of another type; `args[0]` names it."""


class TooLong(Exception):
    """A value has more items, or an integer more digits, than the limits allow."""


def integers(value: object, max_items: int) -> list[int] | None:
    """The value as a list of integers, by exact built-in type; None when it is not a sequence of them.

    Exact types, because a subclass could lie about its items. Raises TooLong before it copies anything.
    """
    kind = type(value)
    if kind is int:
        return [value]  # type: ignore[list-item]
    if kind not in (list, tuple, range, bytes, str):
        return None
    if len(value) > max_items:  # type: ignore[arg-type]
        raise TooLong(f"a value of {len(value)} items")  # type: ignore[arg-type]
    if kind is str:
        return [ord(character) for character in value]  # type: ignore[attr-defined]
    items = list(value)  # type: ignore[call-overload]
    return items if all(type(item) is int for item in items) else None


def integer_line(value: object, max_items: int) -> str:
    """The text of a value as a sequence of integers; `null` when it is not one."""
    items = integers(value, max_items)
    if items is None:
        return "null"
    return _digits(items)


def plain_line(value: object, max_items: int) -> str:
    """The text of the value of a statement; `null` when it has none."""
    return "null" if value is None else line(value, max_items)


def line(value: object, max_items: int) -> str:
    """The text of what stands where a value would, in one line: of a value, of `Raised` or `Opaque`, or of the type of what
    is not plain."""
    if isinstance(value, Raised):
        name, said = value.error[:LONGEST_NAME], value.said[:LONGEST_MESSAGE]
        return json.dumps({"o" if type(value) is Opaque else "e": [name, said] if said else name})
    try:
        return encode(value, max_items)
    except NotPlain as error:
        return line(Opaque(error.args[0]), max_items)


def encode(value: object, max_items: int) -> str:
    """The text of a value in one line. Raises NotPlain or TooLong."""
    if type(value) is list and len(value) <= max_items and all(type(item) is int for item in value):
        return _digits(value)
    return _Encoder(max_items).text(value, 0)


def _digits(value: object) -> str:
    try:
        return repr(value)
    except ValueError as error:
        raise TooLong(f"an integer of more than {MOST_DIGITS:,} digits") from error


class _Encoder:
    def __init__(self, max_items: int) -> None:
        self.left = max_items
        self.most = max_items

    def text(self, value: Any, depth: int) -> str:
        kind = type(value)
        if kind is int:
            return _digits(value)
        if kind is bool:
            return "true" if value else "false"
        if kind is str:
            self._spend(len(value))
            return json.dumps(value)
        if value is None:
            return '{"n":0}'
        if kind is float:
            return repr(value) if value - value == 0 else f'{{"x":"{value!r}"}}'
        if kind is bytes:
            self._spend(len(value))
            return f'{{"b":{json.dumps(value.decode("latin-1"))}}}'
        if kind is range:
            self._spend(len(value))
            return f'{{"r":{_digits([value.start, value.stop, value.step])}}}'
        if kind is complex:
            return f'{{"c":[{self.text(value.real, depth)},{self.text(value.imag, depth)}]}}'
        if kind not in _LETTERS:
            raise NotPlain(kind.__name__)
        if depth == DEEPEST:
            raise TooLong(f"more than {DEEPEST} levels of containers")
        self._spend(len(value))
        if _LETTERS[kind] == "d":
            items = ",".join(
                f"[{self.text(k, depth + 1)},{self.text(v, depth + 1)}]" for k, v in list(dict.items(value))
            )
        else:
            items = ",".join([self.text(item, depth + 1) for item in list(value)])
        return f"[{items}]" if kind is list else f'{{"{_LETTERS[kind]}":[{items}]}}'

    def _spend(self, items: int) -> None:
        self.left -= items
        if self.left < 0:
            raise TooLong(f"a value of more than {self.most} items")


_LETTERS: dict[type, str] = {
    list: "", tuple: "t", set: "s", frozenset: "f", dict: "d", Counter: "d", OrderedDict: "d", defaultdict: "d",
}  # fmt: skip


class Raised:
    """Where a value would stand: the call, or the script, raised an exception of this class instead, and `said` this. Behind the
    name of one that is not built in stand those that it inherits from: `JSONDecodeError(ValueError)`."""

    __slots__ = ("error", "said")

    def __init__(self, error: str, said: str = "") -> None:
        self.error, self.said = error, said

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the class, and of those that it inherits from, up to the built-in ones."""
        name, _, bases = self.error.partition("(")
        return (name, *bases.removesuffix(")").split(", ")) if bases else (name,)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.error == self.error

    def __hash__(self) -> int:
        return hash(self.error)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.error!r})"


def raised(error: BaseException) -> Raised:
    """What leaves a program of an exception."""
    name, *bases = _names(type(error))
    while len(bases) > 1 and len(name) + sum(len(base) + 2 for base in bases) > LONGEST_NAME:
        bases.pop(-2)
    name = name[: LONGEST_NAME - sum(len(base) + 2 for base in bases)]
    try:
        said = "".join([str(error)])
    except Exception:
        said = ""
    return Raised(f"{name}({', '.join(bases)})" if bases else name, said)


def _names(kind: type[BaseException]) -> list[str]:
    """The names of a class and of those that it inherits from, but for those of a built-in one. What is called as a built-in class
    is and is none says so: `own.ValueError`."""
    found: list[type] = []
    for base in kind.__mro__[:-1]:
        if not any(issubclass(each, base) for each in found if each.__module__ == "builtins"):
            found.append(base)
    return [
        f"own.{base.__name__}" if hasattr(builtins, base.__name__) and base.__module__ != "builtins" else base.__name__
        for base in found
    ]


class Opaque(Raised):
    """Where a value would stand: there was one, of this type, that is not plain."""


def decode(loaded: Any, max_items: int | None = None) -> Any:
    """The value of a text that `json.loads` has read. Raises ValueError when it is none, or has too many items."""
    if type(loaded) is int or type(loaded) is str:
        if type(loaded) is str and max_items is not None and len(loaded) > max_items:
            raise ValueError("too many items")
        return loaded
    if type(loaded) is list and set(map(type, loaded)) <= _INTEGER and (max_items is None or len(loaded) <= max_items):
        return loaded
    return _Decoder(max_items).value(loaded, 0)


_INTEGER = {int}


class _Decoder:
    def __init__(self, max_items: int | None) -> None:
        self.left = max_items

    def value(self, loaded: Any, depth: int) -> Any:
        kind = type(loaded)
        if kind in (int, float, bool):
            return loaded
        if kind is str:
            return self._spend(loaded)
        if kind is list and depth <= DEEPEST:
            return [self.value(item, depth + 1) for item in self._spend(loaded)]
        if kind is dict and len(loaded) == 1 and depth <= DEEPEST:
            ((letter, inner),) = loaded.items()
            if letter in _FORMS:
                try:
                    return _FORMS[letter](self, inner, depth)
                except (TypeError, AttributeError, UnicodeError, OverflowError) as error:  # unhashable, too few, …
                    raise ValueError(f"no value: {error}") from None
        raise ValueError("no value")

    def items(self, loaded: Any, depth: int) -> list[Any]:
        if type(loaded) is not list:
            raise ValueError("no list of items")
        return [self.value(item, depth + 1) for item in self._spend(loaded)]

    def pairs(self, loaded: Any, depth: int) -> dict[Any, Any]:
        if type(loaded) is not list or any(type(pair) is not list or len(pair) != 2 for pair in loaded):
            raise ValueError("no list of pairs")
        keys = _unlike([self.value(k, depth + 1) for k, _ in self._spend(loaded)])
        return dict(zip(keys, [self.value(v, depth + 1) for _, v in loaded], strict=True))

    def bytes(self, loaded: Any, depth: int) -> bytes:
        encoded: bytes = loaded.encode("latin-1")
        return self._spend(encoded)

    def range(self, loaded: Any, depth: int) -> range:
        start, stop, step = self.items(loaded, depth)
        value = range(start, stop, step)
        if self.left is not None:
            self._spend(value)
        return value

    def complex(self, loaded: Any, depth: int) -> complex:
        real, imaginary = self.items(loaded, depth)
        return complex(real, imaginary)

    def _spend(self, value: Any) -> Any:
        if self.left is not None:
            self.left -= len(value)
            if self.left < 0:
                raise ValueError("too many items")
        return value


def _unlike(keys: list[Any]) -> list[Any]:
    """Keys that a hash tells apart, as far as it has to: of those with the same one each is compared with all others, and
    a program could choose them so."""
    if len(keys) > MOST_ALIKE and max(Counter(map(hash, keys)).values()) > MOST_ALIKE:
        raise ValueError("too many keys of one hash")
    return keys


def _none(decoder: _Decoder, loaded: Any, depth: int) -> None:
    if loaded != 0:
        raise ValueError("no None")


def _extreme(decoder: _Decoder, loaded: Any, depth: int) -> float:
    if loaded not in ("nan", "inf", "-inf"):
        raise ValueError("no float")
    return float(loaded)


def read_line(loaded: Any, max_items: int | None = None) -> Any:
    """What stands on a line: a value, `Raised`, `Opaque`, or None on a line of its own. Raises ValueError."""
    if loaded is None:
        return None
    if type(loaded) is dict and loaded.keys() <= _MARKS.keys():
        ((letter, held),) = loaded.items() or [("", None)]
        name, said = held if type(held) is list and len(held) == 2 else (held, "")
        if type(name) is not str or len(name) > LONGEST_NAME or type(said) is not str or len(said) > LONGEST_MESSAGE:
            raise ValueError("no name")
        return _MARKS[letter](name, said)
    return decode(loaded, max_items)


_MARKS = {"e": Raised, "o": Opaque}
_FORMS: dict[str, Callable[[_Decoder, Any, int], Any]] = {
    "n": _none,
    "x": _extreme,
    "t": lambda d, loaded, depth: tuple(d.items(loaded, depth)),
    "s": lambda d, loaded, depth: set(_unlike(d.items(loaded, depth))),
    "f": lambda d, loaded, depth: frozenset(_unlike(d.items(loaded, depth))),
    "d": _Decoder.pairs,
    "b": _Decoder.bytes,
    "r": _Decoder.range,
    "c": _Decoder.complex,
}
