"""`--type`: what the numbers in a file are, in the words of numpy's users."""

from __future__ import annotations

import re

from kolmocli.archive.codecs.numbers import TYPES, NumberType
from kolmocli.errors import UsageError


def number_types(text: str) -> tuple[tuple[NumberType, ...], int]:
    """The types of a record, and the bytes before the first one: `i32,f32@44`.

    Raises:
        UsageError: when there is no such type, or what is behind the @ is no number.
    """
    names, at, header = text.partition("@")
    if at and not re.fullmatch(r"[0-9]{1,18}", header):
        raise UsageError(f"--type {text}: behind @ is the size of a header in bytes, such as {names}@44")
    unknown = [name for name in names.split(",") if name not in TYPES]
    if unknown:
        raise UsageError(f"--type {text}: there is no type {unknown[0]!r}, but {', '.join(TYPES)}")
    return tuple(TYPES[name] for name in names.split(",")), int(header or 0)
