"""Decides whether the output of a script is right.

`lines`: line by line; white space at the end of a line, and of it all, is no matter. `tokens`: what white space separates, wherever
the lines end. `numbers`: tokens, and a number that is expected with a decimal point may be written otherwise, or be 1e-6 off.

Nothing is taken for a number that is not expected as one: integers, nan and inf have to stand there as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal, localcontext
from itertools import zip_longest
from typing import Any, Literal, get_args

Compare = Literal["lines", "tokens", "numbers"]
COMPARISONS = get_args(Compare)
TOLERANCE = Decimal("1e-6")
"""Absolute, and of numbers above 1 relative."""
_OF_WHOLE = Decimal("1e-9")
"""Relative, of a whole number that is written with a point: what a computation in floats is off, and no more."""
_TOKEN = re.compile(r"\S+")
_WITH_POINT = re.compile(r"[+-]?(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d{1,3})?|[+-]?\d+[eE]-\d{1,3}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII)
_LAYOUT = re.compile(r"^[ \t]+\S|\S(?:[ ]{2,}|[ ]*\t[ \t]*)\S", re.MULTILINE)
_LONGEST = 400
"""Characters of a number that is compared as one."""


def usual(outputs: Iterable[str]) -> Compare:
    """Usual comparison of outputs: with numbers where a float is expected, and line by line where
    white space is a part of what is expected, as in a drawing."""
    found: Compare = "tokens"
    for output in outputs:
        if _LAYOUT.search(output):
            return "lines"
        if found == "tokens" and any(_WITH_POINT.fullmatch(token[0]) for token in _TOKEN.finditer(output)):
            found = "numbers"
    return found


def says(printed: Any, wanted: str, compare: Compare) -> bool:
    """Whether this is what was expected, of what came out of the sandbox."""
    if type(printed) is not str:
        return False
    if printed == wanted or _lines(printed) == _lines(wanted):
        return True
    if compare == "lines":
        return False
    same = _equal if compare == "tokens" else _close
    pairs = zip_longest(_TOKEN.finditer(printed), _TOKEN.finditer(wanted))
    return all(one is not None and other is not None and same(one[0], other[0]) for one, other in pairs)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().split("\n")]


def _equal(printed: str, wanted: str) -> bool:
    return printed == wanted


def _close(printed: str, wanted: str) -> bool:
    if printed == wanted:
        return True
    if max(len(printed), len(wanted)) > _LONGEST or not _WITH_POINT.fullmatch(wanted) or not _NUMBER.fullmatch(printed):
        return False
    with localcontext(prec=2 * _LONGEST) as context:
        context.Emax, context.Emin = 9_999, -9_999
        number, right = Decimal(printed), Decimal(wanted)
        off, size = abs(number - right), abs(right)
        whole = right == right.to_integral_value()
        return off <= max(TOLERANCE, size * (_OF_WHOLE if whole else TOLERANCE))
