"""Data that are one repeat, or have long runs of one byte in them: found in one pass, and packed without a search.

A search for programs looks at every item from every side, and in a run all sides look alike: it takes longest where there
is least to find. A codec that writes long copies says all of it in some bytes.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass

from kolmocli.archive.codecs.codecs import CODECS, QUICK, Codec

LEAST = 1 << 16
"""Bytes of data that are looked at; what is shorter is searched in a moment."""
MOST_PERIOD = 1 << 16
_RUN = 1 << 16
"""Bytes of a run that is worth a member of its own, which costs some 40."""
_RUNS = 1 << 20
"""Bytes of all runs that are worth it; or half of the data."""
_BLOCK = 1 << 12
_HEAD = 64
_DEFLATE, _LONG_COPIES = 1, (4, 5)
_SAMPLE = 1 << 18


@dataclass(frozen=True, slots=True)
class Span:
    """A part of the data; `repeats` where it is one repeat."""

    start: int
    end: int
    repeats: bool

    def __len__(self) -> int:
        return self.end - self.start


def spans(data: bytes) -> list[Span]:
    """The data in order: all of them as one repeat, or long runs of one byte and what lies between them."""
    if len(data) < LEAST or period(data):
        return [Span(0, len(data), len(data) >= LEAST)]
    runs = list(_runs(data))
    total = sum(end - start for start, end in runs)
    if total < min(_RUNS, len(data) // 2) or not runs:
        return [Span(0, len(data), False)]
    found, at = list[Span](), 0
    for start, end in runs:
        found += [Span(at, start, False)] if at < start else []
        found.append(Span(start, end, True))
        at = end
    return found + ([Span(at, len(data), False)] if at < len(data) else [])


def period(data: bytes) -> int:
    """The least number of bytes, up to `MOST_PERIOD`, that the data repeat from their beginning to their end; 0 for none."""
    head, at, sample = data[:_HEAD], 0, min(len(data), _SAMPLE)
    while (at := data.find(head, at + 1, MOST_PERIOD + _HEAD)) > 0:
        if data[at:sample] == data[: sample - at] and data[at:] == data[:-at]:
            return at
        if data[:_BLOCK] == data[:1] * _BLOCK:  # every place looks like a beginning, and is none
            return 0
    return 0


def smallest(data: bytes) -> tuple[Codec, bytes]:
    """The codec that says a repeat in the fewest bytes, and its payload: at the speed of copying, whatever the level."""
    made = []
    for codec in _codecs():
        payload = codec.encode(data, QUICK)
        assert payload is not None
        made.append((codec, payload))
    return min(made, key=lambda pair: (len(pair[1]), pair[0].number))


def _codecs() -> list[Codec]:
    """Those that write long copies, or deflate where none of them is installed."""
    long = [CODECS[number] for number in _LONG_COPIES if importlib.util.find_spec(CODECS[number].package or "")]
    return long or [CODECS[_DEFLATE]]


def _runs(data: bytes) -> Iterator[tuple[int, int]]:
    """Start and end of each long run of one byte."""
    import numpy as np

    values = np.frombuffer(data, np.uint8)
    blocks = values[: len(values) // _BLOCK * _BLOCK].reshape(-1, _BLOCK)
    firsts = blocks[:, 0]
    alike = (blocks.min(1) == firsts) & (blocks.max(1) == firsts)
    goes_on = alike[1:] & alike[:-1] & (firsts[1:] == firsts[:-1])
    begins = np.flatnonzero(alike & np.concatenate(([True], ~goes_on)))
    ends = np.flatnonzero(alike & np.concatenate((~goes_on, [True]))) + 1
    for begin, end in zip((begins * _BLOCK).tolist(), (ends * _BLOCK).tolist(), strict=True):
        if end - begin >= _RUN - 2 * _BLOCK:
            byte = data[begin : begin + 1]
            before, after = data[max(0, begin - _BLOCK) : begin], data[end : end + _BLOCK]
            start = begin - (len(before) - len(before.rstrip(byte)))
            stop = end + len(after) - len(after.lstrip(byte))
            if stop - start >= _RUN:
                yield start, stop
