"""The functions that a policy is to find: shapes of one expression, whose constants are drawn.

A shape is the text of an expression with slots for its constants, and the same as a function of Python, with which the host
computes expected values; a test runs both and compares. The shapes of a subject stand on rungs, from easy to hard. Constants
are as long everywhere, so that what was learnt of reading them on one rung serves on the others.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any, Literal

Arguments = tuple[Any, ...]
"""What a function is called with."""
SubjectName = Literal["numbers", "maps", "filters", "folds", "strings", "pairs"]


@dataclass(frozen=True, slots=True)
class Shape:
    """`text` has a slot for every constant; `value(*arguments, **constants)` is what the expression comes to."""

    text: str
    value: Callable[..., Any]

    @property
    def slots(self) -> tuple[str, ...]:
        return tuple(sorted({name for _, name, _, _ in Formatter().parse(self.text) if name}))


Ladder = Sequence[Sequence[Shape]]
"""Shapes by rung, from easy to hard."""

NUMBERS: Ladder = (
    (
        Shape("x+{n}", lambda x, n: x + n),
        Shape("x-{n}", lambda x, n: x - n),
    ),
    (Shape("{n}-x", lambda x, n: n - x),),
    (Shape("x*{m}+{n}", lambda x, m, n: x * m + n),),
    (
        Shape("x*{m}-{n}", lambda x, m, n: x * m - n),
        Shape("max(x,{n})", lambda x, n: max(x, n)),
    ),
    (
        Shape("x*x*{m}+{n}", lambda x, m, n: x * x * m + n),
        Shape("{n}-x*{m}", lambda x, n, m: n - x * m),
    ),
)
MAPS: Ladder = (
    (
        Shape("[x+{n} for x in v]", lambda v, n: [x + n for x in v]),
        Shape("[x-{n} for x in v]", lambda v, n: [x - n for x in v]),
    ),
    (Shape("[{n}-x for x in v]", lambda v, n: [n - x for x in v]),),
    (Shape("[x*{m}+{n} for x in v]", lambda v, m, n: [x * m + n for x in v]),),
    (
        Shape("[x*{m}-{n} for x in v]", lambda v, m, n: [x * m - n for x in v]),
        Shape("[max(x,{n}) for x in v]", lambda v, n: [max(x, n) for x in v]),
    ),
    (
        Shape("[x+{n} for x in v[::-1]]", lambda v, n: [x + n for x in v[::-1]]),
        Shape("[x*{m}+{n} for x in v[::-1]]", lambda v, m, n: [x * m + n for x in v[::-1]]),
    ),
)
FILTERS: Ladder = (
    (
        Shape("[x for x in v if x>={n}]", lambda v, n: [x for x in v if x >= n]),
        Shape("[x for x in v if x<={n}]", lambda v, n: [x for x in v if x <= n]),
    ),
    (Shape("[-x for x in v if x>={n}]", lambda v, n: [-x for x in v if x >= n]),),
    (Shape("[-x for x in v if x<={n}]", lambda v, n: [-x for x in v if x <= n]),),
    (Shape("[x for x in v if {n}<=x<={k}]", lambda v, n, k: [x for x in v if n <= x <= k]),),
    (
        Shape("[-x for x in v if {n}<=x<={k}]", lambda v, n, k: [-x for x in v if n <= x <= k]),
        Shape("[x for x in v if x<={n} or x>={k}]", lambda v, n, k: [x for x in v if x <= n or x >= k]),
    ),
)
FOLDS: Ladder = (
    (
        Shape("sum(v)+{n}", lambda v, n: sum(v) + n),
        Shape("sum(v)-{n}", lambda v, n: sum(v) - n),
    ),
    (Shape("max(v)+{n}", lambda v, n: max(v) + n),),
    (
        Shape("min(v)+{n}", lambda v, n: min(v) + n),
        Shape("v[0]+{n}", lambda v, n: v[0] + n),
    ),
    (Shape("sum(v)*{m}+{n}", lambda v, m, n: sum(v) * m + n),),
    (
        Shape("max(v)*{m}+{n}", lambda v, m, n: max(v) * m + n),
        Shape("sum(v)*{m}-{n}", lambda v, m, n: sum(v) * m - n),
    ),
)
STRINGS: Ladder = (
    (Shape("s+'{w}'", lambda s, w: s + w),),
    (Shape("'{w}'+s", lambda s, w: w + s),),
    (
        Shape("s[::-1]+'{w}'", lambda s, w: s[::-1] + w),
        Shape("s*2+'{w}'", lambda s, w: s * 2 + w),
    ),
    (
        Shape("s.upper()+'{w}'", lambda s, w: s.upper() + w),
        Shape("'{w}'+s+'{y}'", lambda s, w, y: w + s + y),
    ),
    (
        Shape("'{w}'+s[::-1]", lambda s, w: w + s[::-1]),
        Shape("'{w}'+s.upper()", lambda s, w: w + s.upper()),
    ),
)
PAIRS: Ladder = (
    (
        Shape("a+b+{n}", lambda a, b, n: a + b + n),
        Shape("a-b+{n}", lambda a, b, n: a - b + n),
    ),
    (Shape("a*b+{n}", lambda a, b, n: a * b + n),),
    (
        Shape("max(a,b)+{n}", lambda a, b, n: max(a, b) + n),
        Shape("min(a,b)+{n}", lambda a, b, n: min(a, b) + n),
    ),
    (Shape("a*{m}+b+{n}", lambda a, b, m, n: a * m + b + n),),
    (
        Shape("a*{m}-b+{n}", lambda a, b, m, n: a * m - b + n),
        Shape("a+b*{m}+{n}", lambda a, b, m, n: a + b * m + n),
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

    def __call__(self, *arguments: Any) -> Any:
        return self.shape.value(*arguments, **dict(self.constants))


def draw(ladder: Ladder, level: int, rng: random.Random) -> Function:
    """A function of this level: mostly of its own rung, and of each further one 0.6 times as often as of the one before.

    So the easiest level has a few of the hardest shapes: a shape that is never written cannot be reinforced.
    """
    weights = [0.6 ** abs(rung - level) for rung in range(1, len(ladder) + 1)]
    shape = rng.choice(rng.choices(ladder, weights)[0])
    return Function(shape, tuple((slot, _SLOTS[slot](rng)) for slot in shape.slots))


_SLOTS: Mapping[str, Callable[[random.Random], Any]] = {
    "n": lambda rng: rng.randint(10, 99),
    "k": lambda rng: rng.randint(10, 99),
    "m": lambda rng: rng.randint(2, 9),
    "w": lambda rng: str(rng.randint(10, 99)),
    "y": lambda rng: str(rng.randint(10, 99)),
}
"""How a constant is drawn, by the name of its slot."""
