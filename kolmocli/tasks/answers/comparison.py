"""Whether an answer is the right one, read strictly.

Numbers are compared exactly, choices by their letters, lists and sets element by element, intervals end by end, and what
is left as text. Formulas that are written differently go to `equal`, which is math-verify behind `formulas.py`, and only
after this page has read both as formulas of the same variables whose values do not differ. So whatever is no answer
never gets there: a relation where a value is asked for, several values where one is, an equation that merely ends in the
number, a calculation that is not done, words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from kolmocli.tasks.answers.algebra import (
    TooLarge,
    differ,
    exact,
    is_calculation,
    proportion,
    variables,
)
from kolmocli.tasks.answers.choices import chosen, letters_of
from kolmocli.tasks.answers.forms import Form, as_matrix, is_name, is_words, read_form
from kolmocli.tasks.answers.frames import unframed
from kolmocli.tasks.answers.judges import JudgeName
from kolmocli.tasks.answers.latex import LONGEST, plain
from kolmocli.tasks.answers.numbers import Amount, amount
from kolmocli.tasks.answers.trees import Tree, formula
from kolmocli.tasks.answers.units import is_unit, meanings

Equal = Callable[[Tree, Tree], bool]
"""Whether two formulas are one: (of the answer, of the right answer)."""

_BEFORE = " \t\n\"'`,;:“‘"  # noqa: RUF001 - typographic quotes are what they are
_AFTER = " \t\n\"'`.,;:”’"  # noqa: RUF001
_ENDLESS = {"infinity", "infty", "inf", "oo"}


def bare(text: str) -> str:
    """An answer without LaTeX and without marks around it; a minus sign is an ASCII one."""
    return _trimmed(plain(text))


def _trimmed(text: str) -> str:
    found = _unmarked(text).lstrip(_BEFORE)
    if found.endswith("...") or re.search(r"[A-Za-z]'\Z", found):
        return found  # a list that goes on, a derivative
    return found.rstrip(_AFTER)


def _unmarked(text: str) -> str:
    """Without the stars of Markdown. A single star behind a number is a sign."""
    text = _BLANK.sub(" ", text).strip().removesuffix("**").removeprefix("**")
    while len(text) > 2 and text[0] == text[-1] == "*":
        text = text[1:-1]
    return text.strip()


def never(given: Tree, right: Tree) -> bool:
    """The judge of formulas where there is none: two that are written differently are two."""
    return False


def same(given: str, right: str, judge: JudgeName = "auto", equal: Equal = never) -> bool:
    """Whether both are one answer. `x = 5` is 5 where 5 is right."""
    if given.strip() == right.strip():
        return True
    if max(len(given), len(right)) > LONGEST:
        return False
    if _BROKEN.search(given):
        return False
    wanted = _wanted(right)
    found = bare(given)
    if not found:
        return False
    if judge == "text":
        return folded(found, True) == folded(wanted, True)
    if judge == "choice" or (judge in ("auto", "strict") and letters_of(wanted) is not None):
        letters = letters_of(wanted.upper()) if judge == "choice" else letters_of(wanted)
        return letters is not None and chosen(found) == letters
    if _same(found, wanted, equal):
        return True
    inner = _trimmed(unframed(found))
    return inner != found and inner != "" and _same(inner, wanted, equal)


@lru_cache(maxsize=10_000)
def _wanted(right: str) -> str:
    """The right answer as it is compared."""
    return bare(right)


def _same(found: str, wanted: str, equal: Equal) -> bool:
    if folded(found, is_words(wanted)) == folded(wanted, is_words(wanted)):
        return True
    x = amount(wanted)
    if x is not None:
        return _is_number(found, x, equal)
    if "," in wanted and "." in found and (x := amount(wanted, foreign=True)) is not None:
        number = amount(found)
        if number is not None and number.equals(x):
            return True  # `1,22` of a data set that writes decimal commas
    return _Comparison(equal).forms(read_form(found), read_form(wanted))


def _is_number(found: str, right: Amount, equal: Equal) -> bool:
    """Where a number is asked for. Most answers end here, without being taken apart."""
    number = amount(found, foreign=True)
    if number is not None:
        return number.equals(right)
    return _Comparison(equal).forms(read_form(found), Form("leaf", _written(right)))


def _written(number: Amount) -> str:
    return str(number.value) + ("%" if number.percent else "")


_BASED = re.compile(r"\A\(([0-9A-Fa-f]+)\)_")
"""`(1010)_2`, a number in base 2."""
_BROKEN = re.compile(r"(?<![$\\])\$[^$\n]*\n[^$]*(?<!\\)\$(?!\$)|\\\([^)]*\n")
"""A formula within a line that goes on in the next one: what is shown of it is not what stands there."""
_BLANK = re.compile(r"\s+")


def folded(text: str, caseless: bool) -> str:
    """Text to compare: without blanks but those between letters and digits, and without case where words are meant."""
    text = _BLANK.sub(" ", text.strip())
    text = _BASED.sub(r"\1_", re.sub(r"(?<=\W) | (?=\W)", "", text))
    inside = text[1:-1]
    if len(inside) == 1 and text[0] + text[-1] in ("()", "[]", "{}"):
        text = inside
    return text.casefold() if caseless else text


class _Comparison:
    """Two forms, compared with one judge of formulas."""

    def __init__(self, equal: Equal) -> None:
        self._equal = equal

    def forms(self, given: Form, right: Form) -> bool:
        if given.name and right.name and not _is_same_name(given.name, right.name):
            return False
        if given.kind == "nothing":
            return False
        if right.kind == "relation" or given.kind == "relation":
            return self._relations(given, right)
        if self._valued(given, right):
            return True
        return bool(given.sides and right.sides) and self._are_related(given, right)

    def _valued(self, given: Form, right: Form) -> bool:
        if given.kind == right.kind == "leaf":
            return self.leaves(given.text, right.text)
        if right.kind in ("list", "set"):
            return self._several(given, right)
        if right.kind == "matrix":
            given = as_matrix(given)
            return given.kind == "matrix" and given.brackets == right.brackets and self._in_order(given, right)
        if right.kind == "union":
            return given.kind == "union" and self._in_any_order(given, right)
        if right.kind == "interval":
            return given.kind in ("interval", "tuple") and self._intervals(given, right)
        if right.kind == "tuple":
            return self._tuples(given, right)
        if right.kind == "leaf" and given.kind == "set" and len(given.items) == 1:
            return self.forms(given.items[0], right)
        return False

    def _several(self, given: Form, right: Form) -> bool:
        """Lists and sets have no order, unless their members are words, or are called by different names."""
        if right.kind == "set" and len(right.items) == 1 and given.kind == "leaf":
            return self.forms(given, right.items[0])
        if (
            given.kind == "tuple"
            and given.brackets == "()"
            and len({item.name for item in right.items}) == len(right.items)
        ):
            return self._in_order(given, right)
        if given.kind not in ("list", "set"):
            return False
        if len(_distinct(right).items) == len(right.items):
            given = _distinct(given)
        names = [item.name for item in right.items if item.name], [item.name for item in given.items if item.name]
        if all(len(set(each)) < 2 for each in names) and not any(is_words(item.text) for item in right.items):
            return self._in_any_order(given, right)
        if names[0] and names[1]:
            return self._in_any_order(given, right)
        return self._in_order(given, right)

    def _tuples(self, given: Form, right: Form) -> bool:
        if given.kind == "interval":
            return right.brackets in ("()", "[]") and len(right.items) == 2 and self._intervals(given, right)
        if given.kind == "list":
            return right.brackets == "()" and self._in_order(given, right)
        return given.kind == "tuple" and given.brackets == right.brackets and self._in_order(given, right)

    def _intervals(self, given: Form, right: Form) -> bool:
        if given.kind == "tuple" and len(given.items) != 2:
            return False
        return _brackets(given) == _brackets(right) and self._in_order(given, right)

    def _in_order(self, given: Form, right: Form) -> bool:
        return len(given.items) == len(right.items) and all(
            self.forms(a, b) for a, b in zip(given.items, right.items, strict=True)
        )

    def _in_any_order(self, given: Form, right: Form) -> bool:
        if len(given.items) != len(right.items):
            return False
        left = list(right.items)
        missing = False
        for item in given.items:
            match = next((i for i, other in enumerate(left) if self.forms(item, other)), None)
            if match is None:
                missing = True  # and go on: a judge of formulas that asks in batches wants to know all
            else:
                del left[match]
        return not missing

    def _relations(self, given: Form, right: Form) -> bool:
        """A chain `x = a = b` has one value only if its members agree. An equation or an inequality is one that says the same."""
        if given.kind == "relation" and given.items:
            if not all(self.forms(a, b) for a, b in pairwise(given.items)):
                return False
            last = given.items[-1]
            return self.forms(replace(last, name=given.name, sides=given.sides), right)
        if right.kind == "relation" and right.items:
            return self.forms(given, right.items[-1]) and (given.name in (None, right.name))
        if folded(given.text, False) == folded(right.text, False) and given.text:
            return True
        ends = right.text.split("=")
        if right.kind == "relation" and len(ends) > 2 and is_name(ends[-2]):
            return self.forms(given, read_form(ends[-1]))  # `1 = ... = x = 0` of a data set
        return bool(given.sides and right.sides) and self._are_related(given, right)

    def _are_related(self, given: Form, right: Form) -> bool:
        """Equations of which one is a multiple of the other, and inequalities likewise."""
        assert given.sides is not None and right.sides is not None
        if right.kind not in ("relation", "interval") and (right.kind != "leaf" or amount(right.text) is not None):
            return False  # `x = 5` is not `2x = 10`: that is left to be solved
        trees = [formula(text) for text in (given.sides[0], given.sides[2], right.sides[0], right.sides[2])]
        if any(tree is None for tree in trees):
            return False
        a, b, c, d = (tree for tree in trees if tree is not None)
        one, other = ("rel", given.sides[1], a, b), ("rel", right.sides[1], c, d)
        try:
            for tree in (a, b, c, d):
                exact(tree)
        except TooLarge:
            return False
        return proportion(one, other) and self._equal(one, other)

    def leaves(self, given: str, right: str) -> bool:
        """Two values that are not made of others."""
        words = is_words(right)
        if folded(given, words) == folded(right, words):
            return True
        if given in _ENDLESS or right in _ENDLESS or given[1:] in _ENDLESS or right[1:] in _ENDLESS:
            return _endless(given) == _endless(right) != 0
        x, y = amount(given, foreign=True), amount(right)
        if x is not None and y is not None:
            return x.equals(y)
        given, right = _without_unit(given), _without_unit(right)
        product = (
            len(right) <= 3
            and right.isalpha()
            and re.search(r"[* ]", given)
            and len(re.findall(r"[A-Za-z]", given)) == len(right)
        )
        if not product and (is_words(given) or is_words(right) or given.isalpha() or right.isalpha()):
            return folded(given, words) == folded(right, words)
        one = formula(given) if x is None or x.percent else ("n", str(x.value))
        other = formula(right) if y is None or y.percent else ("n", str(y.value))
        return one is not None and other is not None and self._formulas(one, other)

    def _formulas(self, given: Tree, right: Tree) -> bool:
        try:
            a, b = exact(given), exact(right)
        except TooLarge:
            return False
        if right[0] == "n" and is_calculation(given):
            return False
        if a is not None and b is not None:
            return a == b
        if given == right:
            return True
        return variables(given) == variables(right) and not differ(given, right) and self._equal(given, right)


def _is_same_name(one: str, other: str) -> bool:
    """`x` and `x`, or `f(x)` and `f(n)`: there the values tell variables apart."""
    return one == other or (len(one) == len(other) == 2 and one[0] == other[0] and (one + other).isalpha())


def _distinct(form: Form) -> Form:
    """A list of points in which none stands twice."""
    items = {
        _BLANK.sub("", item.text) if item.kind == "tuple" else place: item for place, item in enumerate(form.items)
    }
    return form if len(items) == len(form.items) else replace(form, items=tuple(items.values()))


def _brackets(form: Form) -> str:
    """Of an interval: an end that is infinite is open, however it is written."""
    low, high = form.brackets[0], form.brackets[1]
    return ("(" if _endless(form.items[0].text) else low) + (")" if _endless(form.items[1].text) else high)


def _endless(text: str) -> int:
    """1 or -1 for the infinities, 0 for what is finite."""
    sign, name = (text[0], text[1:]) if text[:1] in "+-" else ("", text)
    return 0 if name.strip() not in _ENDLESS else -1 if sign == "-" else 1


_UNIT_BEHIND = re.compile(r"(?P<value>.*[0-9)\]])(?P<unit> ?[A-Za-z°][A-Za-z°/.^0-9()\- ]*)\Z")


def _without_unit(text: str) -> str:
    """`2sqrt(3) cm` without its unit. A letter that may be a variable is none."""
    found = _UNIT_BEHIND.match(text)
    if found is None or not is_words(found["unit"]) or not is_unit(found["unit"]):
        return text
    return found["value"]
