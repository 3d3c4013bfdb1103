"""Data as programs write it: a string of Python, lists and dictionaries of Python or JSON. Every mark of it counts: case,
blanks and nesting, but not the kind of quotes or the order of keys."""

from __future__ import annotations

import ast
import contextlib
import re
import warnings
from functools import lru_cache

from kolmocli.plain import parsed

_WRAPPED = re.compile(r"\\(?:text|texttt|mathrm)\{(.*)\}\Z", re.DOTALL)
_ESCAPED = re.compile(r"\\([{}_%&#$])")


@lru_cache(maxsize=10_000)
def spelled(text: str) -> str | None:
    """One spelling for all that are the same data: of a string in single quotes, of a dictionary, and of what has quotes in it.
    None for other texts."""
    text = text.strip()
    is_data = text[:1] in ("[", "(", "{") and ("'" in text or '"' in text or ":" in text)
    if not is_data and (len(text) < 2 or text[0] + text[-1] != "''"):
        return None
    found = _read(text)
    return _spelled(found) if isinstance(found, str | list | tuple | dict | set) else None


def same_literal(given: str, right: str) -> bool:
    """Whether an answer is the data that is right: `right` as `spelled` has it. A string may go without its quotes."""
    text = given.strip().strip("`").removeprefix("**").removesuffix("**")
    if wrapped := _WRAPPED.match(text):
        text = wrapped[1]
    text = _ESCAPED.sub(r"\1", text)
    return _spelled(_read(text)) == right or (right.startswith("str(") and _spelled(text) == right)


def _read(text: str) -> object:
    """The value of a literal; `...` for a text that is none."""
    with contextlib.suppress(ValueError):
        return parsed(text)
    try:
        with warnings.catch_warnings(action="ignore"):  # `'\d'`
            return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return ...


def _spelled(value: object) -> str:
    match value:
        case dict():
            parts = sorted(f"{_spelled(key)}: {_spelled(held)}" for key, held in value.items())
        case set():
            parts = sorted(map(_spelled, value))
        case list() | tuple():
            parts = list(map(_spelled, value))
        case _:
            parts = [repr(value)]
    return f"{type(value).__name__}({', '.join(parts)})"
