"""Sums of several numbers, and sums, differences and products of two, in plain words."""

from __future__ import annotations

import random
from collections.abc import Callable

from kolmocli.tasks.arithmetic.task import NumbersTask, listed

_SUM = (
    "What is {plus}?",
    "Add up {list}.",
    "{plus} =",
    "Compute {plus}.",
    "What is the sum of {list}?",
    "How much is {plus}?",
)
_ADD = (*_SUM, "What do you get if you add {b} to {a}?", "What is {a} plus {b}?")
_SUBTRACT = (
    "What is {a} - {b}?", "What is {a} minus {b}?", "{a} - {b} =", "Subtract {b} from {a}.", "Compute {a} - {b}.",
    "What is the difference between {a} and {b}?", "How much is {a} take away {b}?",
)  # fmt: skip
_MULTIPLY = (
    "What is {a} times {b}?", "{a} * {b} =", "Multiply {a} by {b}.", "What is the product of {a} and {b}?",
    "Compute {a} * {b}.", "How much is {a} x {b}?",
)  # fmt: skip

SUMS = (
    (2, 5), (2, 9), (3, 5), (3, 7), (3, 9), (4, 5), (4, 7), (4, 9), (5, 5), (5, 9), (6, 9), (8, 9),
)  # fmt: skip
"""(how many numbers, the largest of them) at each level."""
ADDITION = (
    ((1, 9), (1, 9), False), ((10, 49), (1, 9), False), ((10, 99), (1, 9), True), ((10, 49), (10, 49), False),
    ((10, 99), (10, 99), False), ((10, 99), (10, 99), True), ((100, 499), (1, 9), True), ((100, 499), (10, 99), False),
    ((100, 999), (10, 99), True), ((100, 999), (100, 999), False), ((100, 999), (100, 999), True),
    ((1000, 9999), (100, 999), True), ((1000, 9999), (1000, 9999), True),
)  # fmt: skip
"""(range of the larger number, of the smaller, whether a digit may carry) at each level."""
SUBTRACTION = (
    ((2, 9), (1, 9), True), ((10, 19), (1, 9), True), ((20, 99), (1, 9), False), ((20, 99), (1, 9), True),
    ((20, 99), (10, 99), False), ((20, 99), (10, 99), True), ((100, 999), (1, 99), False), ((100, 999), (10, 99), True),
    ((100, 999), (100, 999), False), ((100, 999), (100, 999), True), ((1000, 9999), (100, 9999), True),
)  # fmt: skip
PRODUCTS = (
    ((2, 4), (1, 10)), ((2, 5), (2, 9)), ((3, 9), (3, 9)), ((2, 3), (10, 19)), ((2, 5), (10, 49)), ((3, 9), (10, 99)),
    ((11, 19), (11, 19)), ((11, 49), (11, 99)),
)  # fmt: skip
"""(range of the one number, of the other) at each level."""


def sums(level: int, rng: random.Random) -> NumbersTask:
    """The sum of two to eight one-digit numbers."""
    count, largest = SUMS[level - 1]
    terms = [rng.randint(1, largest) for _ in range(count)]
    return _asked(rng.choice(_SUM), terms, sum(terms), "+")


def addition(level: int, rng: random.Random) -> NumbersTask:
    """The sum of two numbers of one to four digits."""
    larger, smaller, carries = ADDITION[level - 1]
    a, b = _pair(larger, smaller, rng, lambda a, b: carries or not _carries(a, b))
    return _asked(rng.choice(_ADD), [a, b] if rng.random() < 0.5 else [b, a], a + b, "+")


def subtraction(level: int, rng: random.Random) -> NumbersTask:
    """The difference of two numbers of one to four digits, never below zero."""
    larger, smaller, borrows = SUBTRACTION[level - 1]
    a, b = _pair(larger, smaller, rng, lambda a, b: a >= b and (borrows or not _carries(a - b, b)))
    return _asked(rng.choice(_SUBTRACT), [a, b], a - b, "-")


def products(level: int, rng: random.Random) -> NumbersTask:
    """The product of two numbers of one or two digits."""
    small, large = PRODUCTS[level - 1]
    a, b = rng.randint(*small), rng.randint(*large)
    return _asked(rng.choice(_MULTIPLY), [a, b] if rng.random() < 0.5 else [b, a], a * b, "*")


def _asked(words: str, terms: list[int], right: int, sign: str) -> NumbersTask:
    text = words.format(plus=" + ".join(map(str, terms)), list=listed(terms), a=terms[0], b=terms[-1])
    content = sign.join(map(str, terms if sign == "-" else sorted(terms)))
    return NumbersTask(prompt=text, numbers=(right,), content=content, reference=str(right))


def _pair(
    one: tuple[int, int], other: tuple[int, int], rng: random.Random, suits: Callable[[int, int], bool]
) -> tuple[int, int]:
    """Two numbers of these ranges that suit; some pair does."""
    while True:
        a, b = rng.randint(*one), rng.randint(*other)
        if suits(a, b):
            return a, b


def _carries(a: int, b: int) -> bool:
    """Whether a column of a + b makes ten or more."""
    return any(int(x) + int(y) > 9 for x, y in zip(reversed(str(a)), reversed(str(b)), strict=False))
