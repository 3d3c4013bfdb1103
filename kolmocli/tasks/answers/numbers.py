"""The number that a short text is: exact, never by way of floating point.

`1,234`, `1 234`, `3/4`, `1 1/2`, `2.5e3`, `2.5 * 10^3`, `$12`, `12 %`, `3 million`, `40 km/h`. A unit is taken off and
not compared; a letter that may be a variable (`2x`) or a constant (`2 pi`) is no unit, and then the text is no number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from kolmocli.tasks.answers.words import PARTS, SCALES, leading_words, listed

_MOST_DIGITS = 60
_PLAIN = (
    r"(?:[1-9][0-9]{0,2}(?:,[0-9]{3})+(?![0-9])|[0-9]{1,3}(?: [0-9]{3})+(?![0-9/])|[0-9]{1,3}(?:'[0-9]{3})+(?![0-9])|[0-9]++)"
    r"(?:\.[0-9]*+)?|\.[0-9]++"
)
_SCIENCE = r"(?:[eE](?P<e>[+-]?[0-9]{1,3})(?![0-9])| ?[*x×] ?10\^\(?(?P<ten>[+-]?[0-9]{1,3})\)?)"
_MONEY = r"(?:(?:US|CA|AU|HK|NZ) ?\$|USD|EUR|GBP|INR|JPY|CNY|RMB|CHF|CAD|AUD|Rs\.?|[$€£¥₹₩₽])"
_NUMBER = (
    rf"(?:(?P<sign>[+-]) ?)?(?:{_MONEY} ?)?(?P<minus>-?)"
    rf"(?:(?P<whole>[0-9]++) (?P<part>[0-9]++)/(?P<of>[0-9]++)|"
    rf"\(?(?P<above>-?(?:{_PLAIN}))\)? ?/ ?\(?(?P<below>-?(?:{_PLAIN}))\)?|"
    r"(?P<fixed>[0-9]*+)\.(?P<once>[0-9]*)(?:overline)?\((?P<again>[0-9]+)\)|"
    rf"(?P<plain>{_PLAIN}){_SCIENCE}?)"
)
_FOUND = re.compile(_NUMBER)
_IN_TEXT = re.compile(rf"(?<![\w.,/])(?:[0-9]{{1,6}},[0-9]{{2}}(?![0-9.,])|{_NUMBER})(?: ?(?:%|percent\b))?")
_PERCENT = re.compile(r"(?:%|per ?cent(?:age)?(?: points?)?\b|pct\b)")
_ELSEWHERE = (
    (re.compile(r"[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]+)?(?![0-9,])"), str.maketrans("", "", ",")),  # India
    (re.compile(r"(?:[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]{1,9}|[0-9]+,(?:[0-9]{2}|[0-9]{4,9}))(?![0-9.,])"),
     str.maketrans(",", ".", ".")),  # much of Europe
    (re.compile(r"[0-9]{1,3}(?:\.[0-9]{3}){2,}(?![0-9.,])"), str.maketrans("", "", ".")),
    (re.compile(r"[0-9]{1,3}(?:_[0-9]{3})+(?![0-9_])"), str.maketrans("", "", "_")),
    (re.compile(r"0,[0-9]{1,9}(?![0-9.,])"), str.maketrans(",", ".")),
)  # fmt: skip
"""Numbers as other countries write them. What could also be a list of two numbers (`3,4`) or thousands is not among them."""
_WORD = r"[A-Za-z°µ]+\.?(?:\^\(?-?[0-9]\)?|[²³])?"
_UNIT = re.compile(rf"{_WORD}(?:(?: ?[/*·] ?| per | |-){_WORD}){{0,3}}\Z")
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b")


def _words(text: str) -> frozenset[str]:
    return frozenset(listed(text))


_ATTACHED = _words(
    "km cm mm µm nm kg mg ml cl dl ms ns mi min hr hrs sec ft in yd lb lbs oz mph kph kmh km/h m/s hz khz mhz kb mb gb"
    " °c °f ° m^2 m^3 cm^2 cm^3 km^2 mm^2 ft^2 in^2 usd eur"
)
"""Units that may stand at a number without a blank. Single letters may not: they could be variables."""
_LETTERS = _words("m g s h l J N W V A K C F L Ω")
_NO_UNITS = _words(
    "pi e i sqrt sin cos tan log ln exp or and is are was not to than more less if but as plus minus times so mod fewer"
    " below above under over short negative modulo base choose power root wrong incorrect except without infinity"
    " alpha beta gamma delta theta lambda mu omega sigma phi rho tau maybe perhaps between until approximately either neither"
    " hundred thousand million billion trillion bn mn mio mrd dozen dozens gross score permille bps divided multiplied"
)
"""Words of which none may stand behind a number: they change it, say that it is not the answer, or are variables."""
_CHANGING = _words(
    "cubed squared factorial square cube half halves third thirds quarter quarters fourth fourths fifth fifths sixth sixths"
    " seventh sevenths eighth eighths ninth ninths tenth tenths hundredth hundredths thousandth thousandths millionth millionths"
    " inverse conjugate double doubled triple tripled twice"
)
"""Words that change a number where they alone stand behind it, or first: 8 cubed is no 8, and 8 square meters are."""


_ROUNDED = Fraction(1, 10**12)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number, and whether a percent sign stands at it."""

    value: Fraction
    percent: bool = False

    def equals(self, other: Amount) -> bool:
        """Whether a given number is the `other`, right one. 50 % is 50 with its unit, and a half."""
        if self.percent == other.percent:
            return self.value == other.value or self._rounds(other)
        percentage, bare = (self, other) if self.percent else (other, self)
        return bare.value in (percentage.value, percentage.value / 100)

    def _rounds(self, other: Amount) -> bool:
        """A fraction that no decimal is may be written as one with as many digits as a computer prints."""
        return (
            _is_decimal(self.value)
            and not _is_decimal(other.value)
            and abs(self.value - other.value) <= abs(other.value) * _ROUNDED
        )


def _is_decimal(value: Fraction) -> bool:
    left = value.denominator
    for factor in (2, 5):
        while left % factor == 0:
            left //= factor
    return left == 1


def amount(text: str, *, foreign: bool = False) -> Amount | None:
    """The number that a text without LaTeX is, whole; None when it is none. With `foreign` as other countries write it, too."""
    found = _FOUND.match(text)
    value, end = (None, 0) if found is None else (_value(found), found.end())
    if foreign and (value is None or text[end : end + 1] in (",", ".", "_")):
        sign = re.match(rf"[+-]? ?(?:{_MONEY} ?)?", text)
        start = sign.end() if sign else 0
        for pattern, table in _ELSEWHERE:
            if (other := pattern.match(text, start)) and len(other[0]) <= _MOST_DIGITS:
                value, end = Fraction(other[0].translate(table)) * (-1 if "-" in text[:start] else 1), other.end()
                break
    if value is None and (worded := leading_words(text)) is not None:
        value, end = Fraction(worded[0]), worded[1]
        part = PARTS.get(text[end:].strip(" -").lower().removesuffix("s"))
        if part is not None:
            return Amount(value / part)
    if value is None:
        return None
    return _with_unit(value, text[end:])


def _with_unit(value: Fraction, rest: str) -> Amount | None:
    """A number and what follows it, where that is a percent sign, a scale, money or a unit."""
    percent = _PERCENT.match(rest.lstrip())
    if percent:
        rest = rest.lstrip()[percent.end() :]
    word, _, after = rest.strip().partition(" ")
    if word.lower() in SCALES and rest[:1].isspace():
        value, rest = value * SCALES[word.lower()], f" {after}" if after else ""
    elif (ordinal := _ORDINAL.match(rest)) and value.denominator == 1:
        rest = rest[ordinal.end() :]
    if rest.strip() in ("$", "€", "£", "¥", "₹"):
        rest = ""
    return Amount(value, percent is not None) if is_unit(rest) else None


def last_number(text: str) -> str | None:
    """The last number in a text, with its percent sign."""
    return next((found[0].strip() for found in reversed(list(_IN_TEXT.finditer(text)))), None)


def first_number(text: str) -> str | None:
    found = _IN_TEXT.search(text)
    return found and found[0].strip()


def is_unit(rest: str) -> bool:
    """Whether what follows a number is nothing, or a unit."""
    unit = rest.strip()
    if not unit:
        return True
    if not rest[0].isspace() and unit.lower() not in _ATTACHED and not unit.startswith("°"):
        return False
    words = re.findall(r"[A-Za-zµΩ°]+", unit)
    if words and words[0].lower() in _CHANGING and (len(words) == 1 or words[0].lower() not in ("square", "cube")):
        return False
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
    if part["again"] is not None:
        once, again = part["once"], part["again"]
        return sign * (
            int(part["fixed"] or 0)
            + Fraction(int(once + again) - int(once or 0), (10 ** len(again) - 1) * 10 ** len(once))
        )
    power = int(part["e"] or part["ten"] or 0)
    return sign * _decimal(part["plain"]) * Fraction(10) ** power


def _decimal(text: str) -> Fraction:
    return Fraction(text.replace(",", "").replace(" ", "").replace("'", "").rstrip("."))
