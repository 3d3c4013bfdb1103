"""A formula without LaTeX as a tree: `2sqrt(3) + x^2/4`. A text that is no formula has no tree.

Letters are variables, each one its own and case as it is written. `12 3` is two numbers and no product, words are no
products of their letters, and a relation is no formula. Trees are plain tuples: another process reads them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from kolmocli.tasks.answers.words import listed

Tree = tuple[Any, ...]
"""("n", "3/4") · ("v", "x_1") · ("c", "pi") · ("f", name, argument) · ("!", a) · (sign, a, b) with one of + - * / ^ · ("neg", a)."""
Equal = Callable[[Tree, Tree], bool]
"""Whether two formulas are one: (of the answer, of the right answer)."""

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
_TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9]+\.?[0-9]*|\.[0-9]+)|(?P<letters>[A-Za-z]+)|(?P<sign>\*\*|[-+*/^!()|_⌊⌋⌈⌉,\[\]{}%°]))"
)


class NotAFormula(ValueError):
    """The text is no formula."""


@lru_cache(maxsize=20_000)
def formula(text: str) -> Tree | None:
    """The tree of a formula, None for what is none."""
    try:
        return _Parser(*_tokens(text)).all()
    except (NotAFormula, RecursionError):
        return None


_LOG = [("name", "log"), ("sign", "_")]
"""Before a base, which a number may follow."""


def _tokens(text: str) -> tuple[list[tuple[str, str]], frozenset[int]]:
    """(kind, text) of each: number, letter, name, sign; and which of them follow a blank."""
    found: list[tuple[str, str]] = []
    spaced: set[int] = set()
    at, text = 0, text.rstrip()
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise NotAFormula(text[at])
        kind = token.lastgroup or ""
        if text[at].isspace():
            spaced.add(len(found))
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
    return found, frozenset(spaced)


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
    def __init__(self, tokens: list[tuple[str, str]], spaced: frozenset[int]) -> None:
        self._tokens, self._spaced, self._at, self._depth, self._bars = tokens, spaced, 0, 0, 0

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
        tree, divided = self._signed(), False
        while True:
            if sign := self._take("*", "/"):
                tree, divided = (sign, tree, self._signed()), sign == "/"
            elif self._begins():
                if divided and self._at not in self._spaced:
                    raise NotAFormula("1/2x is two things")
                before = self._tokens[self._at - 1]
                if self._peek()[0] == "number" and (
                    before[0] == "number"
                    or (before[0] == "letter" and before[1] != "i")
                    or (before[1] == ")" and self._at not in self._spaced)
                ):
                    raise NotAFormula("a number behind a letter or a bracket: x2 and \\sqrt21 are two things, or three")
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
        """Index behind an underscore, where one follows."""
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
            base = self._atom()
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

    def _applied(self, name: str, base: Tree | None) -> Tree:
        if self._take("("):
            arguments = [self._sum()]
            while self._take(","):
                arguments.append(self._sum())
            if not self._take(")") or len(arguments) != 1 + (name in _TWO):
                raise NotAFormula("a function of other arguments")
            if name in _TWO:
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
        """The `2x` of `sin 2x`: all that is multiplied without a sign, up to the next function or bracket."""
        tree = self._signed()
        while self._peek()[0] in ("number", "letter") or self._peek()[1] in _GREEK or self._peek()[1] == "pi":
            tree = ("*", tree, self._power())
        return tree
