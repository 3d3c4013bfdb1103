"""Keys that curriculum files had in earlier versions, so that old files and old run folders stay readable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

GONE: dict[tuple[str, ...], str] = {
    ("training", "stop_hopeless"): "does nothing any more: stopping rollouts early cost 7.5 points of accuracy",
}
"""Keys without a successor, by their place, and what to know about each."""


def modern(data: Any) -> Any:
    """A copy of a curriculum's content with today's keys. `data` may be anything: the schema says what is wrong with it."""
    for place in GONE:
        data = _without(data, place)
    return data


def remarks(data: Any) -> list[str]:
    """A line for each former key that is set to something in this content."""
    return [f"{'.'.join(place)} {said}; remove it" for place, said in GONE.items() if _value(data, place) is not None]


def _value(data: Any, place: tuple[str, ...]) -> Any:
    for part in place:
        data = data.get(part) if isinstance(data, Mapping) else None
    return data


def _without(data: Any, place: tuple[str, ...]) -> Any:
    first, rest = place[0], place[1:]
    if not isinstance(data, Mapping) or first not in data:
        return data
    if rest:
        return {**data, first: _without(data[first], rest)}
    return {key: value for key, value in data.items() if key != first}
