"""The functions that a policy is to find: shapes of one expression, whose constants are drawn.

A shape is the text of an expression with slots for its constants, and the same as a function of Python, with which the host
computes expected values; a test runs both and compares. All levels of a subject have the same shapes. A level says how long
the constants are.

Constants can be read off the examples: every subject has *probes*, inputs at which a shape shows its constants digit by
digit. `x*3+7` of 1000 is 3007.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any, Literal

Arguments = tuple[Any, ...]
"""What a function is called with."""
SubjectName = Literal["numbers", "maps", "filters", "folds", "strings", "pairs"]
LETTERS = "abcdefgh"


@dataclass(frozen=True, slots=True)
class Level:
    """How long constants are: the least and the greatest number, the fewest and the most letters."""

    numbers: tuple[int, int]
    letters: tuple[int, int]


LEVELS = (
    Level((1, 9), (1, 1)),
    Level((1, 99), (1, 2)),
    Level((10, 99), (2, 2)),
    Level((10, 999), (2, 3)),
    Level((100, 999), (3, 3)),
)
"""From easy to hard."""


@dataclass(frozen=True, slots=True)
class Shape:
    """`text` has a slot for every constant; `value(*arguments, **constants)` is what the expression comes to.

    The slots are n and k for numbers as long as the level says, m for a factor, w and y for words.
    """

    text: str
    value: Callable[..., Any]

    @property
    def slots(self) -> tuple[str, ...]:
        return tuple(sorted({name for _, name, _, _ in Formatter().parse(self.text) if name}))


NUMBERS = (
    Shape("x+{n}", lambda x, n: x + n),
    Shape("x-{n}", lambda x, n: x - n),
    Shape("{n}-x", lambda x, n: n - x),
    Shape("max(x,{n})", lambda x, n: max(x, n)),
    Shape("min(x,{n})", lambda x, n: min(x, n)),
    Shape("x*{m}+{n}", lambda x, m, n: x * m + n),
    Shape("x*{m}-{n}", lambda x, m, n: x * m - n),
)
MAPS = (
    Shape("[x+{n} for x in v]", lambda v, n: [x + n for x in v]),
    Shape("[x-{n} for x in v]", lambda v, n: [x - n for x in v]),
    Shape("[{n}-x for x in v]", lambda v, n: [n - x for x in v]),
    Shape("[max(x,{n}) for x in v]", lambda v, n: [max(x, n) for x in v]),
    Shape("[x*{m}+{n} for x in v]", lambda v, m, n: [x * m + n for x in v]),
    Shape("[x*{m}-{n} for x in v]", lambda v, m, n: [x * m - n for x in v]),
)
FILTERS = (
    Shape("[x for x in v if x>={n}]", lambda v, n: [x for x in v if x >= n]),
    Shape("[x for x in v if x<={n}]", lambda v, n: [x for x in v if x <= n]),
    Shape("[-x for x in v if x>={n}]", lambda v, n: [-x for x in v if x >= n]),
    Shape("[-x for x in v if x<={n}]", lambda v, n: [-x for x in v if x <= n]),
    Shape("[x for x in v if {n}<=x<={k}]", lambda v, n, k: [x for x in v if n <= x <= k]),
)
FOLDS = (
    Shape("sum(v)+{n}", lambda v, n: sum(v) + n),
    Shape("sum(v)-{n}", lambda v, n: sum(v) - n),
    Shape("max(v)+{n}", lambda v, n: max(v) + n),
    Shape("min(v)+{n}", lambda v, n: min(v) + n),
    Shape("v[0]+{n}", lambda v, n: v[0] + n),
    Shape("sum(v)*{m}+{n}", lambda v, m, n: sum(v) * m + n),
    Shape("max(v)*{m}+{n}", lambda v, m, n: max(v) * m + n),
)
STRINGS = (
    Shape("s+'{w}'", lambda s, w: s + w),
    Shape("'{w}'+s", lambda s, w: w + s),
    Shape("s[::-1]+'{w}'", lambda s, w: s[::-1] + w),
    Shape("s*2+'{w}'", lambda s, w: s * 2 + w),
    Shape("s.upper()+'{w}'", lambda s, w: s.upper() + w),
    Shape("'{w}'+s+'{y}'", lambda s, w, y: w + s + y),
)
PAIRS = (
    Shape("a+b+{n}", lambda a, b, n: a + b + n),
    Shape("a-b+{n}", lambda a, b, n: a - b + n),
    Shape("a*b+{n}", lambda a, b, n: a * b + n),
    Shape("max(a,b)+{n}", lambda a, b, n: max(a, b) + n),
    Shape("min(a,b)+{n}", lambda a, b, n: min(a, b) + n),
    Shape("a*{m}+b+{n}", lambda a, b, m, n: a * m + b + n),
    Shape("a*{m}-b+{n}", lambda a, b, m, n: a * m - b + n),
)


@dataclass(frozen=True, slots=True)
class Function:
    """A shape with its constants."""

    shape: Shape
    constants: tuple[tuple[str, Any], ...]

    @property
    def expression(self) -> str:
        return self.shape.text.format(**dict(self.constants))

    def __call__(self, *arguments: Any) -> Any:
        return self.shape.value(*arguments, **dict(self.constants))


def draw(shapes: Sequence[Shape], level: Level, rng: random.Random) -> Function:
    shape = rng.choice(shapes)
    return Function(shape, tuple((slot, _constant(slot, level, rng)) for slot in shape.slots))


def _constant(slot: str, level: Level, rng: random.Random) -> Any:
    if slot == "m":
        return rng.randint(2, 9)
    return rng.randint(*level.numbers) if slot in "nk" else word(rng, *level.letters)


def word(rng: random.Random, fewest: int, most: int) -> str:
    return "".join(rng.choices(LETTERS, k=rng.randint(fewest, most)))
