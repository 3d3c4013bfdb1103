"""What an answer is made of, read from its text without LaTeX: one value, several, a tuple, an interval, a relation.

`x=1 or x=2` is a list of two values of x, `\\{1\\pm\\sqrt5\\}` a set of two, `0\\le x<1` the interval [0,1) of x,
`(1,2)\\cup(3,4)` a union. What is inside is read the same way; what is none of this is a leaf.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from kolmocli.tasks.answers.numbers import amount
from kolmocli.tasks.answers.trees import NAMES
from kolmocli.tasks.answers.words import listed

Kind = Literal["leaf", "list", "set", "tuple", "interval", "union", "matrix", "relation", "nothing"]
_OPEN, _CLOSE = "([{⟨⌊⌈", ")]}⟩⌋⌉"
_DEEPEST = 6
_MOST_ITEMS = 40


@dataclass(frozen=True, slots=True)
class Form:
    """`name` is what the answer says that it is the value of: x of `x=5` and of `0<x<1`."""

    kind: Kind
    text: str = ""
    """Of a leaf all of it; of a relation too."""
    items: tuple[Form, ...] = ()
    """Of an interval its two ends; of a matrix its cells, row by row."""
    brackets: str = ""
    """Of a tuple or an interval; of a matrix the number of its rows."""
    name: str | None = None
    sides: tuple[str, str, str] | None = None
    """Of an equation or an inequality: left, sign, right."""


@lru_cache(maxsize=20_000)
def read_form(text: str) -> Form:
    """What a text without LaTeX is made of."""
    return _read(text.strip(), 0)


def _read(text: str, depth: int) -> Form:
    text = text.strip().rstrip(".") if not text.rstrip().endswith("...") else text.strip()
    if depth > _DEEPEST:
        return Form("leaf", text)
    if text in ("∅", "{}", "{ }", "{∅}") or text.lower() in ("empty set", "the empty set"):
        return Form("set")
    if not text:
        return Form("nothing")
    if text == "ℝ" or text.lower() in ("all real numbers", "all reals"):  # noqa: RUF001
        return Form("interval", text, (Form("leaf", "-infinity"), Form("leaf", "infinity")), "()")
    groups = split(text, re.compile(r"\s*;\s*"))
    if len(groups) > 1 and all(len(split(group, re.compile(r","))) > 1 for group in groups):
        return Form("list", text, tuple(_read(group, depth + 1) for group in groups))  # `p=5,q=2; p=7,q=2`
    items = _separated(text)
    if len(items) > 1:
        return _several(items, depth)
    text = items[0] if items else text
    found = _related(text, depth) or _united(text, depth) or _enclosed(text, depth)
    if found is not None:
        return found
    signed = _signs(text)
    if signed is not None:
        return Form("list", text, tuple(_read(each, depth + 1) for each in signed))
    return Form("leaf", text)


_JOINED = re.compile(r"\s*(?:,|;|\b(?:and|or)\b)\s*(?:\b(?:and|or)\b\s*)?")


def _separated(text: str) -> list[str]:
    """What stands between commas, semicolons, `and` and `or` outside brackets. A text of words is not taken apart at words."""
    parts = split(text, re.compile(r"\s*[,;]\s*(?:(?:and|or)\b\s*)?"))
    wordy = any(is_words(part) for part in parts) and not re.search(r"[=<>]", text)
    if not wordy or all(not is_words(piece) for part in parts for piece in _at_words(part)):
        parts = [piece for part in parts for piece in _at_words(part)]
    return [part for part in parts if part] if len(parts) <= _MOST_ITEMS and any(parts) else [text]


def _at_words(text: str) -> list[str]:
    return split(text, re.compile(r"(?:(?<=[\s)\]}0-9])|(?<![A-Za-z]))(?:and|or)(?=[\s(\[{0-9A-Za-z])(?![a-z]{2})\s*"))


def split(text: str, at: re.Pattern[str]) -> list[str]:
    """The parts of a text between the places that match outside brackets."""
    parts, depth, begin, place = [], 0, 0, 0
    while place < len(text):
        mark = text[place]
        depth = max(0, depth + (mark in _OPEN) - (mark in _CLOSE))
        found = at.match(text, place) if depth == 0 else None
        if found and found.end() > place:
            parts.append(text[begin:place].strip())
            begin = place = found.end()
        else:
            place += 1
    return [*parts, text[begin:].strip()]


def is_words(text: str) -> bool:
    """Whether there is a word in it that is no mathematics."""
    product = ":" not in text and _PRODUCT.search(text) is not None
    return any(word not in NAMES and not (len(word) <= 3 and product) for word in re.findall(r"[A-Za-z]{2,}", text))


_PRODUCT = re.compile(r"[0-9+*/^=<>-]")
"""A text with one of these may have products of letters in it: `2xy`."""


def _several(items: Sequence[str], depth: int) -> Form:
    forms: list[Form] = []
    for item in items:
        form = _read(item, depth + 1)
        parts = form.items if form.kind == "list" else (form,)
        forms += [replace(part, name=part.name or form.name) for part in parts]
    name = forms[0].name
    if name and not any(form.name for form in forms[1:]):
        forms = [replace(form, name=name) for form in forms]  # `n=2, 3, 4`
    names = {form.name for form in forms}
    if (both := _between(forms)) is not None:
        return both
    united = all(form.kind in ("interval", "union") for form in forms)
    if united and len(names) == 1 and forms[0].name:
        return _union([part for form in forms for part in (form.items if form.kind == "union" else (form,))], name)
    return Form("list", items=tuple(forms), name=name if len(names) == 1 else None)


def _between(forms: Sequence[Form]) -> Form | None:
    """`x > 1, x < 3` as the interval from 1 to 3. Two bounds that leave nothing between them are two answers."""
    if (
        len(forms) != 2
        or any(form.kind != "interval" or form.name is None for form in forms)
        or forms[0].name != forms[1].name
    ):
        return None
    low = next((form for form in forms if form.items[1].text == "infinity"), None)
    high = next((form for form in forms if form.items[0].text == "-infinity"), None)
    if low is None or high is None:
        return None
    begin, end = amount(low.items[0].text), amount(high.items[1].text)
    if begin is None or end is None or begin.value >= end.value:
        return None
    return Form(
        "interval", items=(low.items[0], high.items[1]), brackets=low.brackets[0] + high.brackets[1], name=low.name
    )


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


_RELATION = re.compile(r"\s*(<=|>=|!=|=<|=>|==|[<>=≈∈])\s*")
_NAME = re.compile(
    r"(?:[A-Za-z]|" + "|".join(sorted((name for name in NAMES if len(name) > 1), key=len, reverse=True)) + r")"
    r"(?:_(?:[A-Za-z0-9]+|\([^()]*\)))?'*(?:\([A-Za-z0-9_, +-]{1,12}\))?\Z"
)
_POINTS = re.compile(
    r"(?:(?:angle|triangle|overline|vec|measure|m|area|volume|length|S|V|P|A)? ?[\s_(]*[A-Z]{1,4}(?:_?\(?[A-Za-z0-9]{1,5}\)?)?\)?[\s°]*)\Z"
)
_NAMED_WORDS = re.compile(r"(?:[A-Za-z]{2,20}\s?){1,3}\Z")


def is_name(text: str) -> bool:
    """Whether this names a thing that an answer may be the value of: `x`, `f(x)`, `|AB|`, `\\angle ABC`, `A:B`, `(x, y)`."""
    text = text.strip()
    if text.startswith("|") and text.endswith("|") and len(text) > 2:
        text = text[1:-1]
    if text[:1] == "(" and text[-1:] == ")" and "," in text:
        return all(is_name(part) for part in re.split(r"[,;]", text[1:-1]))
    parts = re.split(r"[:/]", text)
    return all(bool(_NAME.match(part.strip()) or _POINTS.match(part.strip())) for part in parts) and text not in (
        "e",
        "pi",
        "infinity",
        "infty",
        "inf",
        "oo",
    )


_DENIALS = frozenset(
    listed("not no nor never wrong incorrect false isn isnt cannot except unless without neither none instead")
)


def denies(text: str) -> bool:
    """Whether words in it say that something is not so."""
    return not _DENIALS.isdisjoint(re.findall(r"[a-z]+", text.lower()))


def squeezed(text: str) -> str:
    return re.sub(r"[\s()]|(?<=_)[()]", "", text)


_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}


def _related(text: str, depth: int) -> Form | None:
    parts, signs = _relation_parts(text)
    if not signs:
        return None
    if signs[0] == "∈" and len(signs) == 1 and is_name(parts[0]):
        return replace(_read(parts[1], depth + 1), name=squeezed(parts[0]))
    if all(part for part in parts):
        if set(signs) <= {"=", "≈"}:
            return _equation(text, parts, signs, depth)
        if set(signs) <= {"<", "<=", ">", ">="}:
            found = _inequality(parts, signs, depth)
            if found is not None:
                return _bounded(found) if re.fullmatch(r"\|\w+\|", found.name or "") else found
        if signs == ["!="] and is_name(parts[0]) != is_name(parts[1]):
            name, value = parts if is_name(parts[0]) else parts[::-1]
            ends = Form("leaf", "-infinity"), _read(value, depth + 1), Form("leaf", "infinity")
            sides = [Form("interval", items=ends[i : i + 2], brackets="()") for i in range(2)]
            return replace(_union(sides, squeezed(name)), text=text)
        if len(signs) == 1 and signs[0] in _FLIPPED:
            return Form("relation", text, sides=(parts[0], signs[0], parts[1]))
    if len(signs) == 1 and signs[0] == "≈" and not parts[0]:
        return _read(parts[1], depth + 1)
    return Form("relation", text)


def _relation_parts(text: str) -> tuple[list[str], list[str]]:
    signs: list[str] = []
    parts = split(text, _RELATION)
    if len(parts) > 1:
        at = 0
        for part in parts[:-1]:
            at = text.index(part, at) + len(part)
            found = _RELATION.match(text, at)
            if found is None:
                return [text], []
            signs.append({"=<": "<=", "=>": ">=", "==": "="}.get(found[1], found[1]))
            at = found.end()
    return parts, signs


def _equation(text: str, parts: list[str], signs: list[str], depth: int) -> Form:
    """`x = 5` is 5, named x. Of a chain all members behind the name have to be one value; the last one after ≈ is not asked
    for where there is an exact one."""
    if len(parts) == 2 and signs == ["="] and not is_name(parts[0]) and is_name(parts[1]):
        parts = parts[::-1]
    worded = len(parts) == 2 and _NAMED_WORDS.match(parts[0]) and not denies(parts[0])
    if not is_name(parts[0]) and not worded:
        sides = (parts[0], "=", parts[1]) if len(parts) == 2 and signs == ["="] else None
        return Form("relation", text, sides=sides)
    values = parts[1:]
    if len(values) > 1 and signs[-1] == "≈":
        values = values[:-1]
    value = _read(values[-1], depth + 1)
    if value.kind == "relation":
        return Form("relation", text)
    sides = (parts[0], "=", values[-1])
    named = replace(value, name=squeezed(parts[0]), sides=value.sides or sides)
    if len(values) == 1:
        return named
    return Form("relation", text, items=tuple(_read(each, depth + 1) for each in values), name=named.name, sides=sides)


def _bounded(form: Form) -> Form:
    """Of `1 <= |z| <= 2` the values of z: those of [-2, -1] and [1, 2]."""
    low, high, name = form.items[0].text, form.items[1].text, (form.name or "")[1:-1]
    begin, end = form.brackets[0], form.brackets[1]
    opened, closed = "[" if end == "]" else "(", "]" if begin == "[" else ")"
    if low == "-infinity":
        return Form("interval", items=(_minus(high), form.items[1]), brackets=opened + end, name=name)
    left = Form("interval", items=(_minus(high), _minus(low)), brackets=opened + closed)
    return Form("union", items=(left, Form("interval", items=form.items, brackets=form.brackets)), name=name)


def _minus(text: str) -> Form:
    return Form("leaf", f"-{text}" if re.fullmatch(r"\w+", text) else f"-({text})")


def _inequality(parts: list[str], signs: list[str], depth: int) -> Form | None:
    """The interval of `x <= 3` or of `0 <= x < 1`, named x; None where nothing is named."""
    sides = (parts[0], signs[0], parts[1]) if len(parts) == 2 else None
    if len(parts) == 2:
        if is_name(parts[1]) and not is_name(parts[0]):
            parts, signs = parts[::-1], [_FLIPPED[signs[0]]]
        if not is_name(parts[0]):
            return None
        end, closed, below = parts[1], "=" in signs[0], signs[0][0] == "<"
        low, high = ("-infinity", end) if below else (end, "infinity")
        brackets = ("(" if below or not closed else "[") + (")" if not below or not closed else "]")
    elif len(parts) == 3 and len({sign[0] for sign in signs}) == 1 and is_name(parts[1]):
        if signs[0][0] == ">":
            parts, signs = parts[::-1], [_FLIPPED[sign] for sign in signs[::-1]]
        low, high = parts[0], parts[2]
        brackets = ("[" if "=" in signs[0] else "(") + ("]" if "=" in signs[1] else ")")
        parts = [parts[1]]
    else:
        return None
    ends = (_read(low, depth + 1), _read(high, depth + 1))
    if any(end.kind != "leaf" for end in ends):
        return None
    return Form("interval", items=ends, brackets=brackets, name=squeezed(parts[0]), sides=sides)


def _united(text: str, depth: int) -> Form | None:
    parts = split(text, re.compile(r"\s*(?:∪|(?<=[)\]}])\s*[Uu]\s*(?=[(\[{]))\s*"))  # noqa: RUF001
    if len(parts) < 2:
        return None
    forms = [_read(part, depth + 1) for part in parts]
    return _union(forms, next((form.name for form in forms if form.name), None))


def _union(forms: Sequence[Form], name: str | None) -> Form:
    return Form("union", items=tuple(replace(form, name=None) for form in forms), name=name)


def _enclosed(text: str, depth: int) -> Form | None:
    if text.startswith("matrix[") and _closes(text[6:]):
        rows = [split(row, re.compile(r",")) for row in split(text[7:-1], re.compile(r";"))]
        if len({len(row) for row in rows}) == 1:
            cells = tuple(_read(cell, depth + 1) for row in rows for cell in row)
            return Form("matrix", text, cells, str(len(rows)))
        return None
    if text[:1] not in ("(", "[", "{", "⟨") or text[-1:] not in (")", "]", "}", "⟩") or not _closes(text):
        return None
    brackets, inside = text[0] + text[-1], text[1:-1]
    items = split(inside, re.compile(r"\s*[,;]\s*"))
    if brackets == "{}":
        inner = _read(inside, depth + 1)
        if inner.kind in ("leaf", "list", "tuple"):
            return Form("set", text, inner.items if inner.kind == "list" else (inner,))
        return None
    if len(items) == 1:
        return _read(inside, depth + 1) if brackets == "()" and "±" not in text else None
    if brackets in ("()", "[]", "⟨⟩"):
        forms = tuple(_read(item, depth + 1) for item in items)
        return Form("tuple", text, forms, brackets)
    if brackets in ("[)", "(]") and len(items) == 2:
        return Form("interval", text, tuple(_read(item, depth + 1) for item in items), brackets)
    return None


def _closes(text: str) -> bool:
    """Whether the first bracket is closed by the last mark."""
    depth = 0
    for place, mark in enumerate(text):
        depth += (mark in _OPEN) - (mark in _CLOSE)
        if depth == 0:
            return place == len(text) - 1
    return False


def _signs(text: str) -> tuple[str, str] | None:
    """Both values of a text with one ±."""
    if "±" not in text and "∓" not in text:
        return None
    upper, lower = text.replace("±", "+").replace("∓", "-"), text.replace("±", "-").replace("∓", "+")
    return upper.removeprefix("+").strip(), lower.removeprefix("+").strip()
