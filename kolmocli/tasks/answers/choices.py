"""One of several letters: `A`, `(A)`, `A. 5 km`, `Option A`; and several of them, `A, C`.

A letter with its text is that letter. Two letters are no answer where one is asked for.
"""

from __future__ import annotations

import re

from kolmocli.tasks.answers.words import DENIALS, DOUBTS

_LETTERS = "A-J"
_ONE = re.compile(rf"\(?(?P<letter>[{_LETTERS}])\)?\.?\Z")
_LABEL = re.compile(
    r"(?:(?:the )?(?:correct |right |final )?(?:option|choice|answer)(?: is)?:? ?)?"
    r"(?:\((?P<round>[A-Za-z])\)|\[(?P<square>[A-Za-z])\]|(?P<bare>[A-Za-z])(?P<mark>[).]|:(?![A-Za-z])|(?=\s*\Z)|(?= ?- )))(?P<rest>.*)\Z",
    re.IGNORECASE | re.DOTALL,
)
_ANOTHER = re.compile(
    rf"(?<![\w.])(?:\([{_LETTERS}]\)|[{_LETTERS}][).:](?!\d)|(?:or|and|not|,|/|&) *\(?[{_LETTERS}]\)?(?![\w'])|[{_LETTERS}] *\Z)"
)
_SMALL = re.compile(r"(?<!\w)\([a-j]\)|(?<![\w.(])[a-j](?:\)|\.(?=\s+\S))")
"""Another label behind a small one: `(a) 5 km (b) 6 km`."""
_AGAIN = re.compile(rf"(?:or|and|not|,|/|&)\b|[{_LETTERS}](?![A-Za-z'])")
_JUDGED = re.compile(
    r"(?:is|isn't|are|was|can|cannot|could|would|might|may)\b(?! (?:the )?(?:correct|right|answer))", re.IGNORECASE
)
"""Words after a letter that begin a sentence about it, and no text of a choice."""
_WITH_TEXT = re.compile(rf"\(([{_LETTERS}])\)[:.]? ?(\S.*)\Z", re.DOTALL)
_SEVERAL = re.compile(rf"[{_LETTERS}](?:(?:\s*(?:,|;|and|&)\s*)+[{_LETTERS}])+\Z")
_RUN = re.compile(rf"[{_LETTERS}]{{2,6}}\Z")
_INTRODUCED = re.compile(r"\A(?:both|(?:the )?(?:correct )?(?:option|choice|answer)s?(?: is| are)?:?) ", re.IGNORECASE)
_BRACKETED = re.compile(rf"\(([{_LETTERS}])\)")


def letters_of(right: str) -> frozenset[str] | None:
    """The letters that a right answer is; None where it is no choice. A run of several has to be in order: `AC`."""
    found = _ONE.match(right)
    if found:
        return frozenset(found["letter"])
    if _SEVERAL.match(right):
        return frozenset(re.findall(rf"[{_LETTERS}]", re.sub("and", "", right)))
    if _RUN.match(right) and list(right) == sorted(set(right)):
        return frozenset(right)
    return None


def chosen(given: str) -> frozenset[str] | None:
    """The letters that an answer chooses, in capitals; None where it chooses none, or more than it says."""
    text = given.strip()
    if (several := letters_of(text.upper() if len(text) == 1 else text) or _list_of(text)) is not None:
        return several
    found = _LABEL.match(text)
    if found is None:
        return None
    rest = found["rest"].strip()
    said = rest.lstrip(" .:")
    if _ANOTHER.search(rest) or _AGAIN.match(said) or _JUDGED.match(said):
        return None
    label = found["round"] or found["square"] or found["bare"]
    if label.islower() and _SMALL.search(rest):
        return None
    words = re.findall(r"[a-z]+", said.lower())
    if words and (DENIALS | DOUBTS).issuperset(words):
        return None
    return frozenset(label.upper())


def labelled(text: str) -> tuple[str, str] | None:
    """(the letter, the text) of `(C) 15`, as data sets have answers; None for what is no one choice with its text."""
    found = _WITH_TEXT.match(text)
    return None if found is None or _ANOTHER.search(found[2]) else (found[1], found[2])


def _list_of(text: str) -> frozenset[str] | None:
    """`(A), (C)`, `{A, C}`, and `CA`, a run in another order."""
    plain = _BRACKETED.sub(r"\1", _INTRODUCED.sub("", text.removeprefix("{").removesuffix("}").strip()))
    if _SEVERAL.match(plain):
        return letters_of(plain)
    return frozenset(text) if _RUN.match(text) and len(set(text)) == len(text) else None
