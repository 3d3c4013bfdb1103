"""Which views of the data are worth a search: those in which much of it is ramps or repeats."""

from __future__ import annotations

import numpy as np

from kolmocli.archive.evidence import ramp_terms
from kolmocli.archive.views import VIEWS, View

_SAMPLE_ITEMS = 1 << 14
_WORTH = 0.3
"""A wider view needs this share of its items in ramps of four or more; ramps of bytes come about easily."""
_SAFE = 1 << 61


def likely_views(data: bytes) -> list[View]:
    """Bytes first; then every view in which the sample looks ruled."""
    found = [VIEWS[0]]
    for view in list(VIEWS.values())[1:]:
        items, rest = view.items(data)
        if not items or len(rest) >= view.width:
            continue
        values = np.array(items[: 4 * _SAMPLE_ITEMS], dtype=np.int64)
        if np.abs(values).max() < _SAFE and _ruled(values) >= _WORTH:
            found.append(view)
    return found


def _ruled(values: np.ndarray) -> float:
    """Share of the items that belong to a ramp of four or more, side by side or in every second place."""
    share = 0.0
    for lag in (1, 2):
        inside = ramp_terms(values, lag) >= 4
        share = max(share, float(inside.mean()))
    return share
