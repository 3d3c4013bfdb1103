"""Values of Python's library that are no plain values, taken apart into plain ones: dates, times, decimals, fractions, deques, slices, paths,
and dicts of other types.

This text is a part of the tester and, below it, of a program of which tests keep objects. Either puts together what the other sends. A
value is of exactly that type, so what is put together equals what Python says that it equals.
"""

import collections as _collections
import datetime as _datetime
import decimal as _decimal
import fractions as _fractions
import pathlib as _pathlib
from typing import Any as _Any

OBJECT = "object of the program"
"""In a pair with its key, in the place of an object."""
SHARED = "value of the tests"
"""The key of what returns what it is given."""
LENT = "function of the tests"
"""Before the key, the name, the source, the values of names, and the defaults of one."""
LIBRARY = "of Python's library"
"""Before a module, and what is in it."""
AWAITED = "_awaited"
"""What tests call to have something of the program awaited (`looping.py`)."""
MOCKED = "_given"
"""The first parameter of what stands for a mock."""
_PLACE = "given value"
"""In a pair with its number, in the place of what a call was given."""
_APART = "value of Python's library"
PATHS: dict[type, str] = {kind: kind.__name__ for kind in (_pathlib.PosixPath, _pathlib.PurePosixPath)}
_DICTS = _collections.Counter, _collections.OrderedDict, _collections.defaultdict
_FACTORIES = int, float, str, list, set, dict, tuple, bool
_OF_DAY, _OF_TIME = ("year", "month", "day"), ("hour", "minute", "second", "microsecond")
_PARTS: dict[type, tuple[str, ...]] = {
    _datetime.date: _OF_DAY, _datetime.time: _OF_TIME, _datetime.datetime: _OF_DAY + _OF_TIME,
    _datetime.timedelta: ("days", "seconds", "microseconds"), _fractions.Fraction: ("numerator", "denominator"),
    slice: ("start", "stop", "step"),
}  # fmt: skip
MADE: dict[str, _Any] = {
    kind.__name__: kind for kind in (*_PARTS, _decimal.Decimal, _collections.deque, *_DICTS, *PATHS)
}  # fmt: skip


def _defaulting(factory: str | None, items: dict[_Any, _Any]) -> _Any:
    kinds = {kind.__name__: kind for kind in _FACTORIES}
    return _collections.defaultdict(kinds.get(factory or ""), items)


MADE["defaultdict"] = _defaulting


def _apart(value: _Any) -> _Any:
    """The same value where it is of another type, or has a time zone."""
    kind = type(value)
    if kind in _PARTS and getattr(value, "tzinfo", None) is None:
        return _APART, kind.__name__, [getattr(value, part) for part in _PARTS[kind]]
    if kind is _decimal.Decimal or kind in PATHS:
        return _APART, PATHS.get(kind, kind.__name__), [str(value)]
    if kind is _collections.deque:
        return _APART, kind.__name__, [list(value), value.maxlen]
    if kind is _collections.defaultdict:
        factory = value.default_factory
        return _APART, kind.__name__, [factory.__name__ if factory in _FACTORIES else None, dict(value)]
    if kind in _DICTS:
        return _APART, kind.__name__, [dict(value)]
    return value


def is_fixed(value: _Any) -> bool:
    """Whether it is such a value, and cannot be changed."""
    return type(value) in (*_PARTS, _decimal.Decimal, *PATHS)


def _together(value: _Any, inner: _Any) -> _Any:
    """What was taken apart, with `inner` of its parts, or the same value."""
    if type(value) is tuple and len(value) == 3 and value[0] == _APART and value[1] in MADE:
        return MADE[value[1]](*map(inner, value[2]))
    return value


def _changeable(sent: _Any, value: _Any) -> _Any:
    """What a program can change in a value that it is given as `sent`, in one order on either side."""
    kind = type(value)
    if kind is _collections.deque and sent[:1] == (_APART,):
        sent = sent[2][0]
    elif kind in _DICTS and sent[:1] == (_APART,):
        sent = sent[2][-1]
    elif kind is not type(sent) or (kind is tuple and sent[:1] in ((OBJECT,), (LENT,), (LIBRARY,))):
        return
    if kind in (list, dict, set, _collections.deque, *_DICTS):
        yield value
    if kind in (dict, *_DICTS):
        sent, value = sent.values(), value.values()
    for one, other in zip(sent, value, strict=True) if kind in (list, tuple, dict, _collections.deque, *_DICTS) else ():
        yield from _changeable(one, other)
