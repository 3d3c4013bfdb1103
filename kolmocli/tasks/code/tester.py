"""Runs tests that are code, in a process that the program under test never enters.

This text, with those of `sandbox/wire/values.py` and `tokens.py` above it, is itself a program that the sandbox runs: a script, which
reads what to do and prints what it found (`asserts.py`). In place of the program's functions the tests get
stubs. A stub has the result of a call ready where the program has made it already, elsewhere. Where not, it notes the
call and gives a token.

The tests go on with a token as long as nothing depends on the result: `assert f(3) == 4` says all there is to know of
it. So many tests can be read in one run without any program, as a list of calls and what they have to return. Where
more is done with a token, the run is only good for finding calls that the program can be asked to make: whether a token is
true is guessed, because tests are written for programs that pass, and whatever else is asked raises NeedValues.

Annotations are evaluated: the sandbox has no `__future__`.
"""

import ast
import contextlib
import itertools
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from kolmocli.sandbox.wire.values import NotPlain, Opaque, Raised, TooLong, encode, read_line
from kolmocli.tasks.code.tokens import NeedValues, Relation, Token, Unknown, _need

BENCH = "__bench__"
"""The name by which rewritten tests reach the bench."""
SEED = "_seed_of_tests"
"""A function below the program, which seeds its `random` as the tests seed theirs (`repeating.py`)."""
MOST_ITEMS = 1 << 20
"""In the arguments of a call, and in what is expected of it."""
_MOST_PARTS = 32
"""Bits of the number of a part in another."""
_MOST_GUESSES = 256
"""Then the tests may be in a loop that a guess keeps going."""


class Foreign(Exception):
    """A program raised what no test can name, or returned what no test can see."""


class Bench:
    """Where the tests run: it hands out results and notes calls and asserts.

    The tests that a framework would run one by one are parts, and so are the turns of a loop, and what stands between two of them. A
    part that needs a result that is not there ends, and the next begins: what all of them wait for is asked of the program at once.
    After a loop with such turns its test ends."""

    def __init__(self, known: dict[int, list[tuple[str, str]]], results: list[Any], classes: list[str]) -> None:
        """`known` are the calls that the program has made, by the number of their part, `results` what they all returned."""
        self.classes = frozenset(classes)
        """Of the program, of which tests keep objects."""
        self.known, self.results = known, results
        ends = [*itertools.accumulate(map(len, known.values()), initial=0)]
        self._starts = dict(zip(known, ends, strict=False))
        """Where the results of each part begin."""
        self.calls: dict[int, list[tuple[str, str]]] = {}
        """Those of each part that has any."""
        self.part_number, self.made = 0, 0
        """The part that runs, and how many calls there were."""
        self._around: list[int] = []
        """The parts that this one is in."""
        self.cut = False
        """A turn of a loop has ended early, and the loop has not yet."""
        self.asserts: list[Any] = []
        self.space: dict[str, Any] = {"__name__": "__main__", BENCH: self}
        self.waiting = False
        """A token of this part is about."""
        self.open = False
        """The calls are not those that the program has made."""
        self.blocked = False
        """A result was needed that was not there."""
        self.unseen = False
        """A result is no plain value, and no assert has failed since: the tests may expect an exception, and this is none."""
        self.guesses = 0
        self.errors: list[type[BaseException]] = []
        """What stands for exceptions of the program that the tests name."""
        self.unfit: str | None = None
        """What the tests ask for that cannot be had."""
        self.began = 0.0
        """When this run did, in seconds since 1970: it takes no time."""

    def clock(self) -> float:
        return self.began

    def drawn(self, size: int) -> bytes:
        """`os.urandom`"""
        return random.randbytes(size)

    def stub(self, function: str) -> Callable[..., Any]:
        def call(*arguments: Any, **keywords: Any) -> Any:
            try:
                made = function, encode([[*arguments], keywords], MOST_ITEMS)
            except NotPlain as error:
                if error.args[0] in (Token.__name__, Relation.__name__):
                    self.blocked = True
                    raise NeedValues from None
                self.unfit = f"{function}() is given a value of type {error.args[0]}; only plain values go to a program"
                raise TypeError(self.unfit) from None
            calls, known = self.calls.setdefault(self.part_number, []), self._known()
            calls.append(made)
            self.made += 1
            if self.waiting or known[len(calls) - 1 : len(calls)] != [made]:
                self.waiting = self.open = True
                return Token(self, self.made - 1)
            return self._returned(self.results[self._starts[self.part_number] + len(calls) - 1])

        call.__name__ = function
        return call

    def _known(self) -> list[tuple[str, str]]:
        return self.known.get(self.part_number, [])

    @contextlib.contextmanager
    def part(self) -> Iterator[None]:
        """A test."""
        self._begin()
        with self._inner(), contextlib.suppress(NeedValues):
            yield
        self._begin()

    def _begin(self) -> None:
        self.guesses, self.cut = 0, False

    @contextlib.contextmanager
    def _inner(self) -> Iterator[None]:
        """A part in this one, which has a number of its own whatever happens in those before; so has what follows it."""
        self._end()
        self._around.append(self.part_number + 1)
        self.part_number = (self.part_number + 1) << _MOST_PARTS
        try:
            yield
        finally:
            self._end()
            self.part_number = self._around.pop() + 1

    def _end(self) -> None:
        # What the program was asked for beyond these calls may have changed what follows.
        self.open |= len(self._known()) > len(self.calls.get(self.part_number, ()))
        self.waiting = False

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """One turn of a loop."""
        with self._inner():
            before, self.cut = self.cut, False  # by a loop within this turn
            try:
                yield
            except NeedValues:
                before = True
            finally:
                self.cut = before

    def turned(self) -> None:
        """The end of a loop: what follows it may depend on every turn."""
        if self.cut:
            raise NeedValues

    def _returned(self, result: Any) -> Any:
        if isinstance(result, Opaque):
            self.unseen = True
            raise Foreign(f"{result.error} is no plain value")
        if isinstance(result, Raised):
            raise self._error(result)
        return result

    def _error(self, raised: Raised) -> BaseException:
        """What the program raised, as far as it is known here."""
        built_in = self.space["__builtins__"]
        found = [
            built_in.get(name) or self.space.get(name.removeprefix("own.")) or self._library_error(name)
            for name in raised.names
        ]
        kinds = [each for each in found if isinstance(each, type) and issubclass(each, BaseException)]
        kinds = [each for each in kinds if not any(each is not other and issubclass(other, each) for other in kinds)]
        said: Any = raised.said
        if any(issubclass(each, KeyError) for each in kinds):  # which says its argument as it would be typed
            with contextlib.suppress(Exception):
                said = ast.literal_eval(said)
        if len(kinds) > 1 and kinds[0] in self.errors:  # of which the tests ask whether it is that very type
            with contextlib.suppress(TypeError):
                kinds[0].__bases__ = tuple(kinds[1:])
                kinds = kinds[:1]
        with contextlib.suppress(TypeError):  # a group of exceptions needs those that are in it
            very = len(kinds) == 1 and (kinds == found[:1] or kinds[0] not in self.errors)
            kind = kinds[0] if very else type(raised.names[0], tuple(kinds), {})
            if issubclass(kind, BaseException):
                return kind.__new__(kind, *([said] if raised.said else []))
        return Foreign(raised.error)

    def _library_error(self, name: str) -> Any:
        """An exception of a module that the tests import, or of a part of one: `json.decoder.JSONDecodeError`."""
        modules = [each for each in self.space.values() if type(each) is type(json)]
        parts = [each for module in modules for each in vars(module).values() if type(each) is type(json)]
        found = [vars(each)[name] for each in [*modules, *parts] if name in vars(each)]
        return next((each for each in found if isinstance(each, type) and issubclass(each, Exception)), None)

    def holds(self, value: Any) -> None:
        """`assert value`."""
        if type(value) is Token:
            self._note(value, "true")
        elif type(value) is Relation:
            self._note(value, "equal", object.__getattribute__(value, "expected"))
        else:
            self.asserts.append(bool(value))

    def fails(self, value: Any) -> None:
        """`assert not value`."""
        if type(value) is Token:
            self._note(value, "false")
        else:
            self.asserts.append(not value)

    def identical(self, one: Any, other: Any) -> None:
        """`assert one is other`."""
        if type(other) is Token:
            one, other = other, one
        if type(one) is Token and (other is None or other is True or other is False):
            self._note(one, "is", other)
        else:
            self.holds(self.same(one, other))

    def held(self, value: Any) -> bool:
        """Whether an assert holds; it raises when it fails, as asserts do."""
        if not value:
            return False
        self.asserts.append(True)
        return True

    def caught(self, error: BaseException) -> None:
        """An exception was expected, and came; one of an assert is what the tests raise where none comes."""
        if not isinstance(error, AssertionError):
            self.asserts.append(True)

    def broken(self) -> None:
        """An assert raised something."""
        self.unseen = False
        self.asserts.append(False)

    def guess(self) -> bool:
        self.blocked = True
        self.guesses += 1
        if self.guesses > _MOST_GUESSES:
            raise NeedValues
        return True

    def same(self, one: Any, other: Any) -> Any:
        """`one is other`, which a token cannot answer."""
        for each in (one, other):
            if isinstance(each, Unknown):
                _need(each)
        return one is other

    def certainly(self, value: Any) -> Any:
        """What is taken apart by `match`, which asks nothing."""
        for each in value if type(value) in (list, tuple) else [value]:
            if isinstance(each, Unknown):
                _need(each)
        return value

    def decorated(self, decorator: Callable[..., Any], function: Any) -> Any:
        """A function of the tests under a decorator of the program."""
        return decorator(function)

    def kind(self, value: Any) -> type:
        """`type(value)`, for the same reason."""
        if isinstance(value, Unknown):
            _need(value)
        return type(value)

    def _note(self, value: Unknown, relation: str, expected: Any = None) -> None:
        try:
            text = encode(expected, MOST_ITEMS)
        except (NotPlain, TooLong):
            _need(value)
        self.asserts.append([object.__getattribute__(value, "call"), relation, json.loads(text)])


def main(request: str, open_bench: Callable[..., Bench] = Bench) -> str:
    """The report on one run of the tests."""
    asked = json.loads(request)
    bench = open_bench(
        {number: [tuple(call) for call in part] for number, part in asked["known"]},
        [read_line(result) for result in asked["results"]],
        asked["classes"],
    )
    bench.began = asked["now"]
    random.seed(0)
    error = None
    try:
        exec(compile(asked["opening"], "<opening>", "exec", optimize=0), bench.space)
        bench.errors = [type(name, (Exception,), {}) for name in asked["errors"]]
        bench.space.update({error.__name__: error for error in bench.errors})
        bench.space.update({name: bench.stub(name) for name in asked["functions"]})
        exec(compile(asked["tests"], "<tests>", "exec", optimize=0), bench.space)
        if bench.unseen:
            bench.broken()
    except NeedValues:
        pass
    except BaseException as raised:
        error = f"{type(raised).__name__}: {raised}"[:200]
    bench.open |= [*bench.calls] != [*bench.known][: len(bench.calls)]
    report = {"calls": [*bench.calls.items()], "asserts": bench.asserts, "open": bench.open, "blocked": bench.blocked}
    return json.dumps(report | {"error": error, "unfit": bench.unfit})
