"""Whether two answers that were taken apart are one: part by part, and formulas by a judge of formulas."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from kolmocli.tasks.answers.algebra import TooLarge, differ, exact, is_calculation, proportion, variables
from kolmocli.tasks.answers.forms import as_matrix, read_form, words_apart
from kolmocli.tasks.answers.names import folded, in_order, is_name, is_product, is_words, same_text
from kolmocli.tasks.answers.numbers import amount
from kolmocli.tasks.answers.parts import Form
from kolmocli.tasks.answers.trees import Equal, Tree, formula
from kolmocli.tasks.answers.units import is_unit, meanings

_ENDLESS = {"infinity", "infty", "inf", "oo"}
_LITERAL = re.compile(r"[0-9]+(?:\.[0-9]+)?(?: ?- ?[0-9]+(?:\.[0-9]+)?)+\Z|[0-9]{1,2}/[0-9]{1,2}/[0-9]{2,4}\Z")
"""A range or a date as the right answer: no calculation."""


class Matching:
    """Two forms, compared with one judge of formulas."""

    def __init__(self, equal: Equal) -> None:
        self._equal = equal

    def whole(self, given: Form, right: Form) -> bool:
        """Whether two answers are one. A set of one is what is in it, where it is all that is said."""
        if right.kind == "set" and len(right.items) == 1 and given.kind == "leaf":
            right = right.items[0]
        elif given.kind == "set" and len(given.items) == 1 and right.kind == "leaf":
            given = replace(given.items[0], name=given.items[0].name or given.name)
        return self.forms(given, right)

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
            return self._leaves(given, right)
        if right.kind in ("list", "set"):
            return self._several(given, right)
        if right.kind == "matrix":
            given = as_matrix(given)
            return given.kind == "matrix" and given.brackets == right.brackets and self._in_order(given, right)
        if right.kind == "union":
            return given.kind == "union" and self._in_any_order(given, right)
        if right.kind == "interval":
            return given.kind in ("interval", "tuple") and self._intervals(given, right)
        return right.kind == "tuple" and self._tuples(given, right)

    def _several(self, given: Form, right: Form) -> bool:
        """Lists and sets have no order, unless their members are words, or are called by different names."""
        names = [item.name or "" for item in right.items], [item.name or "" for item in given.items]
        if given.kind == "tuple" and given.brackets == "()" and all(names[0]) and _are_distinct(names[0]):
            right = _ordered(right, names[0])
            told = ",".join(item.name or "" for item in right.items)
            return given.name in (None, told) and self._in_order(given, right)
        if given.kind == "leaf":
            given = words_apart(given)
        if given.kind not in ("list", "set"):
            return False
        if right.name and not all(_is_same_name(each, right.name) for each in filter(None, names[1])):
            return False
        if given.joined == "or" != right.joined and len(set(names[1])) > 1:
            return False  # `x = 5 or y = 2`
        if right.kind == "set":
            right = _distinct(right, True)
        if given.kind == "set" or len(_distinct(right).items) == len(right.items):
            given = _distinct(given, given.kind == "set")
        if not any(names[0]) and all(names[1]) and len(names[1]) > 1 and _are_distinct(names[1]):
            return right.kind == "list" and self._in_order(_ordered(given, names[1]), right)
        called = [set(filter(None, each)) for each in names]
        if all(len(each) < 2 for each in called) and not any(is_words(item.text) for item in right.items):
            return self._in_any_order(given, right)
        if called[0] and called[1]:
            return self._in_any_order(given, right)
        return self._in_order(given, right)

    def _tuples(self, given: Form, right: Form) -> bool:
        if given.kind == "interval":
            return right.brackets in ("()", "[]") and len(right.items) == 2 and self._intervals(given, right)
        if given.kind == "list":
            names = [item.name or "" for item in given.items]
            named = all(names) and _are_distinct(names)
            if right.brackets != "()" or given.joined == "or" or ((given.joined or any(names)) and not named):
                return False
            return self._in_order(_ordered(given, names) if named else given, right)
        alike = given.brackets == right.brackets or {given.brackets, right.brackets} == {"()", "⟨⟩"}
        return given.kind == "tuple" and alike and self._in_order(given, right)

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
        if given.text and folded(given.text) == folded(right.text):
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

    def _leaves(self, given: Form, right: Form) -> bool:
        """Two values that are not made of others."""
        if same_text(given.text, right.text):
            return True
        if _endless(given.text) or _endless(right.text):
            return _endless(given.text) == _endless(right.text)
        x, y = amount(given.text, foreign=True), right.number or amount(right.text)
        if x is not None and y is not None:
            return x.equals(y)
        if y is None and _LITERAL.match(right.text):
            return False
        (a, units), (b, wanted) = _apart(given.text), _apart(right.text)
        if units and (wanted := y.units if y is not None else wanted) and units.isdisjoint(wanted):
            return False
        if _is_text(a) or (y is None and _is_text(b)):
            return same_text(a, b)
        one = formula(a) if x is None or x.percent else ("n", str(x.value))
        if y is not None:
            values = (y.value, y.value / 100) if y.percent else (y.value,)
            return one is not None and any(self._formulas(one, ("n", str(value))) for value in values)
        other = formula(b)
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
    return one == other or (
        len(one) == len(other) == 2 and one[0] == other[0] and one[0].isalpha() and (one[1] + other[1]).islower()
    )


def _are_distinct(names: Sequence[str]) -> bool:
    return len(set(names)) == len(names)


def _ordered(form: Form, names: Sequence[str]) -> Form:
    return replace(form, items=tuple(form.items[at] for at in in_order(names)))


def _distinct(form: Form, all_of_them: bool = False) -> Form:
    """A list of points in which none stands twice, and a set in which nothing does."""
    items = {
        re.sub(r"\s", "", item.text) if item.kind == "tuple" or (all_of_them and item.text) else place: item
        for place, item in enumerate(form.items)
    }
    return form if len(items) == len(form.items) else replace(form, items=tuple(items.values()))


def _brackets(form: Form) -> str:
    """The brackets of an interval: an infinite end is open, however it is written."""
    low, high = form.brackets[0], form.brackets[1]
    return ("(" if _endless(form.items[0].text) else low) + (")" if _endless(form.items[1].text) else high)


def _endless(text: str) -> int:
    """1 or -1 for the infinities, 0 for what is finite."""
    sign, name = (text[0], text[1:]) if text[:1] in ("+", "-") else ("", text)
    return 0 if name.strip().lower() not in _ENDLESS else -1 if sign == "-" else 1


_UNIT_BEHIND = re.compile(r"(?P<value>.*(?:[0-9)\]]|pi))(?P<unit> ?[A-Za-z°][A-Za-z°/.^0-9()\- ]*)\Z")


def _apart(text: str) -> tuple[str, frozenset[str]]:
    """`2sqrt(3) cm` without its unit, and what that may be. A letter that may be a variable is none."""
    found = _UNIT_BEHIND.match(text)
    if found is None or not is_unit(found["unit"]):
        return text, frozenset()
    units = meanings(found["unit"]) if re.search("[A-Za-z]{2}", found["unit"]) else frozenset()
    return (found["value"], units) if units or is_words(found["unit"]) else (text, frozenset())


def _is_text(text: str) -> bool:
    return is_words(text) and not is_product(text)
