"""Estimated bits, which the search adds up: of the parts of a program stream, and of items that stay in the residual.

The archive itself is measured.
"""

from __future__ import annotations

import importlib.util
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import log2

import numpy as np
from numpy.typing import NDArray

from kolmocli.archive.codecs.numbers import TYPES, pack_numbers
from kolmocli.archive.search.evidence import Ints
from kolmocli.archive.search.segments import (
    ALONE,
    COPY,
    FRESH,
    NESTED,
    RAMP,
    RULE,
    SHIFTED,
    SPREAD,
    TURNED,
    Form,
    Segment,
)

Floats = NDArray[np.float64]
_RARE = 9.0
_KINDS = {
    (FRESH, ALONE): 2.5,
    (RAMP, ALONE): 1.5,
    (COPY, ALONE): 4.0,
    (SHIFTED, ALONE): 7.0,
    (TURNED, ALONE): 7.0,
    (SPREAD, ALONE): 8.0,
    (RULE, ALONE): 7.0,
    (RAMP, RAMP): 5.0,
    (RAMP, FRESH): 5.0,
    (FRESH, RAMP): 5.0,
}


_WINDOW_BYTES = 2048
_FLUSH_BYTES = 5
"""Cost of ending a window in deflate, which is no cost of the window."""


@dataclass(frozen=True, slots=True)
class Costs:
    """`start` is what a ramp's first item takes; what a literal takes is not here, since it differs by place."""

    kinds: dict[tuple[int, int], float] = field(default_factory=lambda: dict(_KINDS))
    start: float = 8.3
    going_on: float = 2.0
    steps: dict[int, float] = field(default_factory=lambda: {0: 1.0, 1: 1.0, 2: 3.0, 3: 3.0, 4: 3.0, 5: 3.0})
    other_step: float = 10.0
    count: float = 4.7
    constant: float = 8.0

    def kind(self, first: int, second: int = ALONE) -> float:
        return self.kinds.get((first, second), _RARE)

    def refined(self, items: list[int], segments: list[Segment]) -> Costs:
        """The same with the frequencies of a first pass."""
        shapes = Counter(s.form.shape() for s in segments)
        steps = Counter(step for s in segments for step in _steps(s.form, items, s.start))
        every_step = steps.total() + 1
        most = log2(len(segments) + 1) + 1
        return Costs(
            start=self.start,
            kinds={
                shape: min(log2((len(segments) + 1) / (shapes[shape] + 0.5)), most) for shape in {*shapes, *self.kinds}
            },
            steps={step: -log2(n / every_step) for step, n in steps.items() if n > every_step / 1000},
        )


def _steps(form: Form, items: list[int], at: int) -> Iterator[int]:
    """The steps of all ramps of a segment that begins at `at`."""
    channels = [(form.kind, 0, 1)] if form.second == ALONE else [(form.kind, 0, 2), (form.second, 1, 2)]
    for kind, offset, lag in channels:
        parts = [(k, offset + i * lag, 2 * lag) for i, k in enumerate(NESTED[kind])] if kind in NESTED else []
        for part, start, step in parts or [(kind, offset, lag)]:
            if part == RAMP and at + start + step < len(items):
                yield items[at + start + step] - items[at + start]


def local_prices(data: bytes, width: int, packed: int) -> Floats:
    """Bits of each item of `width` bytes in one solid stream: deflate says where the data are dear, `packed` bytes is what all cost.

    Deflate sees everything before a window when it packs it, so that the cost is the marginal one.
    """
    packer = zlib.compressobj(6, zlib.DEFLATED, -15, 9)
    sizes = []
    for start in range(0, len(data), _WINDOW_BYTES):
        part = packer.compress(data[start : start + _WINDOW_BYTES]) + packer.flush(zlib.Z_SYNC_FLUSH)
        sizes.append(max(len(part) - _FLUSH_BYTES, 1))
    scale = 8.0 * width * packed / sum(sizes)
    per_item = np.repeat(np.array(sizes) * scale / _WINDOW_BYTES, _WINDOW_BYTES // width)
    return np.minimum(per_item[: len(data) // width], 8.0 * width)


def column_bits(values: Ints) -> float:
    """Bits of a column in a codec of its own, roughly."""
    narrow = next(t for t in (np.int8, np.int16, np.int32, np.int64) if (values == values.astype(t)).all())
    words = values.astype(np.dtype(narrow).newbyteorder("<")).tobytes()
    sizes = [len(zlib.compress(words, 6))]
    if importlib.util.find_spec("pcodec"):
        sizes.append(len(pack_numbers(words, TYPES[f"i{8 * narrow().itemsize}"], strong=False)))
    return 8.0 * min(sizes)
