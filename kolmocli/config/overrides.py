"""Laying one value over the data of a curriculum file: `training.steps`, `families.ramps.levels[0].length`."""

from __future__ import annotations

import re
from typing import Any

from kolmocli.config import Config
from kolmocli.config.schema import below, fields_of
from kolmocli.errors import UsageError, suggest

_LONGEST_KEY = 1_000
Location = tuple[str | int, ...]


def apply_override(data: Any, key: str, value: Any, label: str) -> tuple[Any, Location]:
    """A copy of `data` with `value` at `key`, and the location of `key`.

    Only what lies on the way is copied, so that a section that the file uses twice (a YAML alias) is
    changed in one place only.

    Raises:
        UsageError: naming `label`, when the schema or the file has no such place.
    """
    parts = _split(key, label)
    return _put(data, parts, value, Config, (), label), parts


def _split(key: str, label: str) -> Location:
    """`levels[2].length` and `levels.2.length` are the same place."""
    if not re.fullmatch(r"[^.\[\]\s]+(\.[^.\[\]\s]+|\[\d{1,9}\])*", key, re.ASCII) or len(key) > _LONGEST_KEY:
        raise UsageError(f"{label}: {repr(key)[:80]} is not a key; write it as in families.ramps.levels[0].length")
    parts = re.findall(r"[^.\[\]]+", key)
    return tuple(int(part) if part.isdecimal() else part for part in parts)


def _put(data: Any, parts: Location, value: Any, annotation: Any, above: Location, label: str) -> Any:
    if not parts:
        return value
    part, rest = parts[0], parts[1:]
    here = ".".join(map(str, above)) or "the curriculum"
    fields = fields_of(annotation)
    inner = below(annotation, part)
    if fields is not None and inner is None:
        raise UsageError(f"{label}: {here} has no key {part}; {suggest(str(part), fields)}")
    if inner is None:
        raise UsageError(f"{label}: {here} holds one value and has no key {part}")
    if isinstance(part, int):
        if not isinstance(data, list | tuple) or part >= len(data):
            count = len(data) if isinstance(data, list | tuple) else 0
            raise UsageError(f"{label}: {here} has {count} items, counted from 0; there is no item {part}")
        return [_put(x, rest, value, inner, (*above, part), label) if i == part else x for i, x in enumerate(data)]
    known = data if isinstance(data, dict) else {}
    if fields is None and rest and part not in known and above != ("methods",):  # a method is named to be switched on
        raise UsageError(f"{label}: {here} has no entry {part}; {suggest(part, map(str, known))}")
    return {**known, part: _put(known.get(part), rest, value, inner, (*above, part), label)}
