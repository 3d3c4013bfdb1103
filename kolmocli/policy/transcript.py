"""The segments of a sequence, written down as a program: right for every sequence, and seldom the shortest.

    5 5 5 5 10 12 14 16 1 90 2 91 3 92 4 93 5 94

    sequence_1 = repeat_num(4, 5)
    sequence_2 = range_func_interval(10, 18, 2)
    sequence_3 = range_func_up(1, 5)
    sequence_4 = range_func_up(90, 94)
    sequence_5 = interleave(sequence_3, sequence_4)
    sequence_6 = concatenate(sequence_1, sequence_2)
    sequence_7 = concatenate(sequence_6, sequence_5)

A policy that is shown segments has it before its eyes: what it can say where it does not see what made a sequence.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import groupby

from kolmocli.language.program import Call, Program, Ref
from kolmocli.policy.segmenting import Part, Woven, parts


def transcript(sequence: Sequence[int]) -> Program:
    """A program that makes this sequence of at least one item; what it has twice is written once."""
    calls: dict[Call, Ref] = {}
    _value(parts(sequence), calls)
    return Program(tuple(calls))


def _value(found: Sequence[Part], calls: dict[Call, Ref]) -> Ref:
    """The value of all these parts; its statement, if it is new, becomes the last."""
    values: list[Ref] = []
    for single, together in groupby(found, key=lambda part: isinstance(part, int)):
        if single:
            items = tuple(part for part in together if isinstance(part, int))
            values.append(_named(Call("set_list", (items,)), calls))
        else:
            values += [_part(part, calls) for part in together]
    return reduce(lambda x, y: _named(Call("concatenate", (x, y)), calls), values)


def _part(part: Part, calls: dict[Call, Ref]) -> Ref:
    if isinstance(part, Woven):
        strands = _value(part.first, calls), _value(part.second, calls)
        return _named(Call("interleave", strands), calls)
    assert isinstance(part, Call)
    return _named(part, calls)


def _named(call: Call, calls: dict[Call, Ref]) -> Ref:
    return calls.setdefault(call, Ref(len(calls)))
