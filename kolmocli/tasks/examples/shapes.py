"""The functions that a policy is to find: shapes of one expression, or of a few lines (`programs.py`), whose constants are drawn.

A shape is the text of an expression, or of the body of a function, with slots for its constants, and the same as a function of Python, with which the host
computes expected values; a test runs both and compares. The shapes of a subject stand on rungs, from easy to hard. Constants
are as long everywhere, so that what was learned from reading them on one rung serves on the others.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any, Literal

Arguments = tuple[Any, ...]
"""Arguments of a function."""
SubjectName = Literal["numbers", "maps", "filters", "folds", "strings", "pairs"]
LadderName = Literal["expressions", "programs"]
"""Name of the ladder: `expressions` has five levels, `programs` 14 or 15."""


@dataclass(frozen=True, slots=True)
class Shape:
    """`text` has a slot for every constant, and so have `words`, which say the same in English;
    `value(*arguments, **constants)` is the value of the expression."""

    text: str
    words: str
    value: Callable[..., Any]

    @property
    def body(self) -> str:
        """Lines below the head of the function."""
        return self.text if "return " in self.text else f"return {self.text}"

    @property
    def slots(self) -> tuple[str, ...]:
        return tuple(sorted({name for _, name, _, _ in Formatter().parse(self.text) if name}))


Ladder = Sequence[Sequence[Shape]]
"""Shapes by rung, from easy to hard."""


def by_text(ladder: Ladder) -> dict[str, Shape]:
    return {shape.text: shape for rung in ladder for shape in rung}


NUMBERS: Ladder = (
    (
        Shape("x+{n}", "x plus {n}", lambda x, n: x + n),
        Shape("x-{n}", "x minus {n}", lambda x, n: x - n),
    ),
    (Shape("{n}-x", "{n} minus x", lambda x, n: n - x),),
    (Shape("x*{m}+{n}", "x times {m}, plus {n}", lambda x, m, n: x * m + n),),
    (
        Shape("x*{m}-{n}", "x times {m}, minus {n}", lambda x, m, n: x * m - n),
        Shape("max(x,{n})", "the larger of x and {n}", lambda x, n: max(x, n)),
    ),
    (
        Shape("x*x*{m}+{n}", "the square of x, times {m}, plus {n}", lambda x, m, n: x * x * m + n),
        Shape("{n}-x*{m}", "{n} minus {m} times x", lambda x, n, m: n - x * m),
    ),
)
MAPS: Ladder = (
    (
        Shape("[x+{n} for x in v]", "the list of the numbers in v, each plus {n}", lambda v, n: [x + n for x in v]),
        Shape("[x-{n} for x in v]", "the list of the numbers in v, each minus {n}", lambda v, n: [x - n for x in v]),
    ),
    (Shape("[{n}-x for x in v]", "the list of {n} minus x for every number x in v", lambda v, n: [n - x for x in v]),),
    (
        Shape(
            "[x*{m}+{n} for x in v]",
            "the list of the numbers in v, each times {m} and then plus {n}",
            lambda v, m, n: [x * m + n for x in v],
        ),
    ),
    (
        Shape(
            "[x*{m}-{n} for x in v]",
            "the list of the numbers in v, each times {m} and then minus {n}",
            lambda v, m, n: [x * m - n for x in v],
        ),
        Shape(
            "[max(x,{n}) for x in v]",
            "the list of the numbers in v, where each that is less than {n} is replaced by {n}",
            lambda v, n: [max(x, n) for x in v],
        ),
    ),
    (
        Shape(
            "[x+{n} for x in v[::-1]]",
            "the list of the numbers in v in reverse order, each plus {n}",
            lambda v, n: [x + n for x in v[::-1]],
        ),
        Shape(
            "[x*{m}+{n} for x in v[::-1]]",
            "the list of the numbers in v in reverse order, each times {m} and then plus {n}",
            lambda v, m, n: [x * m + n for x in v[::-1]],
        ),
    ),
)
FILTERS: Ladder = (
    (
        Shape(
            "[x for x in v if x>={n}]",
            "the list of those numbers in v that are at least {n}",
            lambda v, n: [x for x in v if x >= n],
        ),
        Shape(
            "[x for x in v if x<={n}]",
            "the list of those numbers in v that are at most {n}",
            lambda v, n: [x for x in v if x <= n],
        ),
    ),
    (
        Shape(
            "[-x for x in v if x>={n}]",
            "the list of those numbers in v that are at least {n}, each with its sign changed",
            lambda v, n: [-x for x in v if x >= n],
        ),
    ),
    (
        Shape(
            "[-x for x in v if x<={n}]",
            "the list of those numbers in v that are at most {n}, each with its sign changed",
            lambda v, n: [-x for x in v if x <= n],
        ),
    ),
    (
        Shape(
            "[x for x in v if {n}<=x<={k}]",
            "the list of those numbers in v that are at least {n} and at most {k}",
            lambda v, n, k: [x for x in v if n <= x <= k],
        ),
    ),
    (
        Shape(
            "[-x for x in v if {n}<=x<={k}]",
            "the list of those numbers in v that are at least {n} and at most {k}, each with its sign changed",
            lambda v, n, k: [-x for x in v if n <= x <= k],
        ),
        Shape(
            "[x for x in v if x<={n} or x>={k}]",
            "the list of those numbers in v that are at most {n} or at least {k}",
            lambda v, n, k: [x for x in v if x <= n or x >= k],
        ),
    ),
)
FOLDS: Ladder = (
    (
        Shape("sum(v)+{n}", "the sum of v, plus {n}", lambda v, n: sum(v) + n),
        Shape("sum(v)-{n}", "the sum of v, minus {n}", lambda v, n: sum(v) - n),
    ),
    (Shape("max(v)+{n}", "the largest number in v, plus {n}", lambda v, n: max(v) + n),),
    (
        Shape("min(v)+{n}", "the smallest number in v, plus {n}", lambda v, n: min(v) + n),
        Shape("v[0]+{n}", "the first number in v, plus {n}", lambda v, n: v[0] + n),
    ),
    (Shape("sum(v)*{m}+{n}", "the sum of v times {m}, plus {n}", lambda v, m, n: sum(v) * m + n),),
    (
        Shape("max(v)*{m}+{n}", "the largest number in v times {m}, plus {n}", lambda v, m, n: max(v) * m + n),
        Shape("sum(v)*{m}-{n}", "the sum of v times {m}, minus {n}", lambda v, m, n: sum(v) * m - n),
    ),
)
STRINGS: Ladder = (
    (Shape("s+'{w}'", "the string s followed by '{w}'", lambda s, w: s + w),),
    (Shape("'{w}'+s", "'{w}' followed by the string s", lambda s, w: w + s),),
    (
        Shape("s[::-1]+'{w}'", "the string s reversed, followed by '{w}'", lambda s, w: s[::-1] + w),
        Shape("s*2+'{w}'", "the string s twice, followed by '{w}'", lambda s, w: s * 2 + w),
    ),
    (
        Shape("s.upper()+'{w}'", "the string s in upper case, followed by '{w}'", lambda s, w: s.upper() + w),
        Shape("'{w}'+s+'{y}'", "'{w}', then the string s, then '{y}'", lambda s, w, y: w + s + y),
    ),
    (
        Shape("'{w}'+s[::-1]", "'{w}' followed by the string s reversed", lambda s, w: w + s[::-1]),
        Shape("'{w}'+s.upper()", "'{w}' followed by the string s in upper case", lambda s, w: w + s.upper()),
    ),
)
PAIRS: Ladder = (
    (
        Shape("a+b+{n}", "the sum of a, b and {n}", lambda a, b, n: a + b + n),
        Shape("a-b+{n}", "a minus b, plus {n}", lambda a, b, n: a - b + n),
    ),
    (Shape("a*b+{n}", "a times b, plus {n}", lambda a, b, n: a * b + n),),
    (
        Shape("max(a,b)+{n}", "the larger of a and b, plus {n}", lambda a, b, n: max(a, b) + n),
        Shape("min(a,b)+{n}", "the smaller of a and b, plus {n}", lambda a, b, n: min(a, b) + n),
    ),
    (Shape("a*{m}+b+{n}", "a times {m}, plus b, plus {n}", lambda a, b, m, n: a * m + b + n),),
    (
        Shape("a*{m}-b+{n}", "a times {m}, minus b, plus {n}", lambda a, b, m, n: a * m - b + n),
        Shape("a+b*{m}+{n}", "a plus {m} times b, plus {n}", lambda a, b, m, n: a + b * m + n),
    ),
)


@dataclass(frozen=True, slots=True)
class Function:
    """A shape with its constants."""

    shape: Shape
    constants: tuple[tuple[str, Any], ...]

    @property
    def expression(self) -> str:
        return self.shape.text.format(**dict(self.constants))

    @property
    def body(self) -> str:
        return self.shape.body.format(**dict(self.constants))

    @property
    def words(self) -> str:
        return self.shape.words.format(**dict(self.constants))

    def __call__(self, *arguments: Any) -> Any:
        return self.shape.value(*arguments, **dict(self.constants))


def draw(ladder: Ladder, level: int, rng: random.Random, spread: float) -> Function:
    """A function of this level: mostly of its own rung, and of each further one `spread` times as often as of the one before.

    So the easiest level has a few of harder shapes: a shape that is never written cannot be reinforced.
    """
    weights = [spread ** abs(rung - level) for rung in range(1, len(ladder) + 1)]
    shape = rng.choice(rng.choices(ladder, weights)[0])
    return Function(shape, tuple((slot, _SLOTS[slot](rng)) for slot in shape.slots))


_SLOTS: Mapping[str, Callable[[random.Random], Any]] = {
    "n": lambda rng: rng.randint(10, 99),
    "k": lambda rng: rng.randint(10, 99),
    "j": lambda rng: rng.randint(10, 99),
    "c": lambda rng: rng.randint(2, 4),
    "m": lambda rng: rng.randint(2, 9),
    "w": lambda rng: str(rng.randint(10, 99)),
    "y": lambda rng: str(rng.randint(10, 99)),
}
"""Generator of a constant, by the name of its slot."""
