"""A bench for tests that keep objects of a program: a part of the tester. What it asks the program for is in `keeper.py`."""

import types
from collections import deque
from collections.abc import Callable
from typing import Any

from kolmocli.tasks.code.apart import _PLACE, AWAITED, OBJECT, SHARED, _apart, _changeable, _together
from kolmocli.tasks.code.handles import Handle
from kolmocli.tasks.code.lent import Lending, NotLent
from kolmocli.tasks.code.paths import Files
from kolmocli.tasks.code.printing import Printed
from kolmocli.tasks.code.tester import Bench
from kolmocli.tasks.code.tokens import Unknown, _known

_ERROR = "under_key"
"""The key of an exception that a call raised, in what stands for it here."""


def _placed(value: Any, places: list[Any]) -> Any:
    """A value with what was given in the places of its numbers."""
    if type(value) is tuple and value[:1] == (_PLACE,):
        return places[value[1]]
    if type(value) in (list, tuple):
        return type(value)(_placed(each, places) for each in value)
    return {key: _placed(each, places) for key, each in value.items()} if type(value) is dict else value


class Keeping(Bench):
    """A bench for tests that keep objects of classes of the program."""

    def __init__(self, known: dict[int, list[tuple[str, str]]], results: list[Any], classes: list[str]) -> None:
        super().__init__(known, results, classes)
        self.handles: dict[Any, Handle] = {}
        self.contents: dict[Any, Any] = {}
        """What objects under these keys are equal to as plain values."""
        self.relations: set[Any] = set()
        """Keys of what relates an object to a number."""
        self.stubs: dict[Callable[..., Any], str] = {}
        """Functions of the program, and what they are called."""
        self.space[AWAITED] = self.stub(AWAITED)
        self.lively: set[Any] = set()
        """Keys of what is changed in place, and may be no object but a list."""
        self.shown: dict[int, tuple[Any, Any]] = {}
        """What such things were, and their keys: an object that is given one is given the very thing."""
        self.lending = Lending()
        self.function = self.lending.noted
        self.printed = Printed(self)
        self.patches = 0
        """How often a name of the program was given another meaning in this test."""
        self.files = Files(self)
        self.redirect, self.redirected = self.printed.redirect, self.printed.redirected

    def stub(self, function: str) -> Callable[..., Any]:
        if function in self.classes:
            return self.handle(function)

        def call(*arguments: Any, **keywords: Any) -> Any:
            return self.ask("program", function, *arguments, **keywords)

        self.stubs[call] = function
        return call

    def handle(self, key: Any) -> Any:
        """What stands here for what is under this key: a handle, but for types that are Python's."""
        if key in self.lending.lent:
            return self.lending.lent[key]
        known = self.space["__builtins__"].get(key) if type(key) is str and key not in self.classes else None
        return known if isinstance(known, type) else self.handles.setdefault(key, Handle(self, key))

    def inert(self) -> Any:
        """What a mock of the tests returns that is not told what: a program has more in its place (`benched.py`)."""
        return object()

    def mocked(self, told: list[Any]) -> Any:
        """A mock with parts, which the program has."""
        return self.make("_mocked", (told,), {})

    def tell(self, mock: Any, steps: list[str], value: Any) -> None:
        self.ask("method", "_tell_", mock, steps, value)

    def calls_of(self, mock: Any, steps: list[str]) -> Any:
        """The calls of a part of a mock, each as it is in the list of a mock that is a function."""
        return self.ask("method", "_noted_", mock, steps)

    def made_part(self, mock: Any, steps: list[str]) -> Any:
        """A part of a mock that is a mock."""
        return self.make("_part_of_mock", (mock, steps), {})

    def part_of(self, mock: Any, steps: list[str]) -> Any:
        return self.ask("method", "_part_", mock, *steps)

    def makes(self, key: Any) -> bool:
        """Whether this makes an object whenever it is called."""
        return key in self.classes or self.files.makes(key)

    def make(self, maker: Any, arguments: Any, keywords: Any) -> Any:
        """A new object. What is known of it is that it was made, or what was raised instead."""
        key = self.next_key()
        self.files.note(maker, key)
        self._call("_object_made", (maker,), arguments, keywords)
        return self.handle(key)

    def next_key(self) -> int:
        """Of the next call: the same however far the calls of another part go."""
        return self.part_number << 32 | len(self.calls.get(self.part_number, ()))

    def ask(self, of: str, name: str, /, *arguments: Any, **keywords: Any) -> Any:
        return self._call("_object_asked", (of, name), arguments, keywords)

    def constant(self, name: str) -> Any:
        return self.ask("constant", name)

    def changing(self, called: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
        """The result of a function of the program, which may change what it is given: the tests look at that afterwards. As long as the
        result is not there, they go on as if it did not."""
        if called not in self.stubs:
            return called(*arguments, **keywords)
        return self._changed("program", self.stubs[called], arguments, keywords)

    def changing_by(self, owner: Any, name: str, /, *arguments: Any, **keywords: Any) -> Any:
        """The same of a method."""
        if not isinstance(owner, Handle):
            return getattr(owner, name)(*arguments, **keywords)
        return self._changed("method", name, (owner, *arguments), keywords)

    def _changed(self, of: str, name: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        found = self._call("_object_changed", (of, name), arguments, keywords)
        if isinstance(found, Unknown):
            self.guess()
            return found
        made, contents = found
        given = [[*arguments], keywords]
        places = [*_changeable(self._sent(given), given)]
        for old, new in zip(places, contents, strict=True):
            new = _placed(new, places)
            old.clear()
            (old.extend if isinstance(old, list | deque) else old.update)(new)
        return _placed(made, places)

    def _call(self, function: str, names: tuple[str, ...], arguments: Any, keywords: Any) -> Any:
        key = self.next_key()
        try:
            return super().stub(function)(key, *names, self._sent(list(arguments)), self._sent(keywords))
        except NotLent as error:
            self.unfit = f"{names[-1]}() is given {error}; it does not go to a program"
            raise
        except Exception as error:
            if isinstance(error, TypeError):
                self.unfit = self.unfit and self.unfit.replace(function, names[-1])
            error.__dict__.setdefault(_ERROR, f"error of call {key}")
            raise

    def decorated(self, decorator: Callable[..., Any], function: Any) -> Any:
        """What the program makes of a function, and what its name means within it from then on."""
        made = super().decorated(decorator, function)
        self.ask("rebound", function.__name__, function, made)
        return made

    def related(self, handle: Handle) -> Handle:
        self.relations.add(handle.under_key)
        return handle

    def certain_of(self, method: str, handle: Handle, *more: Any) -> Any:
        return _known(self.ask("method", method, handle, *more))

    def ask_of(self, handle: Handle, name: str, *more: Any) -> Any:
        if handle.under_key in self.relations:
            raise TypeError(f"{name} of an object less a number")
        return self.ask("python", name, handle, *more)

    def certain(self, name: str, handle: Handle, *more: Any) -> Any:
        return _known(self.ask_of(handle, name, *more))

    def read(self, value: Any, name: str) -> Any:
        """`value.name`, where it is not called. What an exception of the program has besides what it says, the program has."""
        own = not hasattr(value, name) or name in ("args", "__cause__", "__context__")
        if isinstance(value, BaseException) and _ERROR in value.__dict__ and own:
            value = self.handle(value.__dict__[_ERROR])
        return self.ask("python", "getattr", value, name) if isinstance(value, Handle) else getattr(value, name)

    def live(self, value: Any, name: str) -> Any:
        """`value.name`, where what it is is changed in place."""
        return self._lively("getattr", (value, name), {}) if isinstance(value, Handle) else getattr(value, name)

    def live_call(self, owner: Any, name: str, /, *arguments: Any, **keywords: Any) -> Any:
        """What a method returns, for the same."""
        if not isinstance(owner, Handle):
            return getattr(owner, name)(*arguments, **keywords)
        return self._lively(self.make("methodcaller", (name, *arguments), keywords).under_key, (owner,), {})

    def live_made(self, called: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
        """What a function of the program returns, for the same."""
        if not isinstance(called, types.FunctionType) or called not in self.stubs:
            return called(*arguments, **keywords)
        return self._lively(self.stubs[called], arguments, keywords)

    def _lively(self, maker: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Handle:
        made = self.make(maker, arguments, keywords)
        self.lively.add(made.under_key)
        return made

    def now(self, value: Any) -> Any:
        """What something that is changed in place is at present."""
        if not isinstance(value, Handle) or value.under_key not in self.lively:
            return value
        found = self.ask("value", "value", value)
        if type(found) in (list, dict, set):
            self.shown[id(found)] = found, value.under_key
        return found

    def shared(self, value: Any) -> Any:
        """A list, dict or set that the program is given, and may keep: it has it from now on."""
        return self._lively(SHARED, (value,), {})

    def iterator(self, value: Any) -> Handle:
        """An iterator over this which the program has: a function that it is given may go on with it."""
        return self.make("iter", (value,), {})

    def item(self, value: Any, key: Any) -> Any:
        """`value[key]`, where what it is is changed in place."""
        return self._lively("getitem", (value, key), {}) if isinstance(value, Handle) else value[key]

    def python(self, name: str, *arguments: Any, **keywords: Any) -> Any:
        """What a function of Python returns: by the program, where that is of an object."""
        handles = [each for each in arguments if isinstance(each, Handle)]
        if handles:
            if any(each.under_key in self.relations for each in handles) and name not in ("isinstance", "repr", "str"):
                raise TypeError(f"{name} of an object less a number")
            return self.ask("python", name, *arguments, **keywords)
        return self.space["__builtins__"][name](*arguments, **keywords)

    def inside(self, item: Any, container: Any) -> Any:
        """`item in container`."""
        if not isinstance(container, Handle):
            return item in container
        if type(container.under_key) is int or container.under_key in self.classes:
            return self.ask("python", "contains", container, item)
        return item in self.certain("list", container)

    def same(self, one: Any, other: Any) -> Any:
        """Two handles may be of one object."""
        if isinstance(one, Handle) and isinstance(other, Handle) and one is not other:
            return self.ask("python", "is_", one, other)
        return super().same(one, other)

    def kind(self, value: Any) -> Any:
        return self.ask("python", "type", value) if isinstance(value, Handle) else super().kind(value)

    def _sent(self, value: Any) -> Any:
        """An argument with the keys of objects."""
        if id(value) in self.shown and not isinstance(value, Unknown):
            return OBJECT, self.shown[id(value)][1]
        value = _apart(value)
        if isinstance(value, Handle):
            return OBJECT, value.under_key
        if type(value) in (list, tuple, set, frozenset):
            return type(value)(map(self._sent, value))
        if type(value) is dict:
            return {key: self._sent(each) for key, each in value.items()}
        if isinstance(value, type) and value.__module__ == "builtins":
            return OBJECT, value.__name__
        if any(value is error for error in self.errors):
            return OBJECT, value.__name__
        if isinstance(value, types.FunctionType) and value in self.stubs:
            return OBJECT, self.stubs[value]
        return self.lending.sent(value, self.next_key(), self._sent)

    def patch(self, path: str, value: Any) -> None:
        """Give a name another meaning in the program until the test ends: `builtins.input`, `random.random`."""
        if path == "sys.stdin":
            value = value.read()
        self.patches += 1
        self.ask("patched", path, value)

    def unpatch(self, left: int) -> None:
        """Take back all patches but so many."""
        number, self.patches = self.patches - left, left
        self.ask("restored", "restored", number)

    def _begin(self) -> None:
        super()._begin()
        self.lending.lent.clear()
        if self.patches:
            self.unpatch(0)

    def _returned(self, result: Any) -> Any:
        return self._received(super()._returned(result))

    def _received(self, value: Any) -> Any:
        """A result with handles where it has keys."""
        value = _together(value, self._received)
        if type(value) is tuple and value[:1] == (OBJECT,):
            if len(value) > 2:
                self.contents[value[1]] = self._received(value[2])
            return self.handle(value[1])
        if type(value) in (list, tuple):
            return type(value)(map(self._received, value))
        if type(value) is dict:
            return {self._received(key): self._received(each) for key, each in value.items()}
        return value
