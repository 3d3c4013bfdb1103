"""Read values of other people's files: values within values, JSON within text, conversations, units, answers."""

from __future__ import annotations

import ast
import base64
import binascii
import io
import pickle
import re
import tokenize
import zlib
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import pairwise
from typing import Any, NoReturn

from kolmocli.plain import parsed

_MOST_UNPACKED = 256 << 20
"""Bytes of packed text."""
_TOLD = ("system", "developer")
_SECONDS = {"": 1.0, "s": 1.0, "sec": 1.0, "second": 1.0, "seconds": 1.0, "ms": 1e-3, "milliseconds": 1e-3}
_MEGABYTES = {
    **dict.fromkeys(("", "m", "mb", "mib", "megabyte", "megabytes"), 1.0), **dict.fromkeys(("g", "gb", "gib", "gigabytes"), 1024.0),
    **dict.fromkeys(("k", "kb", "kib", "kilobytes"), 1 / 1024), **dict.fromkeys(("b", "bytes"), 1 / (1 << 20)),
}  # fmt: skip
_APART = re.compile(r"['\"]\s+['\"]")
_QUANTITY = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)\s*", re.IGNORECASE)


def column(row: Mapping[str, Any], name: str) -> str | None:
    """The name of a column as the row spells it: as it is given, else in capitals or small letters."""
    if name in row:
        return name
    return next((key for key in row if key.lower() == name.lower()), None)


def value_at(row: Mapping[str, Any], path: str) -> Any:
    """Value at a dotted path such as `reward_model.ground_truth`, through JSON that is text; None for nothing."""
    first, *rest = path.split(".")
    name = column(row, first)
    value = None if name is None else row[name]
    for part in rest:
        inner = structured(value) if isinstance(value, str) else value
        if isinstance(inner, Mapping):
            value = inner.get(part)
        elif isinstance(inner, list) and part.isdecimal() and int(part) < len(inner):
            value = inner[int(part)]
        else:
            return None
    return None if is_empty(value) else value


def is_empty(value: Any) -> bool:
    """Whether nothing stands there; NaN is how tables write that."""
    return (
        value is None
        or value != value
        or (isinstance(value, str | list | dict) and not value)
        or value in ("[]", "{}", "null")
    )


def structured(text: str) -> Any:
    """The list or object that a text holds: as JSON, as Python writes it, or packed as LiveCodeBench does. None where it holds
    none."""
    bare = text.strip()
    if bare[:1] in ("{", "["):
        for read in (parsed, _of_python):
            try:
                found = read(bare)
            except (ValueError, SyntaxError, MemoryError, RecursionError, tokenize.TokenError):
                continue
            return found if isinstance(found, list | dict) else None
        return None
    return _unpacked(bare) if len(bare) >= 16 and bare.isascii() and " " not in bare and "\n" not in bare else None


def _of_python(text: str) -> Any:
    """A value as Python writes it, or as numpy does, which sets no commas. Raises ValueError or SyntaxError."""
    found = ast.literal_eval(text)
    return ast.literal_eval(_with_commas(text)) if _APART.search(text) else found


def _with_commas(text: str) -> str:
    """With a comma between two strings in succession, which Python would take for one."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    words = [each for each in tokens if each.type != tokenize.NL]
    lines = text.split("\n")
    for one, other in reversed(list(pairwise(words))):
        if one.type == other.type == tokenize.STRING:
            row, column = one.end
            lines[row - 1] = f"{lines[row - 1][:column]},{lines[row - 1][column:]}"
    return "\n".join(lines)


class _OnlyText(pickle.Unpickler):
    """A pickle of a text names nothing that would have to be imported."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"{module}.{name}")


def _unpacked(text: str) -> Any:
    """Base64 of what zlib made of a pickled text of JSON."""
    try:
        unpacking = zlib.decompressobj()
        packed = unpacking.decompress(base64.b64decode(text, validate=True), _MOST_UNPACKED)
        found = _OnlyText(io.BytesIO(packed)).load()
        return parsed(found) if isinstance(found, str) else None
    except (
        binascii.Error,
        zlib.error,
        pickle.UnpicklingError,
        EOFError,
        ValueError,
        IndexError,
        KeyError,
        AttributeError,
    ):
        return None


def conversation(value: Any) -> tuple[str, str] | None:
    """(what is asked, what the system is told) of messages; None where it is no conversation. Turns before the last
    question stand above it."""
    if not isinstance(value, list) or not value or not all(isinstance(turn, Mapping) for turn in value):
        return None
    turns = [
        (str(turn.get("role") or turn.get("from")), _said(turn.get("content", turn.get("value")))) for turn in value
    ]
    if not any(role in ("user", "human") for role, _ in turns) or any(said is None for _, said in turns):
        return None
    system = "\n".join(said or "" for role, said in turns if role in _TOLD)
    asked = [(role, said or "") for role, said in turns if role not in _TOLD]
    while len(asked) > 1 and asked[-1][0] not in ("user", "human"):  # the answer that somebody gave
        asked.pop()
    if len(asked) == 1:
        return asked[0][1], system
    return "\n\n".join(
        f"{'User' if role in ('user', 'human') else 'Assistant'}: {said}" for role, said in asked
    ), system


def _said(content: Any) -> str | None:
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "\n".join(part for part in parts if isinstance(part, str)) if parts else None
    return content if isinstance(content, str) else None


def answers(value: Any) -> list[str]:
    """The accepted answers of a column, the usual one first. Raises ValueError for what is none."""
    found = list(dict.fromkeys(text for text in _answers(value) if text.strip()))
    if not found:
        raise ValueError("empty" if value is None or isinstance(value, str | list) else "no text and no number")
    return found


def _answers(value: Any) -> Iterator[str]:
    if isinstance(value, bool):
        yield from ("yes", "true") if value else ("no", "false")
    elif isinstance(value, str | int):
        yield str(value)
    elif isinstance(value, float):
        yield format(Decimal(repr(value)), "f").removesuffix(".0") if value - value == 0 else str(value)
    elif isinstance(value, list):
        if any(isinstance(each, list) for each in value):
            raise ValueError("a list of lists; write one list, of the answers that are accepted")
        for each in value:
            yield from _answers(each)
    elif isinstance(value, Mapping):
        for key in ("value", "text", "spans", "ground_truth", "answer", "number", "aliases"):
            if not is_empty(value.get(key)):
                yield from _answers(value[key])


def seconds(value: Any) -> float | None:
    """A limit of time: a number of seconds, `2.0 seconds`, or CodeContests' seconds and nanos. None for none."""
    if isinstance(value, Mapping):
        return float(value.get("seconds") or 0) + float(value.get("nanos") or 0) / 1e9 or None
    return _quantity(value, _SECONDS)


def megabytes(value: Any) -> float | None:
    """A limit of memory in MB: `256.0 megabytes`, or a number, which is bytes where it is large."""
    found = _quantity(value, _MEGABYTES)
    return found / (1 << 20) if found is not None and found >= 1 << 20 else found


def _quantity(value: Any, units: Mapping[str, float]) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) or None
    found = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    return None if found is None or found[2].lower() not in units else float(found[1]) * units[found[2].lower()] or None
