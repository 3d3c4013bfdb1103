"""The number that a short text is: exact, never by way of floating point.

`1,234`, `1 234`, `3/4`, `1 1/2`, `2.5e3`, `2.5 * 10^3`, `$12`, `12 %`, `3 million`, `40 km/h`. A unit is taken off and
not compared; a letter that may be a variable (`2x`) or a constant (`2 pi`) is no unit, and then the text is no number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

_MOST_DIGITS = 60
_PLAIN = r"(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]{1,3}(?: [0-9]{3})+(?![0-9/])|[0-9]++)(?:\.[0-9]*+)?|\.[0-9]++"
_SCIENCE = r"(?:[eE](?P<e>[+-]?[0-9]{1,3})(?![0-9])| ?[*x×] ?10\^\(?(?P<ten>[+-]?[0-9]{1,3})\)?)"
_NUMBER = (
    r"(?P<sign>[+-]?)(?:[$€£¥] ?)?(?P<minus>-?)"
    rf"(?:(?P<whole>[0-9]++) (?P<part>[0-9]++)/(?P<of>[0-9]++)|"
    rf"\(?(?P<above>-?(?:{_PLAIN}))\)? ?/ ?\(?(?P<below>-?(?:{_PLAIN}))\)?|"
    rf"(?P<plain>{_PLAIN}){_SCIENCE}?)"
)
_FOUND = re.compile(_NUMBER)
_IN_TEXT = re.compile(rf"(?<![\w.,/]){_NUMBER}(?: ?(?:%|percent\b))?")
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_PERCENT = re.compile(r"(?:%|per ?cent\b)")
_WORD = r"[A-Za-z°µ]+\.?(?:\^\(?-?[0-9]\)?|[²³])?"
_UNIT = re.compile(rf"{_WORD}(?:(?: ?[/*·] ?| per | |-){_WORD}){{0,3}}\Z")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ATTACHED = _words(
    "km cm mm µm nm kg mg ml cl dl ms ns mi min hr hrs sec ft in yd lb lbs oz mph kph kmh km/h m/s hz khz mhz kb mb gb"
    " °c °f °"
)
"""Units that may stand at a number without a blank. Single letters may not: they could be variables."""
_LETTERS = _words("m g s h l J N W V A K C F L Ω")
_NO_UNITS = _words(
    "pi e i sqrt sin cos tan log ln exp or and is are was not to than more less if but as plus minus times so mod"
)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number, and whether a percent sign stands at it."""

    value: Fraction
    percent: bool = False

    def equals(self, other: Amount) -> bool:
        """50 % is 50 with its unit, and a half."""
        if self.percent == other.percent:
            return self.value == other.value
        percentage, bare = (self, other) if self.percent else (other, self)
        return bare.value in (percentage.value, percentage.value / 100)


def amount(text: str) -> Amount | None:
    """The number that a text without LaTeX is, whole; None when it is none."""
    found = _FOUND.match(text)
    if found is None:
        return None
    value, rest = _value(found), text[found.end() :]
    if value is None:
        return None
    percent = _PERCENT.match(rest.lstrip())
    if percent:
        rest = rest.lstrip()[percent.end() :]
    word, _, after = rest.strip().partition(" ")
    if word.lower() in _SCALES:
        value, rest = value * _SCALES[word.lower()], f" {after}" if after else ""
    return Amount(value, percent is not None) if _is_unit(rest) else None


def last_number(text: str) -> str | None:
    """The last number in a text, with its percent sign."""
    return next((found[0].strip() for found in reversed(list(_IN_TEXT.finditer(text)))), None)


def first_number(text: str) -> str | None:
    found = _IN_TEXT.search(text)
    return found and found[0].strip()


def _is_unit(rest: str) -> bool:
    """Whether what follows a number is nothing, or a unit."""
    unit = rest.strip()
    if not unit:
        return True
    if not rest[0].isspace() and unit.lower() not in _ATTACHED and not unit.startswith("°"):
        return False
    words = re.findall(r"[A-Za-zµΩ°]+", unit)
    return bool(_UNIT.match(unit)) and all(
        word.lower() not in _NO_UNITS and (len(word) > 1 or word in _LETTERS or word == "°") for word in words
    )


def _value(found: re.Match[str]) -> Fraction | None:
    part = found.groupdict()
    if sum(map(str.isdigit, found[0])) > _MOST_DIGITS:
        return None
    sign = -1 if "-" in (part["sign"], part["minus"]) else 1
    if part["whole"] is not None:
        if int(part["part"]) >= int(part["of"]):  # no mixed number: two numbers side by side
            return None
        return sign * (int(part["whole"]) + Fraction(int(part["part"]), int(part["of"])))
    if part["above"] is not None:
        below = _decimal(part["below"])
        return sign * _decimal(part["above"]) / below if below else None
    power = int(part["e"] or part["ten"] or 0)
    return sign * _decimal(part["plain"]) * Fraction(10) ** power


def _decimal(text: str) -> Fraction:
    return Fraction(text.replace(",", "").replace(" ", "").rstrip("."))
