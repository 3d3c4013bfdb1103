"""The program stream: stored programs, adaptively range coded."""

from __future__ import annotations

from dataclasses import replace

from kolmocli.archive.format.container import FORMAT_VERSION
from kolmocli.archive.format.rangecoder import Coder, Integers, Model
from kolmocli.archive.format.recurrences import MOST_ORDER, Recurrence
from kolmocli.archive.format.stored import Earlier, Fresh, Stored, StoredCall
from kolmocli.language.program import PREDICATES, SIGNATURES, Kind, Ref

MAX_STATEMENTS = 256

FRESH, EARLIER, END, RECURRENCE = "fresh", "earlier", "end", "recurrence"
SYMBOLS = (*SIGNATURES, FRESH, EARLIER, END, RECURRENCE)
"""Symbols that open a statement. `set_list` is the one with its items in the program."""
_SYMBOLS_OF_VERSION = {1: len(SYMBOLS) - 1, 2: len(SYMBOLS), 3: len(SYMBOLS)}
_WIDTH = 5
_NUMBER = {name: i for i, name in enumerate(SYMBOLS)}
_START = len(SYMBOLS)
_RAMPS = ("range_func_up", "range_func_interval", "repeat_num")
_NEW, _NEXT, _SECOND, _SKIP, _SECOND_SKIP = range(5)
"""Starts of a ramp: at a value that is written; where the last or the one before would have gone on; or one
step further than that."""


class ProgramCoder:
    """Codes one program after the other, in either direction, adapting to what it has seen."""

    def __init__(self, version: int = FORMAT_VERSION) -> None:
        """`version` is that of the format: the first has no recurrences."""
        self._symbols = _SYMBOLS_OF_VERSION[version]
        # a statement's symbol: after a symbol with 1, 2 or more unused values; at the start, after a program's kind
        self._symbol = Model((len(SYMBOLS) * 3 + (len(SYMBOLS) + 1) * 2) << _WIDTH)
        self._slot = Model(len(SYMBOLS) * 3 << 3)
        self._relation = Model(len(SYMBOLS) * len(SYMBOLS) << 2)
        self._distance_slot = Model(2 * 4)
        self._predicate = Model(4)
        self._fold = Model(len(SYMBOLS))
        contexts = len(SYMBOLS) + 1
        self._count = Integers(contexts * 2)
        self._start = Integers(len(SYMBOLS))
        self._step = Integers(1)
        self._distance = Integers(2)
        self._operand = Integers(len(SYMBOLS) * 2)
        self._reference = Integers(2)
        self._item = Integers(2)
        self._order = Model(MOST_ORDER)
        self._rule = Integers(4)
        self._kind = (_START, 0)
        self._ramps = [(0, 0), (0, 0)]
        self._distances = [0, 0]

    def code(self, coder: Coder, program: Stored = ()) -> Stored:
        """Code a program. A decoder passes none and gets it.

        Raises:
            ValueError: when a decoder meets what no encoder writes.
        """
        done: list[StoredCall] = []
        unused: list[int] = []
        previous, last_count = _START, -1
        while True:
            call = program[len(done)] if len(done) < len(program) else None
            symbol = self._code_symbol(coder, previous, len(unused), _symbol_of(call))
            if symbol == END:
                break
            if len(done) >= MAX_STATEMENTS:
                raise ValueError(f"a program of more than {MAX_STATEMENTS} statements")
            new, last_count = self._code_call(coder, symbol, call, previous, last_count, unused, len(done))
            for index in new.refs():
                if index in unused:
                    unused.remove(index)
            unused.append(len(done))
            done.append(new)
            previous = _NUMBER[symbol]
        if not done:
            raise ValueError("an empty program")
        self._kind = (_NUMBER[_symbol_of(done[0])], int(len(done) > 1))
        return tuple(done)

    def _code_symbol(self, coder: Coder, previous: int, unused: int, symbol: str) -> str:
        if previous == _START:
            context = len(SYMBOLS) * 3 + self._kind[0] * 2 + self._kind[1]
        else:
            context = previous * 3 + min(max(unused, 1), 3) - 1
        number = coder.tree(self._symbol, context << _WIDTH, _WIDTH, _NUMBER[symbol])
        if number >= self._symbols:
            raise ValueError("an unknown symbol")
        return SYMBOLS[number]

    def _code_call(
        self,
        coder: Coder,
        symbol: str,
        call: StoredCall | None,
        previous: int,
        last_count: int,
        unused: list[int],
        statements: int,
    ) -> tuple[StoredCall, int]:
        """The call, and its number of items where that is known from the call itself (else -1)."""
        number = _NUMBER[symbol]
        if symbol in _RAMPS:
            start, step, count = _ramp_of(call)
            start, step, slot = self._code_start(coder, symbol, start, step, previous)
            count = self._code_count(coder, number, previous, last_count, count)
            self._ramps = [(start + step * count, step), self._ramps[0 if slot in (_NEW, _SECOND, _SECOND_SKIP) else 1]]
            return _ramp(symbol, start, step, count), count
        source = call.arguments[0] if call and call.arguments else None
        if symbol == FRESH:
            count = source.count if isinstance(source, Fresh) else 0
            count = self._code_count(coder, number, previous, last_count, count)
            return StoredCall("set_list", (Fresh(count),)), count
        if symbol == EARLIER:
            old = source if isinstance(source, Earlier) else Earlier(0, 0)
            distance = self._code_distance(coder, old.distance, int(previous != _START))
            count = self._code_count(coder, number, previous, last_count, old.count)
            return StoredCall("set_list", (Earlier(distance, count),)), count
        if symbol == "set_list":
            items = source if isinstance(source, tuple) else ()
            count = self._code_count(coder, number, previous, last_count, len(items))
            if count > 1 << 20:
                raise ValueError("a literal of more than 1,048,576 items")
            decoded = []
            for i in range(count):
                decoded.append(self._item.code(coder, int(i > 0), items[i] if i < len(items) else 0, signed=True))
                if getattr(coder, "exhausted", False):
                    raise ValueError("the program stream is truncated")
            return StoredCall("set_list", (tuple(decoded),)), count
        if symbol == RECURRENCE:
            rule = self._code_rule(coder, source if isinstance(source, Recurrence) else _NO_RULE)
            count = self._code_count(coder, number, previous, last_count, rule.count)
            if count > 1 << 20:
                raise ValueError("a recurrence of more than 1,048,576 items")
            return StoredCall("set_list", (replace(rule, count=count),)), count
        return self._code_operands(coder, symbol, call, unused, statements), -1

    def _code_rule(self, coder: Coder, rule: Recurrence) -> Recurrence:
        """All of a recurrence but its count."""

        def number(context: int, value: int) -> int:
            return self._rule.code(coder, context, value, signed=True)

        order = 1 + coder.tree(self._order, 0, 3, len(rule.coefficients) - 1)
        old = [*rule.coefficients, *[0] * order], [*rule.seeds, *[0] * order]
        coefficients = tuple(number(0, c) for c in old[0][:order])
        constant, modulus = number(1, rule.constant), number(2, rule.modulus)
        if modulus < 0:
            raise ValueError("a negative modulus")
        return Recurrence(coefficients, constant, modulus, tuple(number(3, s) for s in old[1][:order]), rule.count)

    def _code_start(self, coder: Coder, symbol: str, start: int, step: int, previous: int) -> tuple[int, int, int]:
        number = _NUMBER[symbol]
        (next_0, step_0), (next_1, step_1) = self._ramps
        places = (0, next_0, next_1, next_0 + step_0, next_1 + step_1)
        steps = (0, step_0, step_1, step_0, step_1)
        slot = _NEW
        if start in places and step in (step_0, step_1):
            slot = next((s for s in range(_NEXT, len(places)) if (places[s], steps[s]) == (start, step)), _NEW)
        context = number * 3 + (0 if previous == _START else 1)
        slot = coder.tree(self._slot, context << 3, 3, slot)
        if slot > _SECOND_SKIP:
            raise ValueError("an unknown start")
        if slot:
            start = places[slot]
            if symbol == "range_func_interval":
                step = steps[slot]
        else:
            start = self._start.code(coder, number, start, signed=True)
            if symbol == "range_func_interval":
                step = self._step.code(coder, 0, step, signed=True)
        if symbol != "range_func_interval":
            step = int(symbol == "range_func_up")
        return start, step, slot

    def _code_count(self, coder: Coder, number: int, previous: int, last_count: int, count: int) -> int:
        """A number of items; where the statement before has one, first whether it is the same or one less."""
        if last_count >= 0:
            relation = 0 if count == last_count else 1 if count == last_count - 1 else 2
            base = (previous * len(SYMBOLS) + number) << 2
            relation = coder.tree(self._relation, base, 2, relation)
            if relation < 2:
                return last_count - relation
            if relation == 3:
                raise ValueError("an unknown count")
        count = self._count.code(coder, number * 2 + int(previous != _START), count, signed=True)
        if count < 0:
            raise ValueError("a negative count")
        return count

    def _code_distance(self, coder: Coder, distance: int, context: int) -> int:
        slot = self._distances.index(distance) + 1 if distance in self._distances else 0
        slot = coder.tree(self._distance_slot, context * 4, 2, slot)
        if slot == 3:
            raise ValueError("an unknown distance")
        distance = self._distances[slot - 1] if slot else self._distance.code(coder, context, distance)
        if distance != self._distances[0]:
            self._distances = [distance, self._distances[0]]
        return distance

    def _code_operands(
        self, coder: Coder, symbol: str, call: StoredCall | None, unused: list[int], statements: int
    ) -> StoredCall:
        """Operators and mergers: a flag for "the newest unused values, in order", otherwise each reference."""
        number = _NUMBER[symbol]
        kinds = SIGNATURES[symbol]
        wanted = kinds.count(Kind.REF)
        implied = unused[-wanted:] if len(unused) >= wanted else None
        if implied is not None:
            taken = coder.bit(self._fold, number, int(call is not None and call.refs() != implied))
            implied = None if taken else implied
        arguments: list[int | Ref | str] = []
        for place, kind in enumerate(kinds):
            old = call.arguments[place] if call else None
            if kind is Kind.REF:
                if implied is not None:
                    index = implied[sum(isinstance(a, Ref) for a in arguments)]
                else:
                    back = statements - 1 - old.index if isinstance(old, Ref) else 0
                    index = statements - 1 - self._reference.code(coder, 0, back)
                if not 0 <= index < statements:
                    raise ValueError("a reference to no statement")
                arguments.append(Ref(index))
            elif kind is Kind.PREDICATE:
                which = coder.tree(self._predicate, 0, 2, PREDICATES.index(old) if isinstance(old, str) else 0)
                if which >= len(PREDICATES):
                    raise ValueError("an unknown predicate")
                arguments.append(PREDICATES[which])
            else:
                value = old if isinstance(old, int) else 0
                context = number * 2 + int(any(isinstance(a, int) for a in arguments))
                arguments.append(self._operand.code(coder, context, value, signed=True))
        return StoredCall(symbol, tuple(arguments))


_NO_RULE = Recurrence((0,), 0, 0, (0,), 0)
_SYMBOL_OF_SOURCE = {Fresh: FRESH, Earlier: EARLIER, Recurrence: RECURRENCE, tuple: "set_list"}


def _symbol_of(call: StoredCall | None) -> str:
    if call is None:
        return END
    if call.function == "set_list":
        return _SYMBOL_OF_SOURCE[type(call.arguments[0])]
    return call.function


def _ramp_of(call: StoredCall | None) -> tuple[int, int, int]:
    """start, step, count of an initiator."""
    if call is None:
        return 0, 0, 0
    numbers = [a for a in call.arguments if isinstance(a, int)]
    if call.function == "repeat_num":
        return numbers[1], 0, max(numbers[0], 0)
    if call.function == "range_func_up":
        return numbers[0], 1, max(numbers[1] - numbers[0] + 1, 0)
    start, stop, step = numbers
    return start, step, len(range(start, stop, step))


def _ramp(symbol: str, start: int, step: int, count: int) -> StoredCall:
    if symbol == "repeat_num":
        return StoredCall(symbol, (count, start))
    if symbol == "range_func_up":
        return StoredCall(symbol, (start, start + count - 1))
    return StoredCall(symbol, (start, start + step * count, step))
