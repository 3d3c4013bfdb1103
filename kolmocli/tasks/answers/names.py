"""Meanings of letters: the name of a thing, a word, or a product of variables; and words that deny."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from kolmocli.tasks.answers.parts import closes
from kolmocli.tasks.answers.trees import NAMES
from kolmocli.tasks.answers.words import DENIALS, DOUBTS, listed

_NAME = re.compile(
    r"(?:[A-Za-z]|" + "|".join(sorted((name for name in NAMES if len(name) > 1), key=len, reverse=True)) + r")"
    r"(?:_(?:[A-Za-z0-9]+|\([^()]*\)))?'*(?:\([A-Za-z0-9_, +-]{1,12}\))?\Z"
)
_POINTS = re.compile(
    r"(?:(?:angle|triangle|overline|vec|measure|m|area|volume|length|S|V|P|A)? ?[\s_(]*[A-Z]{1,4}(?:_?\(?[A-Za-z0-9]{1,5}\)?)?\)?[\s°]*)\Z"
)
_DERIVED = re.compile(
    r"\(?(?:d|partial )(?:\^\(?[0-9]\)? ?)?[A-Za-z]?\)?/\(?(?:d|partial )[A-Za-z](?:\^\(?[0-9]\)?)?\)?(?:\|_\([^()]*\))?"
    r"|i{1,3}nt[ _].* d ?[A-Za-z]|lim_\([^()]*\) .+|\[[A-Z]{3,4}\]"
)
"""`dy/dx`, an integral, a limit, the area of a polygon."""
_CALL = re.compile(r"(?:[fghFGHPE]|Pr|Var|det)(?:\^\(-1\))?(?=[(\[])")
_VALUES = ("e", "pi", "infinity", "infty", "inf", "oo")
_PRODUCT = re.compile(r"[0-9+*/^=<>-]")
"""A text with one of these may have products of letters in it: `2xy`."""
_SHORT = frozenset(
    listed(
        "no up on in am pm ok it me he we us is an or at of to by if so as be do yes odd one two six ten red mon tue wed thu fri sat sun jan feb mar apr may jun jul aug"
        " sep oct nov dec tie win won old new all any low big day cat dog man boy her his him she you and for not the but hot dry wet"
        " true four five nine zero left down even none both same blue east west north south"
    )
)
_WORD = re.compile(r"[A-Za-z]{2,}")


def is_name(text: str) -> bool:
    """Whether this names a thing that an answer may be the value of: `x`, `f(x)`, `|AB|`, `\\angle ABC`, `A:B`, `(x, y)`,
    `\\frac{dy}{dx}`, `P(X=2)`."""
    text = text.strip()
    call = _CALL.match(text)
    if _DERIVED.fullmatch(text) or (call and closes(text[call.end() :])):
        return True
    if text.startswith("|") and text.endswith("|") and len(text) > 2:
        text = text[1:-1]
    if text[:1] == "(" and text[-1:] == ")" and "," in text:
        return all(is_name(part) for part in re.split(r"[,;]", text[1:-1]))
    parts = re.split(r"[:/]", text)
    return text not in _VALUES and all(bool(_NAME.match(part.strip()) or _POINTS.match(part.strip())) for part in parts)


def is_words(text: str) -> bool:
    """Whether there is a word in it that is no mathematics."""
    product = ":" not in text and _PRODUCT.search(text) is not None
    return any(
        word not in NAMES and not (product and (len(word) < 3 or (len(word) == 3 and word.lower() not in _SHORT)))
        for word in _WORD.findall(text)
    )


def is_product(text: str) -> bool:
    """Whether two or three small letters are variables side by side: `ab`, `xyz`; but `no` and `cat` are words."""
    return 2 <= len(text) <= 3 and text.isascii() and text.isalpha() and text.islower() and not _is_spoken(text)


def _is_spoken(word: str) -> bool:
    """Whether letters make a word rather than the names of points or variables in their order."""
    word = word.lower()
    if word in _SHORT or len(word) > 6:
        return True
    ordered = all(a < b for a, b in pairwise(word))
    return len(word) > 2 and not ordered and re.search("[aeiouy]", word) is not None


def has_cases(one: str, other: str) -> bool:
    """Whether two texts that are the same but for their case may be two: `ab` and `AB` are, `cat` and `Cat` are not."""
    for a, b in zip(_LETTERS.findall(one), _LETTERS.findall(other), strict=False):
        if a != b and not (_is_spoken(a) or (len(a) > 2 and a[0] != b[0] and a[1:] == b[1:])):
            return True
    return False


_LETTERS = re.compile(r"[^\W\d_]+")


def denies(text: str) -> bool:
    """Whether words in it say that something is not so, or may not be."""
    return not _DENYING.isdisjoint(re.findall(r"[a-z]+", text.lower()))


_DENYING = (DENIALS | DOUBTS) - {"could", "might"}
"""`the number of points that could be in it is 19` is no doubt."""


def squeezed(text: str) -> str:
    return re.sub(r"[\s()]|(?<=_)[()]", "", text)


def in_order(names: Sequence[str]) -> list[int]:
    """The order in which the values of names are told: that of the alphabet, where they are letters that follow each other in
    it, as x and y or a, b and c are; else their own."""
    own = list(range(len(names)))
    if not all(len(name) == 1 and name.isalpha() for name in names):
        return own
    sorted_names = sorted(names)
    follow = all(ord(b) - ord(a) == 1 for a, b in pairwise(sorted_names))
    return sorted(own, key=names.__getitem__) if follow else own


_BLANK = re.compile(r"\s+")
_NEEDLESS = re.compile(r"(?<![0-9],)(?<=\W) | (?=\W)")
"""Blanks that are not between letters or digits. `1, 234` keeps its own: it is no number."""
_BASED = re.compile(r"\A\(([0-9A-Fa-f]+)\)_")
"""`(1010)_2`, a number in base 2."""
_ARTICLE = re.compile(r"\A(?:the|an?) (?=[A-Za-z]{2})", re.IGNORECASE)
_CLOCK = re.compile(r"(?<=[0-9]) ?([ap])\.?m\b\.?", re.IGNORECASE)
_HOUR = re.compile(r"(?<![0-9:])0(?=[0-9]:[0-9]{2})")
_DAY = re.compile(r"(?<=[0-9])(?:st|nd|rd|th)\b")
_CALLED = re.compile(r"(?<=[a-z]{2})!+\Z", re.IGNORECASE)


def folded(text: str) -> str:
    """Text to compare: without blanks but those that part letters and digits."""
    text = _BASED.sub(r"\1_", _NEEDLESS.sub("", _BLANK.sub(" ", text.strip())))
    inside = text[1:-1]
    return inside if len(inside) == 1 and text[0] + text[-1] in ("()", "[]", "{}") else text


def same_text(given: str, right: str) -> bool:
    """Whether two texts are one. Words match in any case, with or without an article."""
    one, other = folded(given), folded(right)
    if one == other:
        return True
    one, other = (_HOUR.sub("", _CLOCK.sub(r"\1m", each)) for each in (one, other))
    if one == other:
        return True
    if not is_words(other) or abs(len(one) - len(other)) > 5:
        return False
    one, other = (_ARTICLE.sub("", _DAY.sub("", _CALLED.sub("", each))) for each in (one, other))
    return one == other or (one.casefold() == other.casefold() and not has_cases(one, other))
