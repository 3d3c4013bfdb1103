"""The parts of an answer: what `forms.py` reads and `matching.py` compares."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from kolmocli.tasks.answers.numbers import Amount

Kind = Literal["leaf", "list", "set", "tuple", "interval", "union", "matrix", "relation", "nothing"]
_OPEN, _CLOSE = "([{⟨⌊⌈", ")]}⟩⌋⌉"


@dataclass(frozen=True, slots=True)
class Form:
    """`name` is what the answer says that it is the value of: x of `x=5` and of `0<x<1`."""

    kind: Kind
    text: str = ""
    """The complete text of a leaf or a relation."""
    items: tuple[Form, ...] = ()
    """The parts; for an interval its two ends, for a matrix its cells, row by row."""
    brackets: str = ""
    """The brackets of a tuple or an interval; for a matrix the number of its rows."""
    name: str | None = None
    sides: tuple[str, str, str] | None = None
    """An equation or an inequality: left, sign, right."""
    number: Amount | None = None
    """The value of a leaf that was read as a number before."""
    joined: str = ""
    """`or` or `and`, where such a word stands in a list."""


NOTHING = Form("nothing")


def everything(text: str = "") -> Form:
    """All real numbers."""
    return Form("interval", text, (Form("leaf", "-infinity"), Form("leaf", "infinity")), "()")


def union(forms: Sequence[Form], name: str | None, text: str = "") -> Form:
    return Form("union", text, tuple(replace(form, name=None) for form in forms), name=name)


def split(text: str, at: re.Pattern[str], between: list[str] | None = None) -> list[str]:
    """The parts of a text between the places that match outside brackets; what stands there is added to `between`."""
    parts, depth, begin, place = [], 0, 0, 0
    while place < len(text):
        mark = text[place]
        depth = max(0, depth + (mark in _OPEN) - (mark in _CLOSE))
        found = at.match(text, place) if depth == 0 else None
        if found and found.end() > place:
            parts.append(text[begin:place].strip())
            begin = place = found.end()
            if between is not None:
                between.append(found[0])
        else:
            place += 1
    return [*parts, text[begin:].strip()]


def closes(text: str) -> bool:
    """Whether the first bracket is closed by the last mark."""
    depth = 0
    for place, mark in enumerate(text):
        depth += (mark in _OPEN) - (mark in _CLOSE)
        if depth == 0:
            return place == len(text) - 1
    return False
