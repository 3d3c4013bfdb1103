"""Values of formulas' trees: exactly where they are rational, and in floating point, which tells most different
formulas apart."""

from __future__ import annotations

import cmath
import math
import random
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from kolmocli.tasks.answers.trees import CONSTANTS, Tree

_MOST_POWER = 10_000
_MOST_BITS = 40_000


class TooLarge(ValueError):
    """A number too large to write down: towers of powers, factorials of thousands."""


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


def rounds(tree: Tree, decimal: Fraction, unit: Fraction) -> bool:
    """Whether a formula without variables is as much as a decimal says, up to one in its last place."""
    value = _at(tree, 0)
    return value is not None and abs(value - float(decimal)) <= float(unit)


_SAMPLES = 5
_UNKNOWN_BASE = 1.7
"""The natural logarithm of the base of `log`, which only its author knows: as good as any but those of 2, e and 10."""


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
        return 0 - values[0]  # and no negative zero, which would be on the other side of a branch cut
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
        return cmath.log(a) / _UNKNOWN_BASE
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
