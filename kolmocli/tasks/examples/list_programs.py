"""The long ladders of lists: from the expressions on to conditionals, nested comprehensions, sorting by a key, strings that are
built, two statements with a local name, loops with an accumulator, counting into a dict, and a helper function.

The text of a program is the body of a function, one space deep. Its result is written a second time, in another way
where that is short: a test runs both and compares. The rungs stand in the order in which a policy learns them, and
neighbours differ by one thing: another construct, or one more constant to read. Shapes whose constants can only be had by
arithmetic are not among them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import accumulate
from typing import Any

from kolmocli.tasks.examples.shapes import FILTERS, FOLDS, MAPS, Ladder, Shape, by_text

_MAPS, _FILTERS, _FOLDS = by_text(MAPS), by_text(FILTERS), by_text(FOLDS)


def counted(values: Iterable[Any], step: int) -> dict[Any, int]:
    """`step` for every time that a value is there, in the order of first appearance."""
    return {value: step * times for value, times in Counter(values).items()}


def alternating(v: list[int], start: int) -> int:
    return list(accumulate(v, lambda total, x: x - total, initial=start))[-1]


MAP_PROGRAMS: Ladder = (
    (_MAPS["[x+{n} for x in v]"], _MAPS["[{n}-x for x in v]"]),
    (
        _MAPS["[x+{n} for x in v[::-1]]"],
        Shape("[x+{n} for x in sorted(v,key=lambda x:-x)]",
              "the list of the numbers in v from large to small, each plus {n}",
              lambda v, n: sorted((x + n for x in v), reverse=True)),
    ),
    (
        Shape("r={{}}\n for x in v:r[x]=r.get(x,0)+{n}\n return r",
              "a dict that has for every number in v {n} times how often it is there",
              lambda v, n: counted(v, n)),
    ),
    (
        _MAPS["[max(x,{n}) for x in v]"],
        Shape("t=sum(v)\n return [x+t+{n} for x in v]",
              "the list of the numbers in v, each plus the sum of v, plus {n}",
              lambda v, n: [x + sum(v) + n for x in v]),
    ),
    (
        Shape("t={n}\n r=[]\n for x in v:t+=x;r+=[t]\n return r",
              "the list of the running sums of v, each plus {n}",
              lambda v, n: [x + n for x in accumulate(v)]),
    ),
    (_MAPS["[x*{m}+{n} for x in v]"],),
    (
        _MAPS["[x-{n} for x in v]"],
        Shape("t=[x+{n} for x in v]\n return t+t[::-1]",
              "the list of the numbers in v, each plus {n}, followed by the same reversed",
              lambda v, n: [x + n for x in [*v, *reversed(v)]]),
    ),
    (
        Shape("[x*y for x in v for y in(1,{m})]",
              "a list that has, for every number in v, the number and {m} times the number",
              lambda v, m: [z for x in v for z in (x, m * x)]),
    ),
    (
        Shape("def g(x):return x*{m}+{n}\n return [g(x) for x in v]+[g(0)]",
              "the list of g(x) for every x in v, and then g(0), where g(x) is x times {m}, plus {n}",
              lambda v, m, n: [x * m + n for x in [*v, 0]]),
    ),
    (_MAPS["[x*{m}+{n} for x in v[::-1]]"],),
    (
        Shape("r=[]\n for x in v:r+=[x+{n},x*{m}]\n return r",
              "a list that has, for every number in v, the number plus {n} and the number times {m}",
              lambda v, n, m: [z for x in v for z in (x + n, x * m)]),
    ),
    (
        Shape("[x+{n} if x>0 else {k}-x for x in v]",
              "the list of x plus {n} for the positive numbers x in v, and of {k} minus x for the others, in their "
              "order",
              lambda v, n, k: [x + n if x > 0 else k - x for x in v]),
        Shape("[x+{n} if x>0 else x-{k} for x in v]",
              "the list of the numbers in v, plus {n} where positive, else minus {k}",
              lambda v, n, k: [x + n if x > 0 else x - k for x in v]),
    ),
    (
        Shape("[x+y for x in v for y in({n},{k})]",
              "a list that has, for every number in v, the number plus {n} and the number plus {k}",
              lambda v, n, k: [z for x in v for z in (x + n, x + k)]),
    ),
    (
        Shape("[x*{m}+{n} if x>0 else {k}-x for x in v]",
              "the list of x times {m} plus {n} for the positive numbers x in v, and of {k} minus x for the others,"
              " in their order",
              lambda v, m, n, k: [x * m + n if x > 0 else k - x for x in v]),
    ),
    (
        Shape("def g(x):return x*{m}+{n} if x>0 else {k}-x\n return [g(x) for x in v]+[g(0)]",
              "the list of g(x) for every x in v, and then g(0), where g(x) is x times {m} plus {n} if x is "
              "positive, else {k} minus x",
              lambda v, m, n, k: [x * m + n if x > 0 else k - x for x in [*v, 0]]),
    ),
)  # fmt: skip
FILTER_PROGRAMS: Ladder = (
    (_FILTERS["[x for x in v if x>={n}]"], _FILTERS["[x for x in v if x<={n}]"]),
    (
        Shape("sorted(v,key=lambda x:x<{n})",
              "the list of the numbers in v that are at least {n}, and then of the others",
              lambda v, n: [x for x in v if x >= n] + [x for x in v if x < n]),
    ),
    (_FILTERS["[-x for x in v if x>={n}]"], _FILTERS["[-x for x in v if x<={n}]"]),
    (
        Shape("[x if x>={n} else 0 for x in v]",
              "the list of the numbers in v, with 0 for those below {n}",
              lambda v, n: [x * (x >= n) for x in v]),
        Shape("[x if x<={n} else 0 for x in v]",
              "the list of the numbers in v, with 0 for those above {n}",
              lambda v, n: [x * (x <= n) for x in v]),
    ),
    (
        Shape("r={{}}\n for x in v:\n  if x>={n}:r[x]=r.get(x,0)+{m}\n return r",
              "a dict that has for every number in v that is at least {n} {m} times how often it is there",
              lambda v, n, m: counted((x for x in v if x >= n), m)),
    ),
    (
        Shape("r=[]\n for x in v:\n  if x>={n}:r=[x]+r\n return r",
              "the list of the numbers in v that are at least {n}, reversed",
              lambda v, n: [x for x in reversed(v) if x >= n]),
    ),
    (
        Shape("[x if x>={n} else -x for x in v]",
              "the list of the numbers in v, where those below {n} have their sign changed",
              lambda v, n: [x if x >= n else -x for x in v]),
    ),
    (
        Shape("w=[x for x in v if x>={n}]\n return w+w[::-1]",
              "the list of the numbers in v that are at least {n}, followed by the same reversed",
              lambda v, n: [x for x in [*v, *reversed(v)] if x >= n]),
        Shape("w=[x for x in v if x>={n}]\n return [len(w)]+w",
              "a list of how many numbers in v are at least {n}, and then of these numbers",
              lambda v, n: [sum(x >= n for x in v), *(x for x in v if x >= n)]),
    ),
    (
        Shape("def g(x):return x if x>={n} else -x\n return [g(x) for x in v]+[g(50)]",
              "the list of g(x) for every x in v, and then g(50), where g(x) is x if x is at least {n}, else minus x",
              lambda v, n: [x if x >= n else -x for x in [*v, 50]]),
    ),
    (
        Shape("r=0\n for x in v:\n  if x>={n}:r+=x\n return r",
              "the sum of the numbers in v that are at least {n}",
              lambda v, n: sum(x for x in v if x >= n)),
    ),
    (_FILTERS["[x for x in v if {n}<=x<={k}]"], _FILTERS["[x for x in v if x<={n} or x>={k}]"]),
    (
        Shape("[0 if {n}<=x<={k} else x for x in v]",
              "the list of the numbers in v, with 0 for those from {n} to {k}",
              lambda v, n, k: [x * (not n <= x <= k) for x in v]),
    ),
    (_FILTERS["[-x for x in v if {n}<=x<={k}]"],),
    (
        Shape("[x+y for x in v if x>={n} for y in(0,{j})]",
              "a list that has, for every number in v that is at least {n}, the number and the number plus {j}",
              lambda v, n, j: [z for x in v if x >= n for z in (x, x + j)]),
    ),
)  # fmt: skip
FOLD_PROGRAMS: Ladder = (
    (
        Shape("str(sum(v))+'{w}'",
              "the digits of the sum of v as a string, followed by '{w}'",
              lambda v, w: f"{sum(v)}{w}"),
        Shape("'{w}'+str(max(v))",
              "'{w}' followed by the digits of the largest number in v, as a string",
              lambda v, w: f"{w}{max(v)}"),
    ),
    (
        Shape("r={{}}\n for x in v:r[x]=r.get(x,0)+{n}\n return r",
              "a dict that has for every number in v {n} times how often it is there",
              lambda v, n: counted(v, n)),
    ),
    (_FOLDS["v[0]+{n}"], _FOLDS["max(v)+{n}"]),
    (_FOLDS["sum(v)+{n}"], _FOLDS["min(v)+{n}"]),
    (
        Shape("w=sorted(v,key=lambda x:-x)\n return [x+{n} for x in w]",
              "the list of the numbers in v from large to small, each plus {n}",
              lambda v, n: sorted((x + n for x in v), reverse=True)),
    ),
    (
        Shape("r={n}\n for x in v:r+=x*x\n return r",
              "the sum of the squares of v, plus {n}",
              lambda v, n: n + sum(x**2 for x in v)),
        Shape("r={n}\n for x in v:r=x-r\n return r",
              "what becomes of {n} if each number x in v in turn replaces it by x minus it",
              lambda v, n: alternating(v, n)),
    ),
    (
        Shape("r={n}\n for x in v:\n  if x<r:r=x\n return r",
              "the smallest of {n} and the numbers in v",
              lambda v, n: min([n, *v])),
    ),
    (_FOLDS["sum(v)*{m}+{n}"], _FOLDS["max(v)*{m}+{n}"]),
    (
        Shape("r={n}\n for x in v:\n  if x>9:r+=x\n return r",
              "the sum of the numbers in v above 9, plus {n}",
              lambda v, n: n + sum(x for x in v if x > 9)),
    ),
    (
        Shape("def g(x):return x*{m}+{n}\n return [g(sum(v)),g(max(v))]",
              "the list of g of the sum of v and g of the largest number in v, where g(x) is x times {m}, plus {n}",
              lambda v, m, n: [sum(v) * m + n, max(v) * m + n]),
    ),
    (
        Shape("t=sum(v)\n return [t+{n},t*{m}]",
              "a list of two numbers: the sum of v plus {n}, and the sum of v times {m}",
              lambda v, n, m: [sum(v) + n, sum(v) * m]),
    ),
    (
        Shape("max(v)+{n} if len(v)>1 else {k}",
              "the largest number in v, plus {n}, if v has more than one, else {k}",
              lambda v, n, k: max(v) + n if len(v) > 1 else k),
        Shape("sum(v)+{n} if len(v)>1 else {k}",
              "the sum of v, plus {n}, if v has more than one number, else {k}",
              lambda v, n, k: sum(v) + n if len(v) > 1 else k),
    ),
    (
        Shape("sum(v)*{m}+{n} if len(v)>1 else {k}",
              "the sum of v times {m}, plus {n}, if v has more than one number, else {k}",
              lambda v, m, n, k: sum(v) * m + n if len(v) > 1 else k),
    ),
    (
        Shape("t=max(v)\n return [t*{m}+{n},t+{k}]",
              "a list of two numbers: the largest in v times {m} plus {n}, and the largest in v plus {k}",
              lambda v, m, n, k: [max(v) * m + n, max(v) + k]),
    ),
)  # fmt: skip
