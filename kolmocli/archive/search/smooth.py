"""Literals whose neighbours are close: written in the program as differences, which its adaptive coder keeps small.

An item that moves by 20 from a value of 3,000 costs a codec two bytes that hardly repeat, and the coder about five bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kolmocli.archive.format.stored import Stored, StoredCall
from kolmocli.archive.search.evidence import Ints
from kolmocli.language.program import Ref

MOST_ITEMS = 1 << 18
"""Items of one such program: its values together stay below what a program may make."""
_MOST_ORDER = 2
_SMALL = 256
"""Items below this are modelled whole, larger ones by their length and upper bits."""


@dataclass(frozen=True, slots=True)
class Smooth:
    """Number of times that the items are differences of differences, in one channel or two that alternate."""

    order: int
    channels: int = 1

    def program(self, items: Sequence[int]) -> Stored:
        """The program that writes these items."""
        calls: list[StoredCall] = []
        ends = []
        for channel in range(self.channels):
            part = np.array(items[channel :: self.channels], dtype=np.int64)
            calls.append(StoredCall("set_list", (tuple(differences(part, self.order).tolist()),)))
            calls += [StoredCall("scan_add", (Ref(len(calls) - 1 + k),)) for k in range(self.order)]
            ends.append(Ref(len(calls) - 1))
        if self.channels == 2:
            calls.append(StoredCall("interleave", tuple(ends)))
        return tuple(calls)


FORMS = tuple(Smooth(order, channels) for channels in (1, 2) for order in range(_MOST_ORDER + 1))


def differences(values: Ints, order: int) -> Ints:
    """The items whose running sums, `order` times over, are the values."""
    for _ in range(order):
        values = np.diff(values, prepend=0)
    return values


def best_form(values: Ints) -> tuple[Smooth, float]:
    """The cheapest form, and its estimated bits."""
    priced = [(_bits(values, form), i) for i, form in enumerate(FORMS) if form.channels < len(values)]
    bits, index = min(priced, default=(float("inf"), 0))
    return FORMS[index], bits


def _bits(values: Ints, form: Smooth) -> float:
    parts = [differences(values[channel :: form.channels], form.order) for channel in range(form.channels)]
    items = np.concatenate(parts)
    length = np.frexp(np.abs(items).astype(np.float64))[1]  # bits of the magnitude
    below = np.where(np.abs(items) < _SMALL, 0, np.maximum(length - 5, 0))
    tokens = (np.abs(items) >> below) | (length.astype(np.int64) << 8) | ((items < 0).astype(np.int64) << 16)
    _, counts = np.unique(tokens, return_counts=True)
    share = counts / len(items)
    entropy = -float((share * np.log2(share)).sum()) * len(items)
    learning = 0.5 * float(np.log2(len(items) + 1)) * len(counts)
    return entropy + learning + float(below.sum()) + 12.0 * len(parts) * (form.order + 1)


def prices(values: Ints, every: int = 1, window: int = 4096) -> np.ndarray:
    """Bits of an item written this way, window by window; only one of `every` windows is looked at."""
    out = np.empty(len(values))
    for start in range(0, len(values), every * window):
        part = values[start : start + window]
        out[start : start + every * window] = best_form(part)[1] / len(part)
    return out
