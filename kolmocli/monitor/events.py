"""Events in words: what the live view, `kolmo watch` and the report say of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kolmocli.monitor.words import number, percent, printable, rate

_COMMON = ("kind", "step", "time")


def describe(event: Mapping[str, Any]) -> str:
    """One line: the step, what happened, and the numbers that belong to it.

    An event with a `text` is told in its own words; an unknown kind with its name and fields.
    """
    return printable(f"step {event.get('step', 0)}: {_what(event)}")


def _what(event: Mapping[str, Any]) -> str:
    if event.get("text"):
        return str(event["text"])
    if event.get("kind") == "eval":
        when = f" {event['when']}" if event.get("when") else ""
        return (
            f"evaluation{when}: accuracy {percent(number(event, 'accuracy'))}{_spread(event)}{_size(event)}"
        )
    if event.get("kind") == "checkpoint":
        return f"checkpoint {event.get('path', '')}".rstrip()
    fields = ", ".join(f"{key} {value}" for key, value in event.items() if key not in _COMMON)
    return f"{event.get('kind', 'event')} {fields}".rstrip()


def _spread(event: Mapping[str, Any]) -> str:
    interval = event.get("accuracy_ci")
    return f" ({percent(interval[0])} to {percent(interval[1])})" if interval else ""


def _size(event: Mapping[str, Any]) -> str:
    size = number(event, "compression_rate")
    return "" if size is None else f", size ÷ raw {rate(size)}"
