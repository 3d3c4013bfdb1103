"""What a guide sees of a way to unzip a core.

Prices say what the search thinks of it. The rest is what they cannot say while the core is still interleaved: whether items
change their manner at the border, which lies behind the last item that was woven in.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kolmocli.language.search.likely import View
from kolmocli.language.search.weaves import USUAL

_WINDOW = 12
"""Items on either side of the border."""
_STRIDES = (1, 2, 4)
"""Of the core as it is, with one interleaving in it, and with two."""

Matrix = NDArray[np.float32]
Column = NDArray[np.float64]


def features(view: View) -> Matrix:
    """(ways, features): one row for each way of the view."""
    columns = [*_prices(view), *_woven(view), *_sizes(view), *_border(view)]
    return np.stack(np.broadcast_arrays(*columns), axis=1).astype(np.float32)


def _prices(view: View) -> list[Column]:
    """What the search has: estimates in bits, and the order that they make."""
    index = view.front.index
    core = np.array([way.core for way in view.ways])
    others = np.array([way.others for way in view.ways])
    above = core + others - (core[0] + others[0])
    literal = index.literal_bits + index.item_bits * _woven_lengths(view)
    rank = np.arange(len(core), dtype=float)
    return [
        above, np.minimum(above, 20.0), core + others + view.guess.others - view.guess.bits,
        core / (index.item_bits * view.front.size), others, 1.0 * (others < literal - 3),
        rank, 1.0 * (rank == 0), 1.0 * (rank < 3),
    ]  # fmt: skip


def _woven(view: View) -> list[Column]:
    """Whether what was woven in ends here by itself, and what it is."""
    front, guess = view.front, view.guess
    pairs, woven = _pairs(view), _woven_lengths(view)
    earlier = [len(strand.items) for strand in guess.weave[1:] if strand.woven]
    terms = front.index.terms[front.odds]
    tests = [
        pairs <= terms, pairs == terms, pairs <= front.related, pairs == front.related, pairs == front.holed,
        np.isin(pairs, [length for _, length in front.odd_copies]), np.isin(pairs, front.units),
        np.isin(pairs, front.natural()), np.isin(woven, list(guess.lengths)), np.isin(woven, earlier),
        np.array([way.end > 0 for way in view.ways]),
    ]  # fmt: skip
    return [1.0 * test for test in tests]


def _sizes(view: View) -> list[Column]:
    pairs, woven, size = _pairs(view), _woven_lengths(view), view.front.size
    depth = np.array(float(view.depth))
    return [
        np.log(pairs), np.log(woven), np.array(np.log(size)), 2 * pairs / size,
        1.0 * np.isin(woven, USUAL), 1.0 * (woven >= USUAL.stop), 1.0 * (pairs % 2 == 0), 1.0 * (pairs == 2), 1.0 * (pairs == 3),
        depth, 1.0 * (depth == 0),
    ]  # fmt: skip


def _border(view: View) -> list[Column]:
    """For every stride: how large steps are, and how often two of them are equal, before and behind the border."""
    items = np.array(view.guess.weave[0].items, dtype=np.int64)
    far, size = 2 * _pairs(view), len(items)
    found = []
    for stride in _STRIDES:
        steps = items[stride:] - items[:-stride]
        large, equal = _Means(np.log1p(np.abs(steps))), _Means(1.0 * (steps[stride:] == steps[:-stride]))
        near = far - _WINDOW
        found += [
            large(0 * far, far - stride),
            large(far, size + 0 * far),
            large(near, far - stride),
            large(far, far + _WINDOW),
        ]
        found += [
            equal(0 * far, far - 2 * stride),
            equal(far, size + 0 * far),
            equal(near, far - 2 * stride),
            equal(far, far + _WINDOW),
        ]
    return found


class _Means:
    """Means of the values between any two places."""

    def __init__(self, values: Column) -> None:
        self._sums = np.concatenate([[0.0], np.cumsum(values)])

    def __call__(self, start: NDArray[np.int64], end: NDArray[np.int64]) -> Column:
        """0 where there is nothing between them."""
        last = len(self._sums) - 1
        start = np.minimum(np.maximum(start, 0), last)
        end = np.minimum(np.maximum(end, start), last)
        return (self._sums[end] - self._sums[start]) / np.maximum(end - start, 1)


def _pairs(view: View) -> NDArray[np.int64]:
    return np.array([way.pairs for way in view.ways])


def _woven_lengths(view: View) -> NDArray[np.int64]:
    """Items of the values that were woven in."""
    return np.array([way.end - way.pairs if way.end else way.pairs for way in view.ways])
