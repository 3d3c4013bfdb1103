"""What stands below a program of which tests keep objects. Only plain values leave a program, so its objects stay here, each under a
key that the tester knows it by (`handles.py`).

This text is itself a program, and a part of the one that is judged. Whatever an object answers is that program's own claim, as
the result of a function is. What is expected is not in here.
"""

import builtins as _builtins
import collections as _collections
import copy as _copy
import functools as _functools
import inspect as _inspect
import io as _io
import itertools as _itertools
import operator as _operator
import sys as _sys
import types as _types
from typing import Any as _Any

from kolmocli.tasks.code.apart import _PLACE, LENT, LIBRARY, MOCKED, OBJECT, SHARED, _apart, _changeable, _together
from kolmocli.tasks.code.benched import _Bench, _mocked, _of_library, _part_of_mock
from kolmocli.tasks.code.looping import _MOST_LISTED, _awaited, _running

_PLAIN = (
    type(None), bool, int, float, complex, str, bytes, list, tuple, range, set, frozenset, dict,
    _collections.Counter, _collections.OrderedDict, _collections.defaultdict,
)  # fmt: skip
_BASES: dict[_Any, _Any] = {
    int: int.__pos__, float: float.__pos__, str: str.__str__, tuple: lambda value: (*tuple.__iter__(value),),
}  # fmt: skip
"""What makes a value of exactly this type of one of a type below it, and is not the program's."""
_kept: dict[_Any, _Any] = {
    SHARED: lambda value: value, _Bench.__name__: _Bench(), **{each.__name__: each for each in (_awaited, _mocked, _part_of_mock)},
}  # fmt: skip
_patches: list[list[_Any]] = []
"""What takes back each patch."""
_streams: list[_io.StringIO] = []
"""What is printed, and what goes to `sys.stderr`, from when on the tests look at it."""


def _object(key: _Any) -> _Any:
    """What is kept under it, or has that name."""
    if type(key) is tuple:
        return _of_library(*key[1].rpartition(".")[::2])
    if key in _kept:
        return _kept[key]
    if key in globals():
        return globals()[key]
    return _python(key)


def _python(name: str) -> _Any:
    found = next((each for each in (_builtins, _operator, _copy) if hasattr(each, name)), None)
    if found is not None:
        return getattr(found, name)
    for kind in vars(_types).values():  # `types.GeneratorType` is called `generator`
        if isinstance(kind, type) and kind.__name__ == name:
            return kind
    raise NameError(name)


def _given(value: _Any) -> _Any:
    """An argument with objects where it has keys."""
    value = _together(value, _given)
    if type(value) is tuple and value[:1] == (OBJECT,):
        return _object(value[1])
    if type(value) is tuple and value[:1] == (LENT,):
        return _lent(*value[1:])
    if type(value) is tuple and value[:1] == (LIBRARY,):
        return _of_library(*value[1:])
    if type(value) in (list, tuple, set, frozenset):
        return type(value)(map(_given, value))
    return {key: _given(each) for key, each in value.items()} if type(value) is dict else value


def _lent(key: str, name: str, source: str, used: dict[str, _Any], defaults: _Any, keywords: _Any) -> _Any:
    """A function of the tests, the same under the same key, with what it uses as that is now."""
    if key not in _kept:
        space = {"__builtins__": _builtins}
        if name == "<lambda>":
            _kept[key] = eval(compile(source, "<tests>", "eval"), space)
        else:
            exec(compile(source, "<tests>", "exec", optimize=0), space)  # with what it says of itself
            _kept[key] = space[name]
        _kept[key].__defaults__, _kept[key].__kwdefaults__ = _given(defaults), _given(keywords)
    _kept[key].__globals__.update(_given(used))
    return _kept[key]


def _keeping_errors(asked: _Any) -> _Any:
    """The same function, after which an exception that it raised is kept, too."""

    def ask(key: int, *given: _Any) -> _Any:
        try:
            with _running(True):
                return asked(key, *given)
        except Exception as error:
            _kept[f"error of call {key}"] = error
            raise

    return ask


@_keeping_errors
def _object_made(key: int, maker: str, arguments: list[_Any], keywords: dict[str, _Any]) -> None:
    _kept[key] = _object(maker)(*_given(arguments), **_given(keywords))


@_keeping_errors
def _object_asked(key: int, of: str, name: str, arguments: list[_Any], keywords: dict[str, _Any]) -> _Any:
    """What a method, a function of the program, or one of Python returns, with keys in the places of objects."""
    arguments, keywords = _given(arguments), _given(keywords)
    if of == "method":
        made = getattr(arguments[0], name)(*arguments[1:], **keywords)
    elif of == "rebound":
        arguments[0].__globals__[name] = arguments[1]
        made = None
    elif of == "value":
        [made] = arguments
    elif of == "patched":
        _patches.append([])
        made = _patch(name, *arguments)
    elif of == "restored":
        made = [take_back() for _ in range(*arguments) for take_back in reversed(_patches.pop())]
    elif of == "printed":
        made = _printed()
    elif of == "constant":
        made = _object(name)
    elif of == "python" and name == "list":
        made = list(_itertools.islice(arguments[0], _MOST_LISTED))
    else:
        made = (_python if of == "python" else _object)(name)(*arguments, **keywords)
    return _left(made, _fresh(key))


@_keeping_errors
def _object_changed(key: int, of: str, name: str, arguments: list[_Any], keywords: dict[str, _Any]) -> _Any:
    """What a function or a method returns, and what is in that which it was given then."""
    sent = [arguments, keywords]
    arguments, keywords = _given(arguments), _given(keywords)
    places = [*_changeable(sent, [arguments, keywords])]
    called = getattr(arguments[0], name) if of == "method" else _object(name)
    made = called(*arguments[of == "method" :], **keywords)
    numbers = {id(value): number for number, value in enumerate(places)}
    return _left([_numbered(made, numbers), [_content(value, numbers) for value in places]], _fresh(key))


def _content(value: _Any, numbers: dict[int, int]) -> _Any:
    """The value with the numbers of what was given in the places of that."""
    kind = type(value)
    if kind is dict:
        return {key: _numbered(each, numbers) for key, each in value.items()}
    if kind in (list, tuple, _collections.deque):
        return [_numbered(each, numbers) for each in value]
    return value


def _numbered(value: _Any, numbers: dict[int, int]) -> _Any:
    if id(value) in numbers:
        return _PLACE, numbers[id(value)]
    kind = type(value)
    return kind(_content(value, numbers)) if kind in (list, tuple, dict) else value


def _patch(path: str, value: _Any) -> _Any:
    """A name of the program itself, or of a module or class. One of Python's own is looked for among those of the program first."""
    owner, _, name = path.removeprefix("builtins.").rpartition(".")
    if path in ("chdir", "os.environ"):
        _patches[-1].append((_move if path == "chdir" else _environment)(_builtins.__import__("os"), value))
        return
    if path == "sys.stdin":
        value = _io.StringIO(value)
        _patch("input", _reader(value))
    first, *rest = owner.split(".")
    of = _functools.reduce(getattr, rest, globals().get(first) or _builtins.__import__(first)) if owner else None
    meant = (globals() if of is None else vars(of)).get(name, _patches)
    if getattr(value, "__code__", _patch.__code__).co_varnames[:1] == (MOCKED,):
        if _inspect.iscoroutinefunction(meant) and not _inspect.iscoroutinefunction(value):
            value = _coroutine(value)
        if isinstance(of, type):
            value = staticmethod(value)  # a mock is not told whose method it is
    _patches[-1].append(_functools.partial(_bind, of, name, meant))
    _bind(of, name, value)


def _move(system: _Any, folder: _Any) -> _Any:
    back = _functools.partial(system.chdir, system.getcwd())
    system.chdir(folder)
    return back


def _environment(system: _Any, values: _Any) -> _Any:
    """New values, `None` for names that go, and whether all others go."""
    before, known = dict(system.environ), system.environ
    for name in [*known] if values[1] else [name for name, value in values[0].items() if value is None]:
        known.pop(name, None)
    known.update({name: value for name, value in values[0].items() if value is not None})

    def take_back() -> None:
        known.clear()
        known.update(before)

    return take_back


def _coroutine(called: _Any) -> _Any:
    async def awaited(*given: _Any, **by_name: _Any) -> _Any:
        return called(*given, **by_name)

    return awaited


def _reader(stream: _Any) -> _Any:
    """`input`, which a program has not, from a stream."""

    def read(prompt: object = "") -> str:
        line = stream.readline()
        if not line:
            raise EOFError("EOF when reading a line")
        print(prompt, end="")
        return str(line.removesuffix("\n"))

    return read


def _bind(of: _Any, name: str, value: _Any) -> _Any:
    if value is not _patches:
        setattr(of, name, value) if of is not None else globals().update({name: value})
    elif of is not None:
        delattr(of, name)
    else:
        del globals()[name]


def _printed() -> list[str]:
    """What was printed since the last time."""
    found = [stream.getvalue() for stream in _streams]
    _streams[:] = _sys.stdout, _sys.stderr = _io.StringIO(), _io.StringIO()
    return found or ["", ""]


def _fresh(key: int) -> _Any:
    """Keys of what a call returns."""
    return (f"{number}. of call {key}" for number in _itertools.count())


def _left(value: _Any, fresh: _Any) -> _Any:
    """What leaves the program in the place of a value: keys, where it has objects."""
    value = _apart(value)
    kind = type(value)
    if kind in (list, tuple):
        return kind([_left(each, fresh) for each in value])
    if kind is dict:
        return {_left(key, fresh): _left(each, fresh) for key, each in value.items()}
    if kind in _PLAIN:
        return value
    key = next((key for key, kept in _kept.items() if kept is value), None)
    if key is None:
        named = str(getattr(value, "__name__", None))
        known = isinstance(value, type) and value in (globals().get(named), getattr(_builtins, named, None))
        key = named if known else next(fresh)
        _kept[key] = value
    return (OBJECT, key, *(_left(each, fresh) for each in _contents(value)))


def _contents(value: _Any) -> tuple[_Any, ...]:
    """What an object is equal to as a plain value: a named tuple to a tuple, a member of an IntEnum to a number."""
    found = [base for base in _BASES if isinstance(value, base) and type(value).__eq__ is base.__eq__]
    return tuple(_BASES[base](value) for base in found)
