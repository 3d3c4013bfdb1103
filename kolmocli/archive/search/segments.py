"""Segments: what the search says about a part of the sequence, and the program that says it to a decoder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kolmocli.archive.format.recurrences import Recurrence
from kolmocli.archive.format.stored import Earlier, Fresh, Stored, StoredCall
from kolmocli.language.program import Ref

FRESH, RAMP, COPY, SHIFTED, TURNED, SPREAD, RULE, TWO_RAMPS, RAMP_FRESH, FRESH_RAMP = range(10)
"""Ways to make items. The last three are interleavings, and stand for a first channel that is one itself."""
NESTED = {TWO_RAMPS: (RAMP, RAMP), RAMP_FRESH: (RAMP, FRESH), FRESH_RAMP: (FRESH, RAMP)}
ALONE = -1
"""In place of a second channel: there is none."""


class Form(NamedTuple):
    """Way to make the items of a segment: one kind alone, or a first and a second channel, interleaved.

    A source is where the earlier items begin (for TURNED: the one that comes first), for RULE the number of the rule,
    and -1 where there is none.
    """

    kind: int
    source: int = -1
    second: int = ALONE
    second_source: int = -1

    def shape(self) -> tuple[int, int]:
        """The form without its sources: forms of one shape cost about the same to name."""
        return self.kind, self.second


class Segment(NamedTuple):
    """Items `start` to `end` (excluded) of the sequence, and how they are made."""

    start: int
    end: int
    form: Form


def programs_of(
    items: Sequence[int], segments: list[Segment], rules: Sequence[Recurrence] = ()
) -> Iterator[tuple[Stored, list[int]]]:
    """Each segment's program, and the items that it takes from the residual."""
    for s in segments:
        writer = _Writer(items, s.start, rules)
        part, form = items[s.start : s.end], s.form
        if form.second == ALONE:
            writer.write(form.kind, form.source, part)
        else:
            first = writer.write(form.kind, form.source, part[::2])
            writer.interleave(first, writer.write(form.second, form.second_source, part[1::2]))
        yield tuple(writer.calls), writer.fresh


class _Writer:
    def __init__(self, items: Sequence[int], start: int, rules: Sequence[Recurrence]) -> None:
        self.items = items
        self.start = start
        self.rules = rules
        self.calls: list[StoredCall] = []
        self.fresh: list[int] = []

    def write(self, kind: int, source: int, part: Sequence[int]) -> int:
        """Add the statements that make `part`; the number of the last."""
        count = len(part)
        if kind == FRESH:
            self.fresh += part
            return self._call("set_list", Fresh(count))
        if kind == RAMP:
            return self._ramp(part)
        if kind == RULE:
            return self._call("set_list", self.rules[source])
        if kind == COPY:
            return self._earlier(source, count)
        if kind == SHIFTED:
            copy = Ref(self._earlier(source, count))
            return self._call("add_item_list", copy, part[0] - self.items[source])
        if kind == TURNED:
            return self._call("reverse_list", Ref(self._earlier(source - count + 1, count)))
        if kind == SPREAD:
            return self._call("get_subsequence_with_jumps", Ref(self._earlier(source, 2 * count - 1)), 2)
        first, second = NESTED[kind]
        return self.interleave(self.write(first, -1, part[::2]), self.write(second, -1, part[1::2]))

    def interleave(self, first: int, second: int) -> int:
        return self._call("interleave", Ref(first), Ref(second))

    def _earlier(self, source: int, count: int) -> int:
        return self._call("set_list", Earlier(self.start - source, count))

    def _ramp(self, part: Sequence[int]) -> int:
        start, count = part[0], len(part)
        step = part[1] - part[0] if count > 1 else 0
        if step == 0:
            return self._call("repeat_num", count, start)
        if step == 1:
            return self._call("range_func_up", start, start + count - 1)
        return self._call("range_func_interval", start, start + step * count, step)

    def _call(self, function: str, *arguments: int | Ref | Fresh | Earlier | Recurrence) -> int:
        self.calls.append(StoredCall(function, arguments))
        return len(self.calls) - 1
