"""A formula without LaTeX as a tree: `2sqrt(3) + x^2/4`. What is no formula has no tree.

Letters are variables, each one its own and case as it is written. `12 3` is two numbers and no product, words are no
products of their letters, and a relation is no formula. A tree can be evaluated exactly where it is rational, and in
floating point, which tells most different formulas apart. Trees are plain tuples: another process reads them.
"""

from __future__ import annotations

import cmath
import math
import random
import re
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any

from kolmocli.tasks.answers.words import listed

Tree = tuple[Any, ...]
"""("n", "3/4") · ("v", "x_1") · ("c", "pi") · ("f", name, argument) · ("!", a) · (sign, a, b) with one of + - * / ^ · ("neg", a)."""

FUNCTIONS = frozenset(
    listed(
        "sqrt cbrt fourthroot sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh ln log exp abs floor ceil binom gcd lcm max min"
    )
)
_ALIASES = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "tg": "tan",
    "ctg": "cot",
    "lg": "log",
    "arctg": "arctan",
}
_TWO = frozenset({"binom", "gcd", "lcm", "max", "min"})
_GREEK = frozenset(
    listed(
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi chi psi omega "
        "Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega ell hbar"
    )
)
CONSTANTS = {"pi": math.pi, "e": math.e, "i": 1j}
_INFINITE = frozenset({"infinity", "infty", "inf", "oo"})
NAMES = FUNCTIONS | _GREEK | _ALIASES.keys() | {"pi"} | _INFINITE
"""Words of more than one letter that are mathematics."""
_MOST_NODES = 200
_DEEPEST = 40
_MOST_POWER = 10_000
_MOST_BITS = 40_000
_TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9]+\.?[0-9]*|\.[0-9]+)|(?P<letters>[A-Za-z]+)|(?P<sign>\*\*|[-+*/^!()|_⌊⌋⌈⌉,\[\]{}%°]))"
)


class NotAFormula(ValueError):
    """What stands there is none."""


class TooLarge(ValueError):
    """A number that nobody writes down: towers of powers, factorials of thousands."""


@lru_cache(maxsize=20_000)
def formula(text: str) -> Tree | None:
    """The tree of a formula, None for what is none."""
    try:
        return _Parser(_tokens(text)).all()
    except (NotAFormula, RecursionError):
        return None


def variables(tree: Tree) -> frozenset[str]:
    return frozenset(node[1] for node in _nodes(tree) if node[0] == "v")


def is_calculation(tree: Tree) -> bool:
    """Whether numbers are still to be added or multiplied in it: a sum is not its result. Powers, roots and fractions of
    numbers are ways to write one."""
    plain = all(node[0] in ("n", "neg") for side in (tree[1:] if tree[0] == "/" else ()) for node in _nodes(side))
    divided = any(node[0] == "/" for node in _nodes(tree)) and not (tree[0] == "/" and plain)
    return divided or any(node[0] in "+-*" or node[:2] in _COMPUTED for node in _nodes(tree))


_COMPUTED = frozenset(("f", name) for name in ("gcd", "lcm", "max", "min", "floor", "ceil", "abs"))


def exact(tree: Tree) -> Fraction | None:
    """Its value where that is made of whole numbers by + - * / ^ and !; None where it is not.

    Raises:
        TooLarge: some number in it has thousands of digits.
    """
    kind = tree[0]
    if kind == "n":
        return Fraction(tree[1])
    if kind not in ("+", "-", "*", "/", "^", "neg", "!"):
        for part in tree[1:]:
            if isinstance(part, tuple):
                exact(part)  # what is too large anywhere is too large
        return None
    values = [exact(part) for part in tree[1:]]
    if any(value is None for value in values):
        if kind == "^" and values[1] is not None and abs(values[1]) > _MOST_POWER:
            raise TooLarge
        return None
    return _sized(_combined(kind, *[value for value in values if value is not None]))


def _combined(kind: str, a: Fraction, b: Fraction = Fraction(0)) -> Fraction | None:
    if kind == "neg":
        return -a
    if kind == "!":
        if a > 1000:
            raise TooLarge
        return Fraction(math.factorial(int(a))) if a.denominator == 1 and a >= 0 else None
    if kind == "^":
        if abs(b) > _MOST_POWER or (a.numerator.bit_length() + a.denominator.bit_length()) * abs(b) > _MOST_BITS:
            raise TooLarge
        return a ** int(b) if b.denominator == 1 and (a or b > 0) else None
    if kind == "/":
        return a / b if b else None
    return a + b if kind == "+" else a - b if kind == "-" else a * b


def _sized(value: Fraction | None) -> Fraction | None:
    if value is not None and value.numerator.bit_length() + value.denominator.bit_length() > _MOST_BITS:
        raise TooLarge
    return value


_SAMPLES = 5


def differ(one: Tree, other: Tree) -> bool:
    """Whether two formulas have different values at some of five points, beyond what rounding does. Never for equal ones."""
    for sample in range(_SAMPLES):
        a, b = _at(one, sample), _at(other, sample)
        if a is None or b is None:
            continue
        if abs(a - b) > 1e-9 * max(abs(a), abs(b), 1e-280):
            scale = max(_largest(one, sample), _largest(other, sample))
            if abs(a - b) > 1e-12 * scale:
                return True
    return False


@lru_cache(maxsize=50_000)
def _at(tree: Tree, sample: int) -> complex | None:
    try:
        value = _evaluated(tree, sample)
    except (ArithmeticError, ValueError, TypeError):
        return None
    return value if cmath.isfinite(value) else None


def _largest(tree: Tree, sample: int) -> float:
    """The largest value of what is added or subtracted anywhere: differences that are small against it may be rounding."""
    added = [part for node in _nodes(tree) if node[0] in ("+", "-") for part in node[1:]]
    return max((abs(value) for part in added if (value := _at(part, sample)) is not None), default=0.0)


def _evaluated(tree: Tree, sample: int) -> complex:
    kind = tree[0]
    if kind == "n":
        return complex(float(Fraction(tree[1])))
    if kind == "c":
        return complex(CONSTANTS[tree[1]])
    if kind == "v":
        value = random.Random(f"{tree[1]}/{sample}").uniform(0.3, 2.7)
        return complex(value if sample < 3 else -value)
    if kind == "f":
        return _function(tree[1], [_evaluated(part, sample) for part in tree[2:]])
    values = [_evaluated(part, sample) for part in tree[1:]]
    if kind == "neg":
        return -values[0]
    if kind == "!":
        return complex(math.gamma(values[0].real + 1)) if not values[0].imag else complex(math.nan)
    a, b = values
    if kind == "^":
        if b == 0:
            return complex(1)
        return a**b
    return a + b if kind == "+" else a - b if kind == "-" else a * b if kind == "*" else a / b


def _function(name: str, values: list[complex]) -> complex:
    a = values[0]
    if name in ("cot", "sec", "csc"):
        return 1 / {"cot": cmath.tan, "sec": cmath.cos, "csc": cmath.sin}[name](a)
    if name.startswith("arc"):
        return {"arcsin": cmath.asin, "arccos": cmath.acos, "arctan": cmath.atan}[name](a)
    if name == "log" and len(values) == 2:
        return cmath.log(values[1]) / cmath.log(a)
    if name == "log":
        return complex(math.nan)  # of base e or 10: whoever wrote it knows
    if name in ("sqrt", "exp", "sin", "cos", "tan", "sinh", "cosh", "tanh"):
        found: complex = getattr(cmath, name)(a)
        return found
    if name == "ln":
        return cmath.log(a)
    if name == "abs":
        return complex(abs(a))
    if name in ("floor", "ceil") and not a.imag:
        return complex(getattr(math, name)(a.real))
    return complex(math.nan)


def _nodes(tree: Tree) -> Iterator[Tree]:
    todo = [tree]
    while todo:
        node = todo.pop()
        yield node
        todo += [part for part in node[1:] if isinstance(part, tuple)]


_LOG = [("name", "log"), ("sign", "_")]
"""Before a base, which a number may follow."""


def _tokens(text: str) -> list[tuple[str, str]]:
    """(kind, text) of each: number, letter, name, sign. A number that follows another after a blank is a "second" one."""
    found: list[tuple[str, str]] = []
    at, text = 0, text.rstrip()
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise NotAFormula(text[at])
        kind = token.lastgroup or ""
        if kind == "number" and found and found[-1][0] == "number" and found[-3:-1] != _LOG:
            raise NotAFormula("two numbers side by side")
        if kind == "letters":
            found += _words(token["letters"])
        else:
            sign = token[kind]
            found.append((kind, {"**": "^"}.get(sign, sign)))
        at = token.end()
    if len(found) > _MOST_NODES:
        raise NotAFormula("too long")
    return found


def _words(letters: str) -> list[tuple[str, str]]:
    name = _ALIASES.get(letters, letters)
    if name in NAMES:
        return [("name", name)]
    if len(letters) > 3 or (len(letters) == 3 and letters.lower() in _UNREAD):
        raise NotAFormula(letters)
    return [("letter", letter) for letter in letters]


_UNREAD = frozenset(listed("and not the for odd one two six ten yes max min all any new old mod day"))
"""Words of three letters that are no product."""
_CLOSED = {"(": ")", "|": "|", "⌊": "⌋", "⌈": "⌉", "[": "]", "{": "}"}


class _Parser:
    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens, self._at, self._depth, self._bars = tokens, 0, 0, 0

    def all(self) -> Tree:
        tree = self._sum()
        if self._at < len(self._tokens):
            raise NotAFormula(self._tokens[self._at][1])
        return tree

    def _peek(self, ahead: int = 0) -> tuple[str, str]:
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else ("", "")

    def _take(self, *signs: str) -> str | None:
        kind, text = self._peek()
        if kind == "sign" and text in signs:
            self._at += 1
            return text
        return None

    def _sum(self) -> Tree:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise NotAFormula("too deep")
        tree = self._product()
        while sign := self._take("+", "-"):
            tree = (sign, tree, self._product())
        self._depth -= 1
        return tree

    def _product(self) -> Tree:
        tree = self._signed()
        while True:
            if sign := self._take("*", "/"):
                tree = (sign, tree, self._signed())
            elif self._begins():
                if self._peek()[0] == "number":
                    before = self._tokens[self._at - 1]
                    if before[0] == "number" or (before[0] == "letter" and tree[0] == "v" and "_" in tree[1]):
                        raise NotAFormula("a number behind an index")
                tree = ("*", tree, self._power())
            else:
                return tree

    def _begins(self) -> bool:
        kind, text = self._peek()
        return kind in ("number", "letter", "name") or text in ("(", "⌊", "⌈") or (text == "|" and not self._bars)

    def _signed(self) -> Tree:
        if self._take("-"):
            self._depth += 1
            if self._depth > _DEEPEST:
                raise NotAFormula("too deep")
            tree = ("neg", self._signed())
            self._depth -= 1
            return tree
        if self._take("+"):
            return self._signed()
        return self._power()

    def _power(self) -> Tree:
        tree = self._atom()
        while self._take("!"):
            tree = ("!", tree)
        if self._take("^"):
            self._depth += 1
            if self._depth > _DEEPEST:
                raise NotAFormula("too deep")
            power = ("neg", self._power()) if self._take("-") else self._power()
            self._depth -= 1
            tree = ("^", tree, power)
        return tree

    def _atom(self) -> Tree:
        kind, text = self._peek()
        self._at += 1
        if kind == "number":
            if len(text) > 100:
                raise NotAFormula("a long number")
            return ("n", str(Fraction(text.rstrip("."))))
        if kind == "letter":
            return self._letter(text)
        if kind == "name":
            return self._named(text)
        if text in ("(", "⌊", "⌈", "|"):
            self._bars += text == "|"
            inner = self._sum()
            self._bars -= text == "|"
            if not self._take(_CLOSED[text]):
                raise NotAFormula("a bracket that is not closed")
            named = {"⌊": "floor", "⌈": "ceil", "|": "abs"}.get(text)
            return ("f", named, inner) if named else inner
        raise NotAFormula(text or "nothing")

    def _letter(self, letter: str) -> Tree:
        if index := self._index():
            return ("v", f"{letter}_{index}")
        return ("c", letter) if letter in CONSTANTS else ("v", letter)

    def _index(self) -> str:
        """What stands behind an underscore, where one follows."""
        if not self._take("_"):
            return ""
        if self._take("("):
            index = ""
            while self._peek()[0] and not self._take(")"):
                index += self._peek()[1]
                self._at += 1
            return index
        kind, text = self._peek()
        if kind not in ("number", "letter", "name"):
            raise NotAFormula("no index")
        self._at += 1
        return text

    def _named(self, name: str) -> Tree:
        if name in _INFINITE:
            return ("v", "infinity")
        if name not in FUNCTIONS:
            index = self._index()
            return ("c", name) if name in CONSTANTS else ("v", f"{name}_{index}" if index else name)
        base: Tree | None = None
        if name == "log" and self._take("_"):
            base = self._base()
        power: Tree | None = None
        if self._peek() == ("sign", "^"):
            self._at += 1
            power = self._atom() if not self._take("-") else ("neg", self._atom())
            if power == ("neg", ("n", "1")):
                if name not in ("sin", "cos", "tan"):
                    raise NotAFormula("an inverse function")
                return self._applied(f"arc{name}", None)
        tree = self._applied(name, base)
        return tree if power is None else ("^", tree, power)

    def _base(self) -> Tree:
        return self._atom()

    def _applied(self, name: str, base: Tree | None) -> Tree:
        if self._take("("):
            arguments = [self._sum()]
            while self._take(","):
                arguments.append(self._sum())
            if not self._take(")") or len(arguments) != 1 + (name in _TWO):
                raise NotAFormula("a function of other arguments")
            if name in ("max", "min", "gcd", "lcm", "binom"):
                return ("f", name, *arguments)
            argument = arguments[0]
        else:
            argument = self._bare_argument()
        if name == "log" and base is not None:
            return ("f", "log", base, argument)
        if name == "cbrt" or name == "fourthroot":
            return ("^", argument, ("n", "1/3" if name == "cbrt" else "1/4"))
        return ("f", name, argument)

    def _bare_argument(self) -> Tree:
        """Of `sin 2x` the `2x`: what is multiplied without a sign, up to the next function or bracket."""
        tree = self._signed()
        while self._peek()[0] in ("number", "letter") or self._peek()[1] in _GREEK or self._peek()[1] == "pi":
            tree = ("*", tree, self._power())
        return tree


def proportion(one: Tree, other: Tree) -> bool:
    """Whether two relations ("rel", sign, left, right) may say the same: left - right of one is a multiple of the other's at
    every point, and a positive one where both signs point the same way."""
    (_, sign, a, b), (_, wanted, c, d) = one, other
    if sign[0] != wanted[0] and not (sign[0] in "<>" and wanted[0] in "<>"):
        return False
    if sign[1:] != wanted[1:] or variables(a) | variables(b) != variables(c) | variables(d):
        return False
    ratios = []
    for sample in range(_SAMPLES):
        above, below = _at(("-", a, b), sample), _at(("-", c, d), sample)
        if above is None or below is None or not above or not below:
            continue
        ratios.append(above / below)
    if len(ratios) < 3 or any(abs(ratio - ratios[0]) > 1e-7 * abs(ratios[0]) for ratio in ratios):
        return False
    if sign[0] in "<>":
        return (ratios[0].real > 0) == (sign == wanted)
    return True
