"""Keys that curriculum files had in earlier versions, so that old files and old run folders stay readable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Place = tuple[str, ...]

GONE: dict[Place, str] = {
    ("training", "stop_hopeless"): "does nothing any more: stopping rollouts early cost 7.5 points of accuracy",
}
"""Keys without a successor, and what to know about each."""
MOVED: dict[Place, Place] = {
    ("refill",): ("methods", "refill"),
    ("pilot",): ("methods", "pilot"),
    ("screening",): ("methods", "screening"),
    ("hints",): ("methods", "hints"),
    ("self_play",): ("methods", "self_play"),
    ("training", "shaping"): ("methods", "shaping", "weight"),
}
"""Keys and sections that have another place now."""
_OFF: dict[Place, tuple[str, float]] = {
    ("refill",): ("most", 1.0),
    ("pilot",): ("draws", 1),
    ("screening",): ("draws", 1),
    ("hints",): ("most", 0.0),
    ("self_play",): ("share", 0.0),
}
"""The switch of each section, and what it was where a file did not set it."""


def modern(data: Any) -> Any:
    """A copy of a curriculum's content with today's keys. `data` may be anything: the schema says what is wrong with it."""
    if not isinstance(data, Mapping):
        return data
    for place in GONE:
        data = _without(data, place)
    for old, new in MOVED.items():
        value = _value(data, old)
        if value is None:
            data = _without(data, old) if old in _OFF else data
            continue
        if old in _OFF and isinstance(value, Mapping):
            switch, off = _OFF[old]
            value = {switch: off, **value}
        data = _with(_without(data, old), new, value)
    return data


def today(key: str) -> str:
    """The dotted key that `key` is called now; itself where it did not change."""
    place = tuple(key.split("."))
    for old, new in MOVED.items():
        if place[: len(old)] == old:
            return ".".join(new + place[len(old) :])
    return key


def former(location: tuple[str | int, ...], data: Any) -> tuple[str | int, ...]:
    """Place in the author's file of a key that stands at `location` now."""
    for old, new in MOVED.items():
        if location[: len(new)] == new and _value(data, new) is None and _value(data, old) is not None:
            return (*old, *location[len(new) :])
    return location


def remarks(data: Any) -> list[str]:
    """A line for each former key that this content sets to something."""
    found = [f"{'.'.join(place)} {said}; remove it" for place, said in GONE.items() if _value(data, place) is not None]
    for old, new in MOVED.items():
        value = _value(data, old)
        switch, off = _OFF.get(old, ("", 0))
        if (value.get(switch, off) if isinstance(value, Mapping) else value) not in (None, off):
            found.append(f"{'.'.join(old)} is called {'.'.join(new)} now")
    return found


def _value(data: Any, place: Place) -> Any:
    for part in place:
        data = data.get(part) if isinstance(data, Mapping) else None
    return data


def _without(data: Any, place: Place) -> Any:
    first, rest = place[0], place[1:]
    if not isinstance(data, Mapping) or first not in data:
        return data
    if rest:
        return {**data, first: _without(data[first], rest)}
    return {key: value for key, value in data.items() if key != first}


def _with(data: Any, place: Place, value: Any) -> Any:
    """With the value there, below what stands there already."""
    first, rest = place[0], place[1:]
    known = data.get(first)
    if rest:
        inner = _with(known if isinstance(known, Mapping) else {}, rest, value)
        return {**data, first: inner if known is None or isinstance(known, Mapping) else known}
    if isinstance(known, Mapping) and isinstance(value, Mapping):
        value = {**value, **known}
    return {**data, first: value if known is None or isinstance(known, Mapping) else known}
