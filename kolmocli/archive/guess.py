"""Which views of the data are worth a search: those in which much of it is ramps or repeats."""

from __future__ import annotations

import numpy as np

from kolmocli.archive.evidence import ramp_terms
from kolmocli.archive.views import VIEWS, View

_SAMPLE_BYTES = 1 << 16
_WORTH = 0.7
"""A wider view is searched when its estimate is below this share of the estimate for bytes."""
_RAMP_BITS = 16
"""What a ramp costs beside its first item."""


def likely_views(data: bytes) -> list[View]:
    """Bytes first; then every view in which a sample looks much more ruled than as bytes."""
    sample = data[: _SAMPLE_BYTES - _SAMPLE_BYTES % 8]
    found = [VIEWS[0]]
    most = _WORTH * _estimate(np.frombuffer(sample, np.uint8).astype(np.int64), 1)
    for view in list(VIEWS.values())[1:]:
        items, rest = view.items(data if view.name == "lines" else sample)
        if not items or len(rest) >= view.width:
            continue
        values = np.array(items[:_SAMPLE_BYTES], dtype=np.int64)
        scale = len(sample) / (len(data) * len(values) / len(items)) if view.name == "lines" else 1.0
        if scale * _estimate(values, view.width) < most:
            found.append(view)
    return found


def _estimate(values: np.ndarray, width: int) -> float:
    """Bits of the items when every ramp of four or more, side by side or in every second place, is written as one."""
    best = 8.0 * width * len(values)
    for lag in (1, 2):
        terms = ramp_terms(values, lag)
        ruled = terms >= 4
        begins = ruled.copy()
        begins[lag:] &= terms[lag:] >= terms[:-lag]
        inside = int(terms[begins].sum())
        bits = 8.0 * width * max(len(values) - inside, 0) + int(begins.sum()) * (8.0 * width + _RAMP_BITS)
        best = min(best, bits)
    return best
