"""A draft of a program that the sampler works on: calls, their values, and the operators that extend it."""

from __future__ import annotations

import random
from collections.abc import Callable

from kolmocli.language import functions
from kolmocli.language.program import INITIATORS as INITIATORS, PREDICATES, Argument, Call, Ref
from kolmocli.language.sampler_settings import SamplerConfig

_PAIRWISE = ("add_two_lists", "subtract_two_lists", "modulo_two_lists")
_MIN_DISTINCT = 3
"""Least number of distinct values that a running sum or a two-list operator takes and makes."""


class Draft:
    """Calls in order, the value of each, and the set of those that the result leaves out."""

    __slots__ = ("calls", "excluded", "high", "low", "values")

    def __init__(self, bounds: tuple[int, int]) -> None:
        self.low, self.high = bounds
        self.calls: list[Call] = []
        self.values: list[list[int]] = []
        self.excluded: set[int] = set()

    def add(self, function: str, *arguments: Argument) -> int:
        """Append the call and its value; the index of the new statement."""
        self.values.append(self._value(function, arguments))
        self.calls.append(Call(function, arguments))
        return len(self.calls) - 1

    def add_if(self, keep: Callable[[list[int]], bool], function: str, *arguments: Argument) -> bool:
        """Append the call if its value is within the bounds and `keep` holds for it."""
        value = self._value(function, arguments)
        if not value or min(value) < self.low or max(value) > self.high or not keep(value):
            return False
        self.values.append(value)
        self.calls.append(Call(function, arguments))
        return True

    def _value(self, function: str, arguments: tuple[Argument, ...]) -> list[int]:
        values = [self.values[a.index] if isinstance(a, Ref) else a for a in arguments]
        if function == "filter":
            values[0] = getattr(functions, str(values[0]))
        return list(getattr(functions, function)(*values))


def base(draft: Draft, rng: random.Random, function: str, config: SamplerConfig) -> None:
    """Append one base sequence of the given kind."""
    length = rng.randint(*config.base_length)
    if function == "set_list":
        draft.add(function, tuple(rng.randint(draft.low, draft.high) for _ in range(length)))
    elif function == "repeat_num":
        draft.add(function, length, rng.randint(draft.low, draft.high))
    else:
        start = rng.randint(draft.low, draft.high - length)
        if function == "range_func_up":
            draft.add(function, start, start + length)
        else:
            step = rng.randint(*config.interval_step)
            draft.add(function, start, min(draft.high, start + length * step), step)


def applicable(draft: Draft, function: str) -> list[tuple[int, int | None]]:
    """The places (one sequence, or a pair of equal length) where the operator may be tried."""
    count = len(draft.calls)
    if function not in _PAIRWISE:
        return [(i, None) for i in range(count)]
    pairs = ((i, j) for i in range(count) for j in range(count) if i != j)
    return [(i, j) for i, j in pairs if len(draft.values[i]) == len(draft.values[j])]


def _repeats(draft: Draft, index: int) -> bool:
    """Whether the sequence, or what it was derived from, is a repetition."""
    call = draft.calls[index]
    return call.function in ("repeat_num", "repeat_list") or any(_repeats(draft, i) for i in call.refs())


def apply(
    draft: Draft,
    rng: random.Random,
    function: str,
    index: int,
    config: SamplerConfig,
    second: int | None = None,
) -> bool:
    """Append the operator on sequence `index` (and `second`) with random constants; False if it does not fit.

    It fits when its value is not empty, stays within the bounds, and is another sequence than it took.
    """
    value, ref = draft.values[index], Ref(index)
    length = len(value)

    def differs(new: list[int]) -> bool:
        return new != value

    match function:
        case "reverse_list":
            if any(c.function == function for c in draft.calls) or _repeats(draft, index):
                return False
            return draft.add_if(differs, function, ref)
        case "repeat_list":
            if draft.calls[index].function == "repeat_list":
                return False
            return draft.add_if(differs, function, rng.randint(*config.repeats), ref)
        case "get_subsequence_with_jumps":
            return draft.add_if(lambda new: len(new) > 1 and differs(new), function, ref, rng.randint(*config.jumps))
        case "get_subsequence_between_indices":
            if length < 4 or draft.calls[index].function == "repeat_num":
                return False
            start = rng.randint(0, length - 3)
            return draft.add_if(differs, function, ref, start, rng.randint(start + 2, length))
        case "substitute":
            old = rng.choice(value)
            return draft.add_if(differs, function, ref, old, rng.randint(draft.low, draft.high))
        case "max_n" | "min_n":
            if length < 5:
                return False
            return draft.add_if(differs, function, ref, rng.randint(3, length - 2))
        case "add_item_list":
            room = draft.high - max(value)
            return room > 0 and draft.add_if(differs, function, ref, rng.randint(1, room))
        case "subtract_item_list":
            room = min(value) - draft.low
            return room > 0 and draft.add_if(differs, function, ref, rng.randint(1, room))
        case "modulo_item_list":
            if length < 3 or (top := sorted(value)[-3]) < 2:
                return False
            return draft.add_if(differs, function, ref, rng.randint(2, top))
        case "scan_add":
            return len(set(value)) >= _MIN_DISTINCT and draft.add_if(differs, function, ref)
        case "filter":
            return draft.add_if(lambda new: len(new) > 2 and differs(new), function, rng.choice(PREDICATES), ref)
        case _:
            assert second is not None
            return draft.add_if(lambda new: len(set(new)) >= _MIN_DISTINCT, function, ref, Ref(second))
