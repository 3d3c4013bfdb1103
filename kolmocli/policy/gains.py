"""Measurements of this machine, kept in the user's cache: every later run reads the same value.

Two runs of one seed would otherwise part where a measurement comes out near its border.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from kolmocli import paths
from kolmocli.errors import KolmoError
from kolmocli.files import write_output, writing
from kolmocli.plain import parsed

_FILE = "gains.json"


def kept_gain(key: str) -> float | None:
    """The value kept under this key. A file that cannot be read, or is not ours, holds nothing."""
    gain = _read().get(key)
    return float(gain) if isinstance(gain, int | float) and gain > 0 else None


def keep_gain(key: str, gain: float, note: Callable[[str], None]) -> float:
    """Keep it, unless another process was first; and what is kept. Where nothing can be written, `note` says so."""
    first = kept_gain(key)
    if first is not None:
        return first
    place = paths.cache_dir() / _FILE
    try:
        with writing(place):
            place.parent.mkdir(parents=True, exist_ok=True)
        write_output(str(place), json.dumps({**_read(), key: gain}, indent=1).encode())
    except KolmoError as error:
        note(f"{error}; it is measured again next time")
    return gain


def _read() -> dict[str, Any]:
    try:
        found = parsed((paths.cache_dir() / _FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
