"""Equations and inequalities: `x = 5` is 5 and named x, `0 <= x < 1` the interval [0, 1) of x, `x != 3` all but 3."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from kolmocli.tasks.answers.algebra import rounds, variables
from kolmocli.tasks.answers.names import denies, in_order, is_name, squeezed
from kolmocli.tasks.answers.numbers import amount
from kolmocli.tasks.answers.parts import Form, split, union
from kolmocli.tasks.answers.trees import NAMES, formula

Read = Callable[[str], Form]
"""Reads a side."""
_RELATION = re.compile(r"\s*(<=|>=|!=|=<|=>|==|[<>=≈∈])\s*")
_NAMED_WORDS = re.compile(r"[A-Za-z]{2,20}+(?:\s[A-Za-z]{2,20}+){0,2}\Z")
_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}


def related(text: str, read: Read) -> Form | None:
    """Form of an equation or an inequality; None where the text is none."""
    parts, signs = _relation_parts(text)
    if not signs:
        return None
    if signs[0] == "∈" and len(signs) == 1 and is_name(parts[0]):
        return replace(read(parts[1]), name=squeezed(parts[0]))
    if all(part for part in parts):
        if set(signs) <= {"=", "≈"}:
            return _equation(text, parts, signs, read)
        if set(signs) <= {"<", "<=", ">", ">="}:
            found = _inequality(parts, signs, read)
            if found is not None:
                return _bounded(found) if re.fullmatch(r"\|\w+\|", found.name or "") else found
        if signs == ["!="] and is_name(parts[0]) != is_name(parts[1]):
            name, value = parts if is_name(parts[0]) else parts[::-1]
            return replace(all_but([read(value)]), text=text, name=squeezed(name))
        if len(signs) == 1 and signs[0] in _FLIPPED:
            return Form("relation", text, sides=(parts[0], signs[0], parts[1]))
    if len(signs) == 1 and signs[0] in "≈=" and not parts[0]:
        return read(parts[1])
    return Form("relation", text)


def all_but(values: Sequence[Form]) -> Form:
    """The real numbers without some, which are in ascending order."""
    ends = Form("leaf", "-infinity"), *values, Form("leaf", "infinity")
    return union([Form("interval", items=ends[i : i + 2], brackets="()") for i in range(len(ends) - 1)], None)


def between(forms: Sequence[Form]) -> Form | None:
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


def _relation_parts(text: str) -> tuple[list[str], list[str]]:
    signs: list[str] = []
    parts = split(text, _RELATION, signs)
    return parts, [{"=<": "<=", "=>": ">=", "==": "="}.get(sign.strip(), sign.strip()) for sign in signs]


def _equation(text: str, parts: list[str], signs: list[str], read: Read) -> Form:
    """`x = 5` is 5, named x. All members of a chain behind the name have to be one value; the last one after ≈ is not asked
    for where there is an exact one."""
    if len(parts) == 2 and signs == ["="] and not is_name(parts[0]) and is_name(parts[1]):
        parts = parts[::-1]
    if signs == ["≈"] and len(parts) == 2 and _is_rounded(*parts):
        return read(parts[0])  # `sqrt(2) ≈ 1.414`
    worded = (
        len(parts) == 2 and _NAMED_WORDS.match(parts[0]) and not denies(parts[0]) and NAMES.isdisjoint(parts[0].split())
    )
    if not is_name(parts[0]) and not worded:
        sides = (parts[0], "=", parts[1]) if len(parts) == 2 and signs == ["="] else None
        return Form("relation", text, sides=sides)
    values = parts[1:]
    if len(values) > 1 and signs[-1] == "≈":
        values = values[:-1]
    value = read(values[-1])
    if value.kind == "relation":
        return Form("relation", text)
    sides = (parts[0], "=", values[-1])
    named = _told_in_order(replace(value, name=squeezed(parts[0]), sides=value.sides or sides), parts[0])
    if len(values) == 1:
        return named
    return Form("relation", text, items=tuple(read(each) for each in values), name=named.name, sides=sides)


def _is_rounded(text: str, decimal: str) -> bool:
    """Whether a text is a value of which the decimal is the rounded one."""
    tree, number, rounded = formula(text), amount(text), amount(decimal)
    if tree is None or variables(tree) or rounded is None or (number is not None and "/" not in text):
        return False
    return rounds(tree, rounded.value, Fraction(1, 10 ** len(decimal.partition(".")[2])))


def _told_in_order(form: Form, name: str) -> Form:
    """For `(y, x) = (1, 2)` the point (2, 1) of x and y."""
    names = [each.strip() for each in name.strip()[1:-1].split(",")]
    if name.strip()[:1] != "(" or form.kind != "tuple" or len(names) != len(form.items):
        return form
    order = in_order(names)
    return replace(form, items=tuple(form.items[at] for at in order), name=",".join(names[at] for at in order))


def _bounded(form: Form) -> Form:
    """For `1 <= |z| <= 2` the values of z: those of [-2, -1] and [1, 2]."""
    low, high, name = form.items[0].text, form.items[1].text, (form.name or "")[1:-1]
    begin, end = form.brackets[0], form.brackets[1]
    opened, closed = "[" if end == "]" else "(", "]" if begin == "[" else ")"
    if low == "-infinity":
        return Form("interval", items=(_minus(high), form.items[1]), brackets=opened + end, name=name)
    left = Form("interval", items=(_minus(high), _minus(low)), brackets=opened + closed)
    return Form("union", items=(left, Form("interval", items=form.items, brackets=form.brackets)), name=name)


def _minus(text: str) -> Form:
    return Form("leaf", f"-{text}" if re.fullmatch(r"\w+", text) else f"-({text})")


def _inequality(parts: list[str], signs: list[str], read: Read) -> Form | None:
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
    ends = (read(low), read(high))
    if any(end.kind != "leaf" for end in ends):
        return None
    return Form("interval", items=ends, brackets=brackets, name=squeezed(parts[0]), sides=sides)
