"""Records: frozen dataclasses whose keys carry their unit and their meaning, and which survive JSON.

Reading takes what is there: a key that is missing, or of another type, is None; one that is not known is passed over.
So a file of an older run can be read, and one of a newer run too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from types import UnionType
from typing import Any, Self, get_args, get_origin, get_type_hints


def key(unit: str, meaning: str, *, rare: bool | str = False, digits: int | None = None, default: Any = None) -> Any:
    """A key with its unit and what it is, written with `digits` places after the point.

    A `rare` one is left out of the line where it is None; with the name of another key, where that one is.
    """
    return field(default=default, metadata={"unit": unit, "meaning": meaning, "rare": rare, "digits": digits})


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """None stands for a number that was not measured or is not finite."""

    def to_json(self) -> dict[str, Any]:
        """As it is written: plain values, rare keys only where there is something to say."""
        written = {}
        for item in fields(self):
            rare = item.metadata.get("rare")
            if not rare or getattr(self, item.name if rare is True else rare) is not None:
                written[item.name] = _plain(getattr(self, item.name), item.metadata.get("digits"))
        return written

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        types = _types(cls)  # type: ignore[arg-type]  # classes are hashable
        found = {name: read_value(kind, data[name]) for name, kind in types.items() if name in data}
        return cls(**{name: value for name, value in found.items() if value is not None})


_MOST = {int: 2**63, float: 1e100}
"""Counts are of 64 bits; a figure of numbers as large as a float can be overflows while it is drawn."""


@cache
def _types(cls: Any) -> dict[str, Any]:
    hints = get_type_hints(cls)
    return {item.name: hints[item.name] for item in fields(cls)}


def _plain(value: Any, digits: int | None = None) -> Any:
    if digits is not None and isinstance(value, float):
        return round(value, digits)
    if isinstance(value, Record):
        return value.to_json()
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def read_value(kind: Any, value: Any) -> Any:
    """The value as this type; None where it is none of it."""
    if isinstance(kind, UnionType):
        return next((found for part in get_args(kind) if (found := read_value(part, value)) is not None), None)
    if kind is Any or kind is type(None):
        return value if kind is Any else None
    if kind in (int, float):
        return _number(kind, value)
    if kind is str:
        return value if isinstance(value, str) else None
    if isinstance(kind, type) and issubclass(kind, Record):
        return kind.from_json(value) if isinstance(value, Mapping) else None
    return _read_many(get_origin(kind), get_args(kind), value)


def _number(kind: type, value: Any) -> Any:
    """None for what is none, and for one that no count and no measurement comes near: files may hold 400 digits."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return kind(value) if abs(value) <= _MOST[kind] else None


def _read_many(origin: Any, parts: tuple[Any, ...], value: Any) -> Any:
    if not isinstance(value, Mapping if origin is Mapping else (list, tuple)):
        return None
    if isinstance(value, Mapping):
        found = {str(name): read_value(parts[1], item) for name, item in value.items()}
        return {name: item for name, item in found.items() if parts[1] is Any or item is not None}
    if origin is Sequence:
        return [item for item in (read_value(parts[0], item) for item in value) if item is not None]
    row = tuple(read_value(part, item) for part, item in zip(parts, value, strict=False))
    known = [item is not None or _may_be_none(part) for part, item in zip(parts, row, strict=False)]
    return row if len(row) == len(parts) == len(value) and all(known) else None


def _may_be_none(kind: Any) -> bool:
    return isinstance(kind, UnionType) and type(None) in get_args(kind)
