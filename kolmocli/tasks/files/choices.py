"""Questions with choices: the choices as they are shown, and the answers that are right, a letter first."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from kolmocli.seeds import content_key
from kolmocli.tasks.answers.comparison import bare, same
from kolmocli.tasks.answers.numbers import amount
from kolmocli.tasks.files.values import structured

_LABELLED = re.compile(r"\s*\(?([A-Za-z]|[0-9])\s*[).:]\s*(.*)", re.DOTALL)
_IN_A_ROW = re.compile(r"\b([a-z])\s*\)\s*(.*?)\s*(?=,\s*[a-z]\s*\)|\Z)", re.DOTALL)
"""MathQA's `a ) 38 , b ) 27`."""


def read_choices(value: Any) -> list[tuple[str, str]]:
    """(label, text) of each choice. Raises ValueError for what are none."""
    if isinstance(value, str):
        found = structured(value)
        value = found if found is not None else [f"{label}) {text}" for label, text in _IN_A_ROW.findall(value)]
    if isinstance(value, Mapping):
        if isinstance(value.get("text"), list):
            named = value.get("label") or list(ascii_uppercase)
            return [(str(label), str(text)) for label, text in zip(named, value["text"], strict=False)]
        value = [{"label": label, "text": text} for label, text in value.items() if text is not None]
    while isinstance(value, list) and value[-1:] == [None]:  # of a table, whose lists are all as long as the longest
        value = value[:-1]
    if not isinstance(value, list) or not 2 <= len(value) <= len(ascii_uppercase):
        raise ValueError(f"no list of 2 to {len(ascii_uppercase)} choices")
    labels: list[Any] = list(ascii_uppercase)
    if is_labelled := all(isinstance(each, Mapping) for each in value):
        labels = [each.get("label", each.get("key", labels[i])) for i, each in enumerate(value)]
        value = [each.get("text", each.get("value")) for each in value]
    if None in value:
        raise ValueError("a list with a choice that has no text")
    texts = [str(each) for each in value]
    if is_labelled:
        return list(zip(map(str, labels), texts, strict=True))
    found = [_LABELLED.fullmatch(text) for text in texts]
    if all(found) and [each[1].upper() for each in found if each] == list(ascii_uppercase[: len(texts)]):
        return [(each[1].upper(), each[2].strip()) for each in found if each]
    return list(zip(ascii_uppercase, texts, strict=False))


def mixed(right: str, wrong: Sequence[str]) -> list[str]:
    """The right one among the others, in an order of their own that says nothing."""
    return sorted([right, *wrong], key=content_key)


def shown(choices: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"{label}. {text}" for label, text in choices)


def right_answers(choices: Sequence[tuple[str, str]], right: Any, first: int = 0) -> list[str]:
    """The label of the right choice, and its text where that is no other's label. `right` is its label, its text, or its
    number, where that of the first choice is `first`.

    Raises:
        ValueError: it is none of them.
    """
    labels, texts = [label for label, _ in choices], [text.strip() for _, text in choices]
    if isinstance(right, list) and len(right) == 1:
        right = right[0]
    if isinstance(right, float) and right.is_integer():  # of a table, in which some row has none
        right = int(right)
    said = str(right).strip()
    if isinstance(right, str) and said.upper() in (label.upper() for label in labels):
        at = [label.upper() for label in labels].index(said.upper())
    elif isinstance(right, str) and not first and texts.count(said) == 1:
        at = texts.index(said)
    elif said.isdecimal() and not isinstance(right, bool) and first <= int(said) < len(choices) + first:
        at = int(said) - first
    elif texts.count(said) == 1:
        at = texts.index(said)
    elif (
        (found := _LABELLED.fullmatch(said))
        and found[1] in labels
        and found[2].strip() in ("", texts[labels.index(found[1])])
    ):
        at = labels.index(found[1])
    else:
        raise ValueError(f"the answer {said[:40]!r} is none of the choices")
    label, text = choices[at]
    others = [other for i, (_, other) in enumerate(choices) if i != at]
    alone = text.strip() and text.strip().upper() not in (each.upper() for each in labels)
    return [label, text.strip()] if alone and not any(_alike(text, other) for other in others) else [label]


def _alike(one: str, other: str) -> bool:
    """Whether some answer could be both: they are one answer, or one number with two units, of which an answer may have none."""
    a, b = amount(bare(one)), amount(bare(other))
    return same(one, other) or same(other, one) or (a is not None and b is not None and a.value == b.value)
