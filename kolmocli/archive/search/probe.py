"""A cheap look at where a search can pay: a few windows are searched and packed for real, and compared with the codecs alone.

Estimates are no judge of this. The items that copies leave of text are its dear ones, so that a price per item makes
source code look 10 % smaller as programs; packed, windows of it are 7 to 12 % larger, and of prose, logs and JSON 2 to 40 %.
Sequences of the sampler are 35 to 50 % smaller.
"""

from __future__ import annotations

import time
from array import array

import numpy as np

from kolmocli.archive.codecs.packing import pack
from kolmocli.archive.format.programs import ProgramCoder
from kolmocli.archive.format.rangecoder import Encoder
from kolmocli.archive.format.views import VIEWS, View, word_bytes
from kolmocli.archive.search.evidence import Ints, ramp_terms
from kolmocli.archive.search.segmentation import SearchOptions, search
from kolmocli.archive.search.segments import programs_of

WINDOW_BYTES = 1 << 12
_WINDOWS = 6
"""Looked at in one chunk: half of them evenly spaced, half where there are the most ramps."""
_PAYS = 0.95
_REPEATED = 1 / 8
"""Below this share a window is one short stretch again and again: its items are dear once, and any gain is welcome."""
_NOTICEABLE = 0.01
"""Least saving, as a share of the largest window: a page of zeros in a file of other things is no reason to search."""
_LEVEL = 3
_LARGE = 1 << 18
_LEAST_RAMP = 4


def pays(chunk: Ints, view: View, reached: float, until: float | None) -> bool:
    """Whether in some window of the chunk programs and what they leave are clearly below the share `reached` of the codecs
    alone. No window is begun after `until`, a moment of `time.monotonic`."""
    size = min(WINDOW_BYTES // view.width, len(chunk))
    windows = [chunk[at : at + size] for at in _places(chunk, size)]
    alone = [len(_packed(window.tolist(), view)) for window in windows]
    for window, packed in zip(windows, alone, strict=True):
        if until is not None and time.monotonic() > until:
            return False
        repeated = packed < _REPEATED * size * view.width
        price = 8.0 * (view.width if repeated else packed / size)
        needed = (1 - reached * (1 if repeated else _PAYS)) * packed
        if packed - _as_programs(window, price, view) > max(needed, _NOTICEABLE * max(alone)):
            return True
    return False


def looks_made(data: bytes) -> bool:
    """Whether large data are bytes that programs make, at their beginning: then slow codecs can wait for the search."""
    beginning = np.frombuffer(data[:_LARGE], np.uint8).astype(np.int64)
    return len(data) >= _LARGE and pays(beginning, VIEWS[0], 1.0, None)


def _places(chunk: Ints, size: int) -> list[int]:
    """Starts of the windows."""
    last = len(chunk) - size
    even = [last * k // (_WINDOWS // 2 - 1) for k in range(_WINDOWS // 2)]
    counts = _ramps(chunk)[: len(chunk) // size * size].reshape(-1, size).sum(axis=1)
    best = np.argsort(-counts, kind="stable")[: _WINDOWS // 2]
    return list(dict.fromkeys([*(size * best[counts[best] > 0]).tolist(), *even]))


def _ramps(chunk: Ints) -> np.ndarray:
    """Positions inside ramps of some length, side by side or every second item; constant stretches are for the codecs."""
    found = np.zeros(len(chunk), bool)
    for lag in (1, 2):
        moves = chunk[lag:] != chunk[:-lag]
        found[: len(moves)] |= moves & (ramp_terms(chunk, lag)[: len(moves)] >= _LEAST_RAMP)
    return found


def _as_programs(window: Ints, price: float, view: View) -> int:
    """Bytes of the window as programs and the rest that they leave; `price` are the bits of a literal."""
    found = search(window, price, SearchOptions(8.0 * view.width, (0,), view.wrap, passes=1))
    coder, programs, rest = Encoder(), ProgramCoder(), list[int]()
    for program, fresh in programs_of(window.tolist(), found.segments, [r.recurrence for r in found.rules]):
        programs.code(coder, program)
        rest += fresh
    return len(coder.finish()) + len(_packed(rest, view))


def _packed(items: list[int], view: View) -> bytes:
    return pack(word_bytes(array(view.typecode, items)), _LEVEL)[1] if items else b""
