"""The number that a short text is: exact, never by way of floating point.

`1,234`, `1 234`, `3/4`, `1 1/2`, `2.5e3`, `2.5 * 10^3`, `$12`, `12 %`, `3 million`, `40 km/h`. A unit is taken off and
not compared; a letter that may be a variable (`2x`) or a constant (`2 pi`) is no unit, and then the text is no number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from kolmocli.tasks.answers.units import is_unit, meanings
from kolmocli.tasks.answers.words import GROUPS, SCALES, added_share, leading_share, leading_words

_MOST_DIGITS = 60
_PLAIN = (
    r"(?:[1-9][0-9]{0,2}(?:,[0-9]{3})+(?![0-9])|[0-9]{1,3}(?: [0-9]{3})+(?![0-9/])|[0-9]{1,3}(?:['’][0-9]{3})+(?![0-9])|[0-9]++)"  # noqa: RUF001
    r"(?:\.[0-9]*+)?|\.[0-9]++"
)
_SCIENCE = r"(?:[eE](?P<e>[+-]?[0-9]{1,3})(?![0-9])| ?[*x×] ?10(?:\^|\*\*)\(?(?P<ten>[+-]?[0-9]{1,3})\)?)"
_MONEY = r"(?P<money>(?:US|CA|AU|HK|NZ|C|A) ?\$|USD|EUR|GBP|INR|JPY|CNY|RMB|CHF|CAD|AUD|Rs\.?|[$€£¥₹₩₽])"
_MONEY_BEHIND = frozenset("$€£¥₹₩₽¢元")
_NUMBER = (
    rf"(?:(?P<sign>[+-]) ?)?(?:{_MONEY} ?)?(?P<minus>-?)"
    rf"(?:(?P<whole>[0-9]++) (?P<part>[0-9]++)/(?P<of>[0-9]++)|"
    rf"\(?(?P<above>-?(?:{_PLAIN}))\)? ?/ ?\(?(?P<below>-?(?:{_PLAIN}))\)?|"
    r"(?P<fixed>[0-9]*+)\.(?P<once>[0-9]*)(?:overline)?\((?P<again>[0-9]+)\)|"
    rf"(?P<plain>{_PLAIN}){_SCIENCE}?)"
)
_FOUND = re.compile(_NUMBER)
_IN_TEXT = re.compile(rf"(?<![\w.,/])(?:[0-9]{{1,6}},[0-9]{{2}}(?![0-9.,])|{_NUMBER})(?: ?(?:%|percent\b))?")
_SIGN = re.compile(rf"[+-]? ?(?:{_MONEY} ?)?")
_SIGNED = re.compile(r"(?:minus|negative) (?=[0-9.$€£])", re.IGNORECASE)
_A_SCALE = re.compile(r"\Aan? (?=(?:hundred|thousand|million|billion|dozen)\b)", re.IGNORECASE)
_NONE: frozenset[str] = frozenset()
_PERCENT = re.compile(r"(?:%|per ?cent(?:age)?(?: points?)?\b|pct\b)")
_ELSEWHERE = (
    (re.compile(r"[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]+)?(?![0-9,])"), str.maketrans("", "", ",")),  # India
    (re.compile(r"(?:[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]{1,9}|[0-9]+,(?:[0-9]{2}|[0-9]{4,9}))(?![0-9.,])"),
     str.maketrans(",", ".", ".")),  # much of Europe
    (re.compile(r"[0-9]{1,3}(?:\.[0-9]{3}){2,}(?![0-9.,])"), str.maketrans("", "", ".")),
    (re.compile(r"[0-9]{1,3}(?:_[0-9]{3})+(?![0-9_])"), str.maketrans("", "", "_")),
    (re.compile(r"[0-9]{1,3}(?: [0-9]{3})+,[0-9]{1,2}(?![0-9.,])"), str.maketrans(",", ".", " ")),
    (re.compile(r"0,[0-9]{1,9}(?![0-9.,])"), str.maketrans(",", ".")),
)  # fmt: skip
"""Numbers as other countries write them. Text that could also be a list of two numbers (`3,4`) or thousands is not among them."""
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b")


_LAST_BIT = Fraction(1, 2**52)
_MARKS = str.maketrans("", "", ", '’")  # noqa: RUF001
_PRINTED = 15
"""Digits of a decimal that stands for a fraction which no decimal is: as many as a computer prints of it."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A number, whether a percent sign stands at it, and what its unit may be, where that is a known one."""

    value: Fraction
    percent: bool = False
    units: frozenset[str] = frozenset()

    def equals(self, other: Amount) -> bool:
        """Whether a given number is the `other`, right one. 50 % is 50 with its unit, and a half; but where 0.5 is right, 0.5 %
        is not."""
        if self.units and other.units and self.units.isdisjoint(other.units):
            return False
        if self.percent == other.percent:
            return self.value == other.value or self._rounds(other)
        percentage, bare = (self, other) if self.percent else (other, self)
        if bare.units:
            return False
        return bare.value == percentage.value / 100 or (
            bare.value == percentage.value and (other.percent or not 0 < abs(bare.value) < 1)
        )

    def _rounds(self, other: Amount) -> bool:
        """A fraction that no decimal is may be written with as many digits as a computer prints."""
        if _places(other.value) is not None or (places := _places(self.value)) is None:
            return False
        digits = len(str(abs(self.value.numerator) * 10**places // self.value.denominator))
        close = max(Fraction(1, 10**places), abs(other.value) * _LAST_BIT)
        return digits >= _PRINTED and abs(self.value - other.value) < close


def _places(value: Fraction) -> int | None:
    """Digits behind the point of a decimal; None for what is none."""
    left, places = value.denominator, [0, 0]
    for at, factor in enumerate((2, 5)):
        while left % factor == 0:
            left, places[at] = left // factor, places[at] + 1
    return max(places) if left == 1 else None


def amount(text: str, *, foreign: bool = False) -> Amount | None:
    """The number that a text without LaTeX is, whole; None when it is none. With `foreign` as other countries write it, too."""
    text = _A_SCALE.sub("one ", text)
    if text[:1].isalpha() and (signed := _SIGNED.match(text)):
        text = f"-{text[signed.end() :]}"
    found = _FOUND.match(text)
    value, end = (None, 0) if found is None else (_value(found), found.end())
    money = found["money"] or "" if found is not None else ""
    if foreign and (value is None or text[end : end + 1] in (",", ".", "_")):
        sign = _SIGN.match(text)
        start = sign.end() if sign else 0
        for pattern, table in _ELSEWHERE:
            if (other := pattern.match(text, start)) and len(other[0]) <= _MOST_DIGITS:
                value, end = Fraction(other[0].translate(table)) * (-1 if "-" in text[:start] else 1), other.end()
                money = sign["money"] or "" if sign else ""
                break
    if value is None and (share := leading_share(text)) is not None:
        value, end = share
    elif value is None and (worded := leading_words(text)) is not None:
        value, end = Fraction(worded[0]), worded[1]
    if value is None:
        return None
    if value.denominator == 1 and value >= 0 and (more := added_share(text, end)) is not None:
        value, end = value + more[0], more[1]
    return _with_unit(value, text[end:], money)


def _with_unit(value: Fraction, rest: str, money: str) -> Amount | None:
    """A number and what follows it, where that is a percent sign, a scale, money or a unit."""
    percent = _PERCENT.match(rest.lstrip())
    if percent:
        rest = rest.lstrip()[percent.end() :]
    word, _, after = rest.strip().partition(" ")
    scale = (SCALES | GROUPS).get(word.lower())
    if scale is not None and rest[:1].isspace():
        value, rest = value * scale, f" {after}" if after else ""
    elif (ordinal := _ORDINAL.match(rest)) and value.denominator == 1:
        rest = rest[ordinal.end() :]
    if rest.strip() in _MONEY_BEHIND:
        money, rest = rest.strip(), ""
    if not is_unit(rest) or (money and re.search(r"\b[A-Za-z]\b", rest)):  # `$5 K`
        return None
    return Amount(
        value, percent is not None, meanings(money.replace(" ", "")) if money else meanings(rest) if rest else _NONE
    )


def last_number(text: str) -> str | None:
    """The last number in a text, with its percent sign."""
    return next((found[0].strip() for found in reversed(list(_IN_TEXT.finditer(text)))), None)


def first_number(text: str) -> str | None:
    found = _IN_TEXT.search(text)
    return found and found[0].strip()


def _value(found: re.Match[str]) -> Fraction | None:
    part = found.groupdict()
    if sum(map(str.isdigit, found[0])) > _MOST_DIGITS:
        return None
    if part["sign"] and part["minus"]:
        return None
    sign = -1 if "-" in (part["sign"], part["minus"]) else 1
    if part["whole"] is not None:
        if int(part["part"]) >= int(part["of"]):  # no mixed number: two numbers side by side
            return None
        return sign * (int(part["whole"]) + Fraction(int(part["part"]), int(part["of"])))
    if part["above"] is not None:
        below = _decimal(part["below"])
        return sign * _decimal(part["above"]) / below if below else None
    if part["again"] is not None:
        once, again = part["once"], part["again"]
        return sign * (
            int(part["fixed"] or 0)
            + Fraction(int(once + again) - int(once or 0), (10 ** len(again) - 1) * 10 ** len(once))
        )
    power = int(part["e"] or part["ten"] or 0)
    return sign * _decimal(part["plain"]) * Fraction(10) ** power


def _decimal(text: str) -> Fraction:
    return Fraction(text.translate(_MARKS).rstrip("."))
