"""Read the form of an answer from its text without LaTeX: one value, several, a tuple, an interval, a relation.

`x=1 or x=2` is a list of two values of x, `\\{1\\pm\\sqrt5\\}` a set of two, `0\\le x<1` the interval [0,1) of x,
`(1,2)\\cup(3,4)` a union. Parts are read the same way; all else is a leaf.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from kolmocli.tasks.answers.names import is_words
from kolmocli.tasks.answers.numbers import amount
from kolmocli.tasks.answers.parts import NOTHING, Form, closes, everything, split, union
from kolmocli.tasks.answers.relations import all_but, between, related

_DEEPEST = 6
_MOST_ITEMS = 40
_COMMA, _SEMICOLON = re.compile(r"\s*,\s*"), re.compile(r"\s*;\s*")
_MARKS = re.compile(r"\s*[,;]\s*(?:(?:and|or)\b\s*)?")
_AND_OR = re.compile(r"(?:(?<=[\s)\]}0-9])|(?<![A-Za-z]))(?:and|or)(?=[\s(\[{0-9A-Za-z])(?![a-z]{2})\s*")
_UNION = re.compile(r"\s*(?:∪|(?<=[)\]}])\s*[Uu]\s*(?=[(\[{]))\s*")  # noqa: RUF001
_EMPTY = frozenset(("∅", "{}", "{ }", "{∅}", "empty set", "the empty set", "no solution", "no solutions"))
_OUTWARD = re.compile(r"(?P<low>[\[\]])(?P<inside>[^\[\]]*)(?P<high>[\[\]])\Z")
_BUILT = re.compile(r"(?P<name>[A-Za-z])\s*(?:∈\s*ℝ\s*)?[|:]\s*(?P<says>.+)\Z")  # noqa: RUF001
_ALL_BUT = re.compile(r"(?:ℝ|\(-\s?infinity, ?\+?infinity\))\s*[∖-]\s*\{(?P<values>[^{}]+)\}\Z")  # noqa: RUF001
_EXCEPT = re.compile(
    r"all real(?: number)?s?(?: [a-z])?,? (?:except|excluding|other than)(?: for)? (?:[a-z] ?= ?)?(?P<values>[-0-9].*)\Z",
    re.IGNORECASE,
)
_REAL = re.compile(r"[A-Za-z]\s*∈\s*ℝ\Z")  # noqa: RUF001
_THOUSANDS = re.compile(r"(?<![0-9,.])[1-9][0-9]?(?:,[0-9]{3})+(?![0-9]|,[0-9])")
"""Not those from 100,000 on: `121,123` may be two numbers."""
_UNEQUAL = re.compile(r"(?P<name>[A-Za-z])\s*!=\s*")
_BOTH = re.compile("[±∓]")


@lru_cache(maxsize=20_000)
def read_form(text: str) -> Form:
    """Form of a text without LaTeX."""
    return _read(text.strip(), 0)


def _read(text: str, depth: int) -> Form:
    text = text.strip().rstrip(".") if not text.rstrip().endswith("...") else text.strip()
    if depth > _DEEPEST:
        return Form("leaf", text)
    if text in _EMPTY or text.lower() in _EMPTY:
        return Form("set")
    if not text:
        return NOTHING
    if text == "ℝ" or text.lower() in ("all real numbers", "all reals"):  # noqa: RUF001
        return everything(text)
    if (found := _without(text, depth) or _outward(text, depth)) is not None:
        return found
    groups = split(text, _SEMICOLON)
    if len(groups) > 1 and all(len(split(group, _COMMA)) > 1 for group in groups):
        return Form("list", text, tuple(_read(group, depth + 1) for group in groups))  # `p=5,q=2; p=7,q=2`
    items, word = _separated(text)
    if word != "or" and (unequal := _unequal(text, items, depth)) is not None:
        return unequal
    if len(items) > 1:
        return _several(text, items, word, depth)
    text = items[0] if items else text
    found = related(text, lambda side: _read(side, depth + 1)) or _united(text, depth) or _enclosed(text, depth)
    if found is not None:
        return found
    signed = _signs(text)
    if signed is not None:
        return Form("list", text, tuple(_read(each, depth + 1) for each in signed))
    return Form("leaf", text)


def _separated(text: str) -> tuple[list[str], str]:
    """(what stands between commas, semicolons, `and` and `or` outside brackets, which of these words). A text of words is not
    taken apart at words."""
    seen: list[str] = []
    if not any(bracket in text for bracket in "([{"):
        text = _THOUSANDS.sub(lambda found: found[0].replace(",", ""), text)
    parts = split(text, _MARKS, seen)
    wordy = any(is_words(part) for part in parts) and not re.search(r"[=<>]", text)
    if not wordy or all(not is_words(piece) for part in parts for piece in split(part, _AND_OR)):
        parts = [piece for part in parts for piece in split(part, _AND_OR, seen)]
    parts = [part for part in parts if part] if len(parts) <= _MOST_ITEMS and any(parts) else [text]
    words = " ".join(seen)
    return parts, "or" if "or" in words else "and" if "and" in words else ""


def _several(text: str, items: Sequence[str], word: str, depth: int) -> Form:
    forms: list[Form] = []
    for item in items:
        form = _read(item, depth + 1)
        parts = form.items if form.kind == "list" else (form,)
        forms += [replace(part, name=part.name or form.name) for part in parts]
    name = forms[0].name
    if name and not any(form.name for form in forms[1:]):
        forms = [replace(form, name=name) for form in forms]  # `n=2, 3, 4`
    names = {form.name for form in forms}
    bounds = len(names) == 1 and name is not None and all(form.kind in ("interval", "union") for form in forms)
    if word != "or" and (both := between(forms)) is not None:
        return both
    if bounds and word == "and":
        return Form("relation", text)  # what holds at once, which is not worked out
    if bounds:
        return union([part for form in forms for part in (form.items if form.kind == "union" else (form,))], name)
    return Form("list", items=tuple(forms), name=name if len(names) == 1 else None, joined=word)


def as_matrix(form: Form) -> Form:
    """`[[1, 2], [3, 4]]` as a matrix."""
    rows = [row for row in form.items if row.kind == "tuple" and row.brackets == "[]"]
    if (
        form.kind != "tuple"
        or form.brackets != "[]"
        or len(rows) < len(form.items)
        or len({len(row.items) for row in rows}) != 1
    ):
        return form
    return Form("matrix", form.text, tuple(cell for row in rows for cell in row.items), str(len(rows)))


def words_apart(form: Form) -> Form:
    """`red and blue` as a list of two texts."""
    parts = re.split(r"(?:,\s*)?\s+and\s+|,\s*", form.text)
    if form.kind != "leaf" or len(parts) < 2 or not all(parts):
        return form
    return Form("list", form.text, tuple(Form("leaf", part) for part in parts), joined="and")


def _united(text: str, depth: int) -> Form | None:
    parts = split(text, _UNION)
    if len(parts) < 2:
        return None
    forms = [_read(part, depth + 1) for part in parts]
    return union(forms, next((form.name for form in forms if form.name), None))


def _without(text: str, depth: int) -> Form | None:
    """The real numbers without some: the intervals between them."""
    found = _ALL_BUT.match(text) or _EXCEPT.match(text)
    return None if found is None else _all_but(split(found["values"], _COMMA), depth)


def _unequal(text: str, items: Sequence[str], depth: int) -> Form | None:
    """`x != 0, 1` and `x ∈ ℝ, x != 0, x != 1`: the real numbers without these."""  # noqa: RUF002
    items = items[1:] if len(items) > 1 and _REAL.match(items[0]) else items
    said = [_UNEQUAL.match(item) for item in items]
    names = {each["name"] for each in said if each}
    if said[0] is None or len(names) > 1:
        return None
    form = _all_but([item[each.end() :] if each else item for each, item in zip(said, items, strict=True)], depth)
    return None if form is None else replace(form, text=text, name=said[0]["name"])


def _all_but(texts: Sequence[str], depth: int) -> Form | None:
    forms = [_read(text, depth + 1) for text in texts]
    values = [part for form in forms for part in (form.items if form.kind == "list" else (form,))]
    numbers = [amount(value.text) for value in values]
    if any(number is None for number in numbers) or any(form.name for form in forms):
        return None
    return all_but([value for _, value in sorted(zip(numbers, values, strict=True), key=lambda each: each[0].value)])  # type: ignore[union-attr]


def _outward(text: str, depth: int) -> Form | None:
    """`[0, 1[`, an interval as it is written in French."""
    found = _OUTWARD.match(text)
    if found is None or found["low"] + found["high"] == "[]":
        return None
    ends = [_read(end, depth + 1) for end in re.split(r"[,;]", found["inside"])]
    brackets = ("[" if found["low"] == "[" else "(") + ("]" if found["high"] == "]" else ")")
    return Form("interval", text, tuple(ends), brackets) if len(ends) == 2 else None


def _enclosed(text: str, depth: int) -> Form | None:
    if text.startswith("matrix[") and closes(text[6:]):
        rows = [split(row, _COMMA) for row in split(text[7:-1], _SEMICOLON)]
        if len({len(row) for row in rows}) == 1:
            cells = tuple(_read(cell, depth + 1) for row in rows for cell in row)
            return Form("matrix", text, cells, str(len(rows)))
        return None
    if text[:1] not in ("(", "[", "{", "⟨") or text[-1:] not in (")", "]", "}", "⟩") or not closes(text):
        return None
    brackets, inside = text[0] + text[-1], text[1:-1]
    if brackets == "{}":
        return _set(text, inside.strip(), depth)
    items = split(inside, re.compile(r"\s*[,;]\s*"))
    if len(items) == 1:
        return _read(inside, depth + 1) if brackets == "()" and "±" not in text else None
    if brackets in ("()", "[]", "⟨⟩") and (len(_BOTH.findall(text)) == 1 or "∓" in text):
        return Form("list", text, tuple(_read(each, depth + 1) for each in _signs(text) or ()))
    if brackets in ("()", "[]", "⟨⟩"):
        forms = tuple(_read(item, depth + 1) for item in items)
        return Form("tuple", text, forms, brackets)
    if brackets in ("[)", "(]") and len(items) == 2:
        return Form("interval", text, tuple(_read(item, depth + 1) for item in items), brackets)
    return None


def _set(text: str, inside: str, depth: int) -> Form | None:
    """`{1, 2}`, or `{x | x > 5}`."""
    built = _BUILT.match(inside)
    if built is not None:
        found = _read(built["says"], depth + 1)
        return found if found.kind in ("interval", "union") and found.name == built["name"] else None
    inner = _read(inside, depth + 1)
    if inner.kind in ("leaf", "list", "tuple"):
        return Form("set", text, inner.items if inner.kind == "list" else (inner,))
    return None


def _signs(text: str) -> tuple[str, str] | None:
    """Both values of a text with one ±."""
    if "±" not in text and "∓" not in text:
        return None
    upper, lower = text.replace("±", "+").replace("∓", "-"), text.replace("±", "-").replace("∓", "+")
    return upper.removeprefix("+").strip(), lower.removeprefix("+").strip()
