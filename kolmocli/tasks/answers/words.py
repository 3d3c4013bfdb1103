"""Whole numbers and parts in English words: `two`, `twenty-one`, `one hundred and five`, `a third`; and words that take back
what is said with them."""

from __future__ import annotations

import re
from fractions import Fraction


def listed(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


_ONES = {
    word: value
    for value, word in enumerate(
        listed(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
            "eighteen nineteen"
        )
    )
}
_TENS = {
    word: 10 * value
    for value, word in enumerate(listed("twenty thirty forty fifty sixty seventy eighty ninety"), start=2)
}
SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
GROUPS = {
    **{f"{scale}s": value for scale, value in SCALES.items()},
    **{name + end: value for name, value in (("dozen", 12), ("lakh", 10**5), ("crore", 10**7)) for end in ("", "s")},
    "tens": 10,
}
"""More words that multiply the number before them."""
PARTS = {
    word: value
    for value, word in enumerate(listed("half third fourth fifth sixth seventh eighth ninth tenth"), start=2)
} | {"halve": 2, "quarter": 4}
"""`two thirds` without its plural."""
NUMBERS = frozenset(_ONES | _TENS | SCALES | GROUPS | PARTS) | {f"{part}s" for part in PARTS}
DENIALS = frozenset(
    listed(
        "not no nor never wrong incorrect false isn isnt cannot except unless without neither none instead rather invalid rejected "
        "reject extraneous excluded excluding impossible discarded discard ruled nope untrue contradiction inadmissible"
    )
)
DOUBTS = frozenset(
    listed(
        "maybe perhaps probably possibly likely unlikely unsure uncertain unknown guess guessing hopefully might could seems hmm hm "
        "wait actually think suppose supposedly presumably ish"
    )
)
_WORD = "|".join([*sorted(_ONES, key=len, reverse=True), *_TENS, *SCALES])
_LEADING = re.compile(
    rf"(?:minus |negative )?(?:{_WORD})(?:(?:-| |(?<=hundred|housand|million) and )(?:{_WORD}))*\b", re.IGNORECASE
)
_PART = "|".join(sorted(PARTS, key=len, reverse=True))
_SHARE = re.compile(
    rf"(?:(?:(?P<one>an?|one) |(?P<some>{'|'.join(_ONES)}|[0-9]{{1,2}})[ -])(?P<part>{_PART})s?|one-(?P<joined>{_PART})|half)\b",
    re.IGNORECASE,
)
_BEHIND = re.compile(rf" and (?={_SHARE.pattern})", re.IGNORECASE)


def leading_words(text: str) -> tuple[int, int] | None:
    """(the whole number in words with which a text begins, where it ends); None without one, or where the words make none."""
    found = _LEADING.match(text[:120])
    if found is None:
        return None
    words = [word for word in re.split(r"[ -]+", found[0].lower()) if word != "and"]
    negative = words[0] in ("minus", "negative")
    value = _value(words[negative:])
    return None if value is None else (-value if negative else value, found.end())


def leading_share(text: str) -> tuple[Fraction, int] | None:
    """(the part in words with which a text begins, where it ends): `half`, `a third`, `two thirds`. A `third` alone is none."""
    found = _SHARE.match(text[:120])
    if found is None:
        return None
    some = (found["some"] or "one").lower()
    part = (found["part"] or found["joined"] or "half").lower()
    return Fraction(int(some) if some.isdigit() else _ONES[some], PARTS[part]), found.end()


def added_share(text: str, end: int) -> tuple[Fraction, int] | None:
    """(the part that stands behind `and`, where it ends): of `two and a half`, where the number ends at 3."""
    found = _BEHIND.match(text, end)
    share = leading_share(text[found.end() :]) if found else None
    return None if share is None or found is None or share[0] >= 1 else (share[0], found.end() + share[1])


def _value(words: list[str]) -> int | None:
    total, part, last = 0, 0, 10**15
    room = 10**15
    for word in words:
        if word in ("thousand", "million", "billion", "trillion"):
            scale = SCALES[word]
            if not part or scale >= last:
                return None
            total, part, last, room = total + part * scale, 0, scale, 10**15
        elif word == "hundred":
            if not 0 < part < 10:
                return None
            part, room = part * 100, 100
        else:
            value = _ONES.get(word, _TENS.get(word, 0))
            if value >= room or (value == 0 and len(words) > 1):
                return None
            part, room = part + value, 10 if word in _TENS else 0
    return total + part
