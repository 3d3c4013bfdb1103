"""The functions that a policy is to find: shapes of one expression, whose constants are drawn.

A shape is the text of an expression with slots for its constants, and the same as a function of Python that the host
computes expected values with; a test runs both and compares. The shapes of a level share what makes them hard, so that
the tasks of a bucket are of like difficulty.

Constants can be read off the examples: every subject has *probes*, inputs at which a shape shows its constants digit by
digit. `x*3+7` of 100 is 307.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter, ascii_lowercase
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


def _word(rng: random.Random) -> str:
    return "".join(rng.choices(ascii_lowercase, k=2))


SLOTS: Mapping[str, Callable[[random.Random], Any]] = {
    "n": lambda rng: rng.randint(1, 99),
    "k": lambda rng: rng.randint(1, 99),
    "m": lambda rng: rng.randint(2, 9),
    "q": lambda rng: rng.randint(2, 9),
    "w": _word,
    "y": _word,
    "c": lambda rng: rng.choice(ascii_lowercase),
    "e": lambda rng: rng.choice(ascii_lowercase),
}
"""How a constant is drawn, by the name of its slot."""

NUMBERS = (
    (Shape("x+{n}", lambda x, n: x + n), Shape("x-{n}", lambda x, n: x - n)),
    (Shape("{n}-x", lambda x, n: n - x), Shape("x*x+{n}", lambda x, n: x * x + n)),
    (Shape("x*{m}+{n}", lambda x, m, n: x * m + n), Shape("x*{m}-{n}", lambda x, m, n: x * m - n)),
    (Shape("max(x,{n})", lambda x, n: max(x, n)), Shape("min(x,{n})", lambda x, n: min(x, n)),
     Shape("abs(x-{n})", lambda x, n: abs(x - n))),
    (Shape("max(x*{m},{n})", lambda x, m, n: max(x * m, n)), Shape("x*x*{m}+{n}", lambda x, m, n: x * x * m + n),
     Shape("x*x*{m}-{n}", lambda x, m, n: x * x * m - n)),
)  # fmt: skip

MAPS = (
    (Shape("[x+{n} for x in v]", lambda v, n: [x + n for x in v]),
     Shape("[x-{n} for x in v]", lambda v, n: [x - n for x in v])),
    (Shape("[{n}-x for x in v]", lambda v, n: [n - x for x in v]),
     Shape("[x*x+{n} for x in v]", lambda v, n: [x * x + n for x in v])),
    (Shape("[x*{m}+{n} for x in v]", lambda v, m, n: [x * m + n for x in v]),
     Shape("[x*{m}-{n} for x in v]", lambda v, m, n: [x * m - n for x in v])),
    (Shape("[max(x,{n}) for x in v]", lambda v, n: [max(x, n) for x in v]),
     Shape("[min(x,{n}) for x in v]", lambda v, n: [min(x, n) for x in v])),
    (Shape("[x*{m}+{n} for x in v[::-1]]", lambda v, m, n: [x * m + n for x in v[::-1]]),
     Shape("[x*{m}-{n} for x in v[1:]]", lambda v, m, n: [x * m - n for x in v[1:]])),
)  # fmt: skip

FILTERS = (
    (Shape("[x for x in v if x>={n}]", lambda v, n: [x for x in v if x >= n]),
     Shape("[x for x in v if x<={n}]", lambda v, n: [x for x in v if x <= n])),
    (Shape("[x for x in v if x>={n}][::-1]", lambda v, n: [x for x in v if x >= n][::-1]),
     Shape("[x for x in v if x<={n}][::-1]", lambda v, n: [x for x in v if x <= n][::-1])),
    (Shape("[x for x in v if {n}<=x<={k}]", lambda v, n, k: [x for x in v if n <= x <= k]),),
    (Shape("[-x for x in v if {n}<=x<={k}]", lambda v, n, k: [-x for x in v if n <= x <= k]),),
    (Shape("[x for x in v if x<={n} or x>={k}]", lambda v, n, k: [x for x in v if x <= n or x >= k]),),
)  # fmt: skip

FOLDS = (
    (Shape("sum(v)+{n}", lambda v, n: sum(v) + n), Shape("max(v)+{n}", lambda v, n: max(v) + n)),
    (Shape("sum(v)-{n}", lambda v, n: sum(v) - n), Shape("min(v)+{n}", lambda v, n: min(v) + n),
     Shape("max(v)-{n}", lambda v, n: max(v) - n)),
    (Shape("sum(v)*{m}+{n}", lambda v, m, n: sum(v) * m + n), Shape("max(v)*{m}+{n}", lambda v, m, n: max(v) * m + n)),
    (Shape("v[0]+v[-1]+{n}", lambda v, n: v[0] + v[-1] + n), Shape("max(v)-min(v)+{n}", lambda v, n: max(v) - min(v) + n),
     Shape("sum(v[1:])+{n}", lambda v, n: sum(v[1:]) + n)),
    (Shape("sum(v[1:])*{m}+{n}", lambda v, m, n: sum(v[1:]) * m + n),
     Shape("sum(x*x for x in v)+{n}", lambda v, n: sum(x * x for x in v) + n)),
)  # fmt: skip

STRINGS = (
    (Shape("s+'{w}'", lambda s, w: s + w), Shape("'{w}'+s", lambda s, w: w + s)),
    (Shape("s[::-1]+'{w}'", lambda s, w: s[::-1] + w), Shape("'{w}'+s[::-1]", lambda s, w: w + s[::-1])),
    (Shape("s.upper()+'{w}'", lambda s, w: s.upper() + w), Shape("s*2+'{w}'", lambda s, w: s * 2 + w),
     Shape("s[1:]+'{w}'", lambda s, w: s[1:] + w)),
    (Shape("'{w}'+s+'{y}'", lambda s, w, y: w + s + y),),
    (Shape("'{w}'+s[::-1]+'{y}'", lambda s, w, y: w + s[::-1] + y),
     Shape("s.replace('{c}','{e}')", lambda s, c, e: s.replace(c, e))),
)  # fmt: skip

PAIRS = (
    (Shape("a+b+{n}", lambda a, b, n: a + b + n), Shape("a*b+{n}", lambda a, b, n: a * b + n)),
    (Shape("a-b+{n}", lambda a, b, n: a - b + n), Shape("a-b-{n}", lambda a, b, n: a - b - n)),
    (Shape("a*{m}+b+{n}", lambda a, b, m, n: a * m + b + n), Shape("a+b*{m}+{n}", lambda a, b, m, n: a + b * m + n)),
    (Shape("max(a,b)+{n}", lambda a, b, n: max(a, b) + n), Shape("min(a,b)+{n}", lambda a, b, n: min(a, b) + n),
     Shape("abs(a-b)+{n}", lambda a, b, n: abs(a - b) + n)),
    (Shape("a*{m}+b*{q}+{n}", lambda a, b, m, q, n: a * m + b * q + n),
     Shape("max(a,b)*{m}+{n}", lambda a, b, m, n: max(a, b) * m + n)),
)  # fmt: skip


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


def draw(shapes: Sequence[Shape], rng: random.Random) -> Function:
    shape = rng.choice(shapes)
    return Function(shape, tuple((slot, SLOTS[slot](rng)) for slot in shape.slots))
