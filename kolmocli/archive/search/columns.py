"""The way of writing that all cells of a column share, and their items in it."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kolmocli.archive.format.cells import (
    ALIGNED,
    BARE,
    FIXED,
    LISTED,
    MIXED,
    MOST_DIGITS,
    PADDED,
    PLAIN,
    SHORT,
    TIME,
    TRIMMED,
    WORD,
    Column,
    parts_of,
    units_of,
)

_NUMBER = re.compile(rb" *-?(?:\d+\.?\d*|\.\d+)")
_MOST_LISTED = 255
_LEAST_REPEATED = 4
"""A word of a list stands in this many rows on average, at least."""
_MOSTLY = 0.6
"""A column is of numbers where at least this share of its cells are."""
_TRIED = 64
"""Cells that say whether a form is worth a look at all of them."""
_DATES = ("Y{0}m{0}d", "m{0}d{0}Y", "d{0}m{0}Y")
_MOMENT = re.compile(
    rb"(\d{4}|\d\d)([-/.]?)(\d\d)\2(\d{4}|\d\d)(?:([T _])(\d\d):(\d\d)(?:(:)(\d\d)(?:([.,])(\d{1,9}))?)?)?(Z|[+-]\d\d:?\d\d)?$"
)
_CLOCK = re.compile(rb"(\d\d):(\d\d)(?:(:)(\d\d)(?:([.,])(\d{1,9}))?)?$")


@dataclass(frozen=True, slots=True)
class Fitted:
    """A column, its items, and the words that stand in the text for it."""

    column: Column
    items: Sequence[int]
    words: Sequence[bytes]


def shared_ends(cells: Sequence[bytes]) -> tuple[bytes, bytes]:
    """Beginning and end that all cells share and no number has: quotes, units."""
    first = _beginning(cells)
    last = _beginning([cell[::-1] for cell in cells])[::-1]
    head = re.match(rb"[^\w.+-]*", first)
    tail = re.search(rb"[^\w.]*$", last)
    assert head is not None and tail is not None
    start, end = head[0], tail[0]
    return (start, end) if len(start) + len(end) <= min(map(len, cells)) else (b"", b"")


def _beginning(cells: Sequence[bytes]) -> bytes:
    """Their common beginning: that of the first and the last in their order."""
    low, high = min(cells), max(cells)
    same = next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
    return low[:same]


def fitted(cells: Sequence[bytes]) -> Fitted:
    """The column that writes these cells."""
    return (
        _numbers(cells) or _moments(cells) or _some_numbers(cells) or _listed(cells) or Fitted(Column(WORD), (), cells)
    )


def _numbers(cells: Sequence[bytes]) -> Fitted | None:
    """All cells as numbers of one form."""
    if not all(map(_NUMBER.fullmatch, cells)):
        return None
    texts = [c.decode() for c in cells]
    aligned = any(t.startswith(" ") for t in texts)
    bare = [t.lstrip(" ") for t in texts] if aligned else texts
    decimals = max(len(t.partition(".")[2]) for t in bare)
    if decimals > MOST_DIGITS or max(map(len, bare)) > MOST_DIGITS:
        return None
    items = [_scaled(t, decimals) for t in bare]
    if not all(map(_is_word, items)):
        return None
    width = len(texts[0])
    for column in _forms(bare, decimals):
        if aligned:
            column = replace(column, flags=column.flags | ALIGNED, width=width)
        write = column.writer()
        if width < 256 and all(map(str.__eq__, map(write, items[:_TRIED]), texts)) and list(map(write, items)) == texts:
            return Fitted(column, items, ())
    return None


def _forms(texts: Sequence[str], decimals: int) -> list[Column]:
    if not decimals:
        return [Column(PLAIN), Column(PADDED, min(len(texts[0]), 255))]
    bare = BARE if any(t.startswith((".", "-.")) for t in texts) else 0
    return [Column(kind, decimals, flags=bare) for kind in (FIXED, SHORT, TRIMMED)]


def _scaled(text: str, decimals: int) -> int:
    whole, _, part = text.partition(".")
    return int((whole if whole not in ("", "-") else whole + "0") + part.ljust(decimals, "0"))


def _is_word(item: int) -> bool:
    """Whether it fits 64 bits: of one column, a number with many decimals and a large one may not both do so."""
    return -(1 << 63) <= item < 1 << 63


def _some_numbers(cells: Sequence[bytes]) -> Fitted | None:
    """Most cells as numbers of one form, and the others as text."""
    matches = [_NUMBER.fullmatch(c) is not None for c in cells]
    if sum(matches) < max(_MOSTLY * len(cells), 1):
        return None
    places = Counter(len(c.partition(b".")[2]) for c, is_number in zip(cells, matches, strict=True) if is_number)
    decimals = _usual(places)
    texts = [c.decode() if is_number else "" for c, is_number in zip(cells, matches, strict=True)]
    usable = [t for t in texts if t and len(t) <= MOST_DIGITS and len(t.partition(".")[2]) <= decimals]
    if not usable:
        return None
    best: tuple[int, Column, list[int], list[bytes]] | None = None
    for column in _forms(usable, decimals):
        write = column.writer()
        items, words = list[int](), list[bytes]()
        for cell, text in zip(cells, texts, strict=True):
            item = None
            if text and text[0] != " " and len(text) <= MOST_DIGITS and len(text.partition(".")[2]) <= decimals:
                item = _scaled(text, decimals)
            if item is not None and _is_word(item) and write(item) == text:
                items.append(item)
                words.append(b"")
            else:
                words.append(b"=" + cell)
        if best is None or len(items) > best[0]:
            best = len(items), column, items, words
    assert best is not None
    if best[0] < _MOSTLY * len(cells):
        return None
    return Fitted(replace(best[1], flags=best[1].flags | MIXED, numbers=best[0]), best[2], best[3])


def _usual(places: Counter[int]) -> int:
    """Decimals that nearly all numbers have, or fewer."""
    most, seen = places.total(), 0
    for decimals in sorted(places):
        seen += places[decimals]
        if seen >= 0.95 * most:
            return min(decimals, MOST_DIGITS - 4)
    return 0


def _listed(cells: Sequence[bytes]) -> Fitted | None:
    """Few words, again and again, by their number in the order in which they come first."""
    numbers: dict[bytes, int] = {}
    most = min(_MOST_LISTED, len(cells) // _LEAST_REPEATED)
    items = []
    for cell in cells:
        items.append(numbers.setdefault(cell, len(numbers)))
        if len(numbers) > most:
            return None
    return Fitted(Column(LISTED, len(numbers)), items, list(numbers))


def _moments(cells: Sequence[bytes]) -> Fitted | None:
    """All cells as moments of one pattern."""
    length = len(cells[0])
    if not 5 <= length <= 32 or any(len(c) != length for c in cells):
        return None
    text = np.frombuffer(b"".join(cells), np.uint8).reshape(len(cells), length)
    for pattern in _moment_patterns(cells[0]):
        items = _units(text, pattern)
        if items is None:
            continue
        column = Column(TIME, pattern=pattern)
        write = column.writer()
        with contextlib.suppress(ValueError):  # what no year of four digits has, as 9999-12-31 24:00
            if all(write(item).encode() == cell for item, cell in zip(items, cells, strict=True)):
                return Fitted(column, items, ())
    return None


def _moment_patterns(cell: bytes) -> list[str]:
    clock = _CLOCK.match(cell)
    if clock:
        return [_clock_pattern(clock.groups(), 1)]
    found = _MOMENT.match(cell)
    if found is None:
        return []
    parts = found.groups()
    between, time = parts[1].decode(), ""
    if parts[4]:
        time = parts[4].decode() + _clock_pattern(parts, 6)
    time += (parts[-1] or b"").decode()
    dates = [date.format(between).replace("m", "mm").replace("d", "dd").replace("Y", "YYYY") for date in _DATES]
    return [date + time for date in dates if len(date + time) == len(cell)]


def _clock_pattern(parts: Sequence[bytes | None], minute: int) -> str:
    """The pattern of a time of the day; `minute` is the place of the minute in the groups of the match."""
    colon, _, point, fraction = parts[minute + 1 : minute + 5]
    seconds = ":SS" if colon else ""
    return "HH:MM" + seconds + (point.decode() + "f" * len(fraction) if point and fraction else "")


def _units(text: np.ndarray, pattern: str) -> list[int] | None:
    """The moments as numbers of the finest unit; None where a cell has another pattern, or is no moment."""
    letters = np.frombuffer(pattern.encode(), np.uint8)
    digits = np.isin(letters, list(b"YmdHMSf"))
    if (text[:, ~digits] != letters[~digits]).any() or (text[:, digits] - 48 > 9).any():
        return None
    parts: dict[str, np.ndarray] = {}
    for letter, at, end in parts_of(pattern):
        value = np.zeros(len(text), np.int64)
        for place in range(at, end):
            value = 10 * value + (text[:, place] - 48)
        parts[letter] = value
    whole = np.zeros(len(text), np.int64)
    if "Y" in parts:
        if (parts["m"] < 1).any() or (parts["m"] > 12).any() or (parts["Y"] < 1).any():
            return None
        months = (parts["Y"] - 1970) * 12 + parts["m"] - 1
        whole = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) + parts["d"] - 1
    for letter, size in units_of("".join(parts)):
        whole = whole * size + parts[letter]
    if "f" in parts:
        whole = whole * 10 ** pattern.count("f") + parts["f"]
    items: list[int] = whole.tolist()
    return items
