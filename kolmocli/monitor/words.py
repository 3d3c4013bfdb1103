"""Numbers as a person reads them in a narrow column."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from kolmocli.pace import Reached

UNKNOWN = "–"


def number(record: Mapping[str, Any] | None, key: str) -> float | None:
    """The value of a key when it is there and finite, else None."""
    value = None if record is None else record.get(key)
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else None


def rate(value: float | None) -> str:
    """A share or another number near 1 in two digits: .48, 1.00, 12.34."""
    if value is None:
        return UNKNOWN
    return f"{value:.2f}".replace("0.", ".", 1) if abs(value) < 0.995 else f"{value:.2f}"


def percent(value: float | None) -> str:
    """A share as whole percent: 12%."""
    return UNKNOWN if value is None else f"{100 * value:.0f}%"


def decimal(value: float | None) -> str:
    """Any number in about three digits: 0.0123, 1.23, 12.3, 123, 1.2k."""
    if value is None:
        return UNKNOWN
    if abs(value) >= 1000:
        return compact(value)
    digits = 2 if value == 0 else min(4, max(0, 2 - math.floor(math.log10(abs(value)))))
    return f"{value:.{digits}f}"


def compact(value: float | None) -> str:
    """A count in at most five characters: 987, 5.4k, 12k, 3.1M."""
    if value is None:
        return UNKNOWN
    for size, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            scaled = value / size
            return f"{scaled:.1f}{unit}" if abs(scaled) < 9.95 else f"{scaled:.0f}{unit}"
    return f"{value:.0f}"


def duration(seconds: float | None) -> str:
    """Minutes and seconds, with hours when there are any: 0:31, 1:02:05."""
    if seconds is None:
        return UNKNOWN
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def so_far(reached: Reached) -> str:
    """`128/512 rollouts, 3.2/s, 2:00 left`; of what is slow, seconds for each."""
    of = "" if reached.of is None else f"/{reached.of:,}"
    words, per_second = [f"{reached.done:,}{of} {reached.unit}"], reached.per_second
    if per_second is not None:
        words.append(f"{per_second:.1f}/s" if per_second >= 1 else f"{1 / per_second:.1f} s each")
    if reached.seconds_left is not None:
        words.append(f"{duration(reached.seconds_left)} left")
    return ", ".join(words)
