"""Whether an answer is the right one: as numbers where both are, element by element where both are lists, else as text.

Text is compared without LaTeX, case, blanks, and quotes or a full stop around it.
"""

from __future__ import annotations

import unicodedata

from kolmocli.tasks.answers.latex import LONGEST, plain
from kolmocli.tasks.answers.numbers import amount

_BEFORE = " \t\n\"'`*,;:“‘"  # noqa: RUF001 - typographic quotes are what they are
_AFTER = " \t\n\"'`*.,;:”’"  # noqa: RUF001
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_DEEPEST = 4


def bare(text: str) -> str:
    """An answer without LaTeX and without marks around it; a minus sign is an ASCII one."""
    return plain(text).replace("−", "-").lstrip(_BEFORE).rstrip(_AFTER)


def same(given: str, right: str) -> bool:
    """Whether both are one answer. `x = 5` is 5 where 5 is right."""
    if max(len(given), len(right)) > LONGEST:
        return given.strip() == right.strip()
    a, b = bare(given), bare(right)
    if "=" in a and "=" not in b:
        a = bare(a.rpartition("=")[2])
    return _same(a, b, 0)


def _same(a: str, b: str, depth: int) -> bool:
    x, y = amount(a), amount(b)
    if x is not None and y is not None:
        return x.equals(y)
    (open_a, items_a), (open_b, items_b) = _items(a), _items(b)
    if depth < _DEEPEST and open_a == open_b and len(items_a) == len(items_b) > 1:
        return all(_same(x.strip(), y.strip(), depth + 1) for x, y in zip(items_a, items_b, strict=True))
    return _folded(a) == _folded(b)


def _folded(text: str) -> str:
    folded = "".join(unicodedata.normalize("NFKC", text).casefold().split())
    inside = folded[1:-1]
    return inside if len(inside) == 1 and _BRACKETS.get(folded[0]) == folded[-1] else folded  # the choice (A)


def _items(text: str) -> tuple[str, list[str]]:
    """(the bracket around it, what stands between the commas outside inner brackets)"""
    opening = text[:1] if _BRACKETS.get(text[:1], "") == text[-1:] and len(text) > 1 else ""
    items, depth = [""], 0
    for mark in text[1:-1] if opening else text:
        depth += (mark in _BRACKETS) - (mark in _BRACKETS.values())
        if mark == "," and depth <= 0:
            items.append("")
        else:
            items[-1] += mark
    return opening, items
