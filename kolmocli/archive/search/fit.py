"""Choose the view that fits the data, and the views worth a search: those in which much of it is ramps or repeats."""

from __future__ import annotations

from array import array
from dataclasses import replace

import numpy as np

from kolmocli.archive.format.views import FLOATS, MOST_DECIMALS, VIEWS, FloatView, View
from kolmocli.archive.search.evidence import Ints, grams, latest, ramp_terms
from kolmocli.archive.search.rules import find_rules
from kolmocli.archive.search.smooth import best_form
from kolmocli.archive.search.tables import find_table

Fit = tuple[View, "array[int]", bytes]
"""A view, the items of the data in it, and the bytes left over."""

_SAMPLE_BYTES = 1 << 16
_WORTH = 0.95
"""A view is searched when its estimate is below this share of what the best codec makes of the data."""
_WORTH_OVER_BYTES = 1.1
"""And below this share of the estimate for bytes, which are searched in any case."""
_MOST_VIEWS = 2
_WORDS_AND_FLOATS = ("i16le", "u16le", "i32le", "u32le", "i64le", "f32le", "f64le")
SAFE = 1 << 61
"""Items below this have differences, and differences of those, that fit 64 bits."""
_RAMP_BITS = 16
"""Cost of a ramp in addition to its first item."""


def fit(data: bytes, name: str) -> Fit | None:
    """The data in the view of this name; None where they are not of that form."""
    if name in ("csv", "jsonl", "table"):
        return find_table(data)
    for number, floats in FLOATS.items():
        if floats.name == name:
            return _fit_floats(data, number)
    view = next(v for v in VIEWS.values() if v.name == name)
    items, rest = view.items(data)
    return (view, items, rest) if items else None


def likely_fits(data: bytes, packed: int) -> list[Fit]:
    """The views worth a search, the most promising first and bytes last. `packed` is what the best codec makes of all."""
    sample = data[: _SAMPLE_BYTES - _SAMPLE_BYTES % 8]
    if looks_like_text(sample):
        # lines have the smaller header, a table the narrower words, of which pcodec can do more
        found = [fitted for fitted in (fit(data, "lines"), find_table(data)) if fitted]
    else:
        likely = _likely_words(sample, _WORTH * 8.0 * packed * len(sample) / len(data))
        found = [seen for name in likely if (seen := fit(data, name))]
    return [*found, (VIEWS[0], *VIEWS[0].items(data))]


def _likely_words(sample: bytes, most: float) -> list[str]:
    """Views of words and floats whose estimate is below `most` bits, one for each width, the best first."""
    as_bytes = _estimate(np.array(VIEWS[0].items(sample)[0], np.int64), VIEWS[0])
    priced = []
    for name in _WORDS_AND_FLOATS:
        seen = fit(sample, name)
        if seen is None:
            continue
        values = np.array(seen[1], np.int64)
        bits = _estimate(values, seen[0])
        if bits < min(most, _WORTH_OVER_BYTES * as_bytes) or best_form(values)[1] < most:
            priced.append((bits, name))
    per_width = [min(p for p in priced if p[1][1:] == width) for width in dict.fromkeys(n[1:] for _, n in priced)]
    return [name for _, name in sorted(per_width)[:_MOST_VIEWS]]


def looks_like_text(sample: bytes) -> bool:
    """Digits and line ends, and no control characters but those of text."""
    control = sum(map(sample.count, (bytes([i]) for i in range(9))))
    return not control and any(map(sample.count, (bytes([i]) for i in b"0123456789")))


def _fit_floats(data: bytes, number: int) -> Fit | None:
    """The fewest decimals with which every float is an item divided by a power of ten, bit for bit."""
    kind = np.dtype(f"<{FLOATS[number].float_type}")
    whole = len(data) - len(data) % kind.itemsize
    floats = np.frombuffer(data[:whole], kind)
    most = 2.0**31 if kind.itemsize == 4 else 2.0**53
    if not len(floats) or not np.isfinite(floats).all() or not floats.any():
        return None
    for decimals in range(MOST_DECIMALS + 1):
        scaled = np.rint(floats.astype(np.float64) * 10.0**decimals)
        if np.abs(scaled).max() >= most:
            return None
        back = (scaled.astype(np.int64) / 10.0**decimals).astype(kind)
        if back.tobytes() == data[:whole]:
            view: FloatView = replace(FLOATS[number], decimals=decimals)
            return (view, array(view.typecode, scaled.astype(np.int64).tolist()), data[whole:])
    return None


def safe(values: Ints) -> bool:
    """Whether sums and differences of a few items cannot overflow. |−2⁶³| is itself, so both ends are looked at."""
    return bool(values.min() > -SAFE and values.max() < SAFE)


def _estimate(values: Ints, view: View) -> float:
    """Bits of the items, roughly: ramps of four or more as ramps, repeats for nothing, the rest as a literal or as
    differences; or whole stretches by a rule, where one holds."""
    if not safe(values):
        return float("inf")
    item = min(8.0 * view.width, best_form(values)[1] / len(values))
    new = latest(grams(values, 1, 4)) < 0
    best = item * len(values)
    for lag in (1, 2):
        terms = ramp_terms(values, lag)
        ruled = terms >= 4
        begins = ruled.copy()
        begins[lag:] &= terms[lag:] >= terms[:-lag]
        ruled |= np.roll(ruled, lag) | np.roll(ruled, 2 * lag) | np.roll(ruled, 3 * lag)  # to the ends of the ramps
        fresh = new & ~ruled[: len(new)]
        copies = int((~new[1:] & new[:-1]).sum())
        starts = int((begins[: len(new)] & new).sum())
        best = min(best, item * int(fresh.sum()) + (starts + copies) * (item + _RAMP_BITS))
    uncovered = np.ones(len(values), bool)
    bits = 0.0
    for rule in find_rules(values, wrap=view.wrap):
        uncovered[rule.start : rule.start + rule.recurrence.count] = False
        bits += rule.bits
    return min(best, bits + item * int(uncovered.sum())) if bits else best
