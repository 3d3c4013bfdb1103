"""The residual by the best codec: which ones are tried, how many at once, and what is left out when time runs out."""

from __future__ import annotations

import importlib.util
import threading
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from kolmocli.archive.codecs.codecs import CODECS, NUMBERS, QUICK, QUICKEST, SPLIT, STRONG, Codec
from kolmocli.archive.codecs.layouts import Layout, typed_columns
from kolmocli.archive.codecs.numbers import pack_numbers
from kolmocli.archive.codecs.split import Field, Run, parts_of, write_split

_QUICK_LEVELS = {0: ("stored", "deflate"), 1: ("stored", "deflate", "zstd"), 2: ("stored", "deflate", "bz2", "zstd")}
"""The codecs of the lowest levels; the others try all."""
_THREADS = 2
_WORTH_THREADS = 1 << 14
_MOST_AT_ONCE = 1 << 23
"""Above this size one codec runs at a time, so that their memory does not add up."""
_PROBES = ("deflate", "lzma")
"""Tried first, one after the other, on data from `_WORTH_PROBES` on. Deflate is quick and sees skewed bytes, lzma the
farthest repeats: what neither of them makes smaller is noise, on which the slow codecs would only spend minutes."""
_WORTH_PROBES = 1 << 20
_DEFLATE, _ZSTD = 1, 4
_LEVEL_ONE = 1
_MOMENT = 1 << 17
"""Bytes that level one packs in some milliseconds, which a time budget does not count."""
_Payloads = list[tuple[Codec, bytes]]


def pack(
    data: bytes, level: int = 6, deadline: float | None = None, layouts: Iterable[Layout] = ()
) -> tuple[Codec, bytes]:
    """The codec with the smallest payload, and the payload. Ties go to the lower number.

    `layouts` say where numbers may be; each is tried, if there is time.

    Given a deadline, a moment of `time.monotonic`, deflate runs first at its quickest, and level one on little data, whatever
    the time. The others run at `level`, or quickly where only that would be done and unpacked again by then, and are given
    up where it is not.
    """
    first: _Payloads = []
    if importlib.util.find_spec(CODECS[NUMBERS].package or "") is None:
        layouts = ()
    if deadline is not None and level > _LEVEL_ONE:
        layouts = list(layouts)
        if len(data) <= _MOMENT or time.monotonic() + _seconds_of_level_one(data, len(layouts)) < deadline:
            first = [pack(data, _LEVEL_ONE, None, layouts)]  # more time never makes more bytes
    tried = [c for c in CODECS.values() if level not in _QUICK_LEVELS or c.name in _QUICK_LEVELS[level]]
    tried = [c for c in tried if c.number and (c.package is None or importlib.util.find_spec(c.package))]
    made: _Payloads = [(CODECS[0], data), *first, *_by_layout(data, level, deadline, layouts)]
    if deadline is not None:
        quickest = CODECS[_DEFLATE].encode(data, QUICKEST)
        assert quickest is not None
        made.append((CODECS[_DEFLATE], quickest))
    if len(data) < _WORTH_PROBES:
        return _smallest(made + _encoded(tried, data, level, deadline))
    probed: _Payloads = []
    for probe in _PROBES:
        if all(len(payload) >= len(data) for _, payload in probed):
            probed += _encoded([c for c in tried if c.name == probe], data, level, deadline)
            tried = [c for c in tried if c.name != probe]
    if any(len(payload) < len(data) for _, payload in probed):
        probed += _encoded(tried, data, level, deadline)
    return _smallest(made + probed)


def _seconds_of_level_one(data: bytes, layouts: int) -> float:
    codecs = [CODECS[_DEFLATE], CODECS[_ZSTD], *[CODECS[NUMBERS]] * layouts]
    return sum(codec.seconds(len(data), QUICK) for codec in codecs)


def _by_layout(data: bytes, level: int, deadline: float | None, layouts: Iterable[Layout]) -> _Payloads:
    """The payload of each layout: numbers alone, or parts of which each has its own codec."""
    made = []
    for layout in layouts:
        if deadline is not None and time.monotonic() + CODECS[NUMBERS].seconds(len(data), level) > deadline:
            break
        if len(layout) == 1 and len(layout[0].types) == 1 and layout[0].typed:
            made.append((CODECS[NUMBERS], pack_numbers(data, layout[0].types[0], level >= STRONG)))
        else:
            made.append((CODECS[SPLIT], _split(data, level, deadline, layout)))
    return made


def _split(data: bytes, level: int, deadline: float | None, layout: Layout) -> bytes:
    """Each column of numbers in the codec that is best for it; what is left of them, and all other bytes, in one."""
    columns = list(typed_columns(data, layout))
    quick = min(level, QUICK)
    payloads = [pack_numbers(column, type_, level >= STRONG) for type_, column in columns]
    alone = [
        len(payload) <= len(pack(column, quick)[1]) for payload, (_, column) in zip(payloads, columns, strict=True)
    ]
    rest = 0 if all(alone) and all(s.typed for s in layout) else 1
    """The first part is what no column of numbers is."""
    parts = iter(range(rest, len(columns) + 1))
    taken = iter(alone)
    runs = tuple(
        Run(s.records, tuple(Field(t.width, next(parts) if s.typed and next(taken) else 0) for t in s.types))
        for s in layout
    )
    packed = [(NUMBERS, payload) for payload, kept in zip(payloads, alone, strict=True) if kept]
    if rest:
        codec, payload = pack(parts_of(data, runs)[0], level, deadline)
        packed.insert(0, (codec.number, payload))
    return write_split(runs, packed)


def _smallest(made: _Payloads) -> tuple[Codec, bytes]:
    return min(made, key=lambda pair: (len(pair[1]), pair[0].number))


def _encoded(tried: list[Codec], data: bytes, level: int, deadline: float | None) -> _Payloads:
    """The payloads. All codecs work outside the interpreter's lock, so threads are enough to use two cores."""

    def encode(codec: Codec) -> _Payloads:
        until = None if deadline is None else deadline - len(data) / codec.unpacking
        for at_level in dict.fromkeys((level, min(level, QUICK))):
            if until is None or time.monotonic() + codec.seconds(len(data), at_level) < until:
                payload = codec.encode(data, at_level, until)
                return [] if payload is None else [(codec, payload)]
        return []

    # the quickest first where time may run out, else the slowest, so that both cores end together
    ordered = sorted(tried, key=lambda codec: codec.seconds(len(data), level), reverse=deadline is None)
    if len(data) < _WORTH_THREADS:
        return [pair for codec in ordered for pair in encode(codec)]
    return _in_threads(encode, ordered, _THREADS if len(data) <= _MOST_AT_ONCE else 1)


def _in_threads(encode: Callable[[Codec], _Payloads], codecs: list[Codec], threads: int) -> _Payloads:
    """Payloads of the codecs, at most `threads` at once, each in a thread that need not be waited for.

    A signal is only met between two steps of the interpreter, and one call of a codec can take minutes. So this thread
    waits, which a signal ends, and the others are left behind when the process exits; a pool would be waited for.
    """
    todo = iter(codecs)
    waits = [beside(lambda: [pair for codec in todo for pair in encode(codec)]) for _ in range(threads)]
    return [pair for wait in waits for pair in wait()]


T = TypeVar("T")


def beside(work: Callable[[], T]) -> Callable[[], T]:
    """Begin the work in a thread; what is returned waits for its end, and returns or raises what it did."""
    made, failures = list[T](), list[BaseException]()

    def run() -> None:
        try:
            made.append(work())
        except BaseException as error:  # a codec that ran out of memory, say: it is raised where the result is wanted
            failures.append(error)

    thread = threading.Thread(target=run, name="kolmo-archive", daemon=True)
    thread.start()

    def wait() -> T:
        thread.join()
        if failures:
            raise failures[0]
        return made[0]

    return wait
