"""Events in words: what the live view, `kolmo watch` and the report say of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kolmocli.monitor.words import printable

SAMPLES = ("best", "failing")
"""Kinds that show a program: nothing for a list of what happened."""
_COMMON = ("kind", "step", "time")


def describe(event: Mapping[str, Any]) -> str:
    """One line: the step, and what happened in the event's own words (`text`), else its kind and fields."""
    return printable(f"step {event.get('step', 0)}: {_what(event)}")


def _what(event: Mapping[str, Any]) -> str:
    if event.get("text"):
        return str(event["text"])
    fields = ", ".join(f"{key} {value}" for key, value in event.items() if key not in _COMMON)
    return f"{event.get('kind', 'event')} {fields}".rstrip()
