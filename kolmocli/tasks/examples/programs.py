"""The rungs above the expressions: conditionals, nested comprehensions, strings that are built, two statements with a local
name, loops with an accumulator, sorting by a key, counting into a dict, a helper function.

The text of a program is the body of a function, one space deep. What it returns is said a second time, in another way
where that is short: a test runs both and compares. Neighbouring rungs differ by one thing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import accumulate
from math import gcd
from typing import Any

from kolmocli.tasks.examples.shapes import (
    FILTERS,
    FOLDS,
    MAPS,
    NUMBERS,
    PAIRS,
    STRINGS,
    Ladder,
    Shape,
    SubjectName,
)


def _counted(values: Any, step: int) -> dict[Any, int]:
    return {value: step * times for value, times in Counter(values).items()}


def _alternating(v: list[int], start: int) -> int:
    return list(accumulate(v, lambda total, x: x - total, initial=start))[-1]


NUMBER_PROGRAMS: Ladder = (
    (
        Shape("x+{n} if x>0 else x-{k}", "x plus {n} if x is positive, else x minus {k}",
              lambda x, n, k: x + n if x > 0 else x - k),
        Shape("x+{n} if x>0 else {k}-x", "x plus {n} if x is positive, else {k} minus x",
              lambda x, n, k: x + n if x > 0 else k - x),
    ),
    (
        Shape("x*{m}+{n} if x>0 else {k}-x", "x times {m}, plus {n} if x is positive, else {k} minus x",
              lambda x, m, n, k: x * m + n if x > 0 else k - x),
    ),
    (
        Shape("{n} if x%2 else x*{m}", "{n} if x is odd, else x times {m}", lambda x, n, m: n if x % 2 else x * m),
        Shape("x*{m} if x%2 else {n}-x", "x times {m} if x is odd, else {n} minus x",
              lambda x, n, m: x * m if x % 2 else n - x),
    ),
    (
        Shape("str(x)+'{w}'", "the digits of x as a string, followed by '{w}'", lambda x, w: str(x) + w),
        Shape("'{w}'+str(x)", "'{w}' followed by the digits of x, as a string", lambda x, w: w + str(x)),
    ),
    (
        Shape("y=x*{m}\n return [y+{n},y-{k}]", "a list of two numbers: x times {m} plus {n}, and x times {m} minus {k}",
              lambda x, m, n, k: [x * m + n, x * m - k]),
    ),
    (
        Shape("y=x*{m}+{n}\n if x<0:y=-y\n return y", "x times {m}, plus {n}, and with its sign changed where x is negative",
              lambda x, m, n: -(x * m + n) if x < 0 else x * m + n),
    ),
    (
        Shape("r={n}\n for i in range(x):r+={m}\n return r", "{n}, plus {m} for every number from 0 up to x, without x",
              lambda x, n, m: n + m * max(x, 0)),
        Shape("r=x\n for i in range({c}):r=r*100+{n}\n return r", "x after {c} times of multiplying it by 100 and adding {n}",
              lambda x, c, n: x * 100**c + n * sum(100**i for i in range(c))),
    ),
    (
        Shape("r=[]\n for i in range({c}):r+=[x*i+{n}]\n return r", "the list of x times i, plus {n}, for i from 0 up to {c}, without {c}",
              lambda x, c, n: [x * i + n for i in range(c)]),
    ),
    (
        Shape("def g(y):return y*{m}+{n}\n return [g(x),g(-x)]", "the list of g(x) and g(-x), where g(y) is y times {m}, plus {n}",
              lambda x, m, n: [x * m + n, n - x * m]),
    ),
)  # fmt: skip
MAP_PROGRAMS: Ladder = (
    (
        Shape("[x+{n} if x>0 else x-{k} for x in v]", "the list of the numbers in v, plus {n} where positive, else minus {k}",
              lambda v, n, k: [x + n if x > 0 else x - k for x in v]),
        Shape("[x+{n} if x>0 else {k}-x for x in v]",
              "the list of x plus {n} for the positive numbers x in v, and of {k} minus x for the others, in their order",
              lambda v, n, k: [x + n if x > 0 else k - x for x in v]),
    ),
    (
        Shape("[x*{m}+{n} if x>0 else {k}-x for x in v]",
              "the list of x times {m} plus {n} for the positive numbers x in v, and of {k} minus x for the others, in their order",
              lambda v, m, n, k: [x * m + n if x > 0 else k - x for x in v]),
    ),
    (
        Shape("[x*y for x in v for y in(1,{m})]", "a list that has, for every number in v, the number and {m} times the number",
              lambda v, m: [z for x in v for z in (x, m * x)]),
    ),
    (
        Shape("[x+y for x in v for y in({n},{k})]", "a list that has, for every number in v, the number plus {n} and the number plus {k}",
              lambda v, n, k: [z for x in v for z in (x + n, x + k)]),
    ),
    (
        Shape("[x+{n} for x in sorted(v,key=lambda x:-x)]", "the list of the numbers in v from large to small, each plus {n}",
              lambda v, n: sorted((x + n for x in v), reverse=True)),
    ),
    (
        Shape("t=[x+{n} for x in v]\n return t+t[::-1]", "the list of the numbers in v, each plus {n}, followed by the same reversed",
              lambda v, n: [x + n for x in [*v, *reversed(v)]]),
        Shape("t=sum(v)\n return [x+t+{n} for x in v]", "the list of the numbers in v, each plus the sum of v, plus {n}",
              lambda v, n: [x + sum(v) + n for x in v]),
    ),
    (
        Shape("r=[]\n for x in v:r+=[x+{n},x*{m}]\n return r", "a list that has, for every number in v, the number plus {n} and the number times {m}",
              lambda v, n, m: [z for x in v for z in (x + n, x * m)]),
    ),
    (
        Shape("t={n}\n r=[]\n for x in v:t+=x;r+=[t]\n return r", "the list of the running sums of v, each plus {n}",
              lambda v, n: [x + n for x in accumulate(v)]),
    ),
    (
        Shape("r={{}}\n for x in v:r[x]=r.get(x,0)+{n}\n return r", "a dict that has for every number in v {n} times how often it is there",
              lambda v, n: _counted(v, n)),
    ),
    (
        Shape("def g(x):return x*{m}+{n}\n return [g(x) for x in v]+[g(0)]", "the list of g(x) for every x in v, and then g(0), where g(x) is x times {m}, plus {n}",
              lambda v, m, n: [x * m + n for x in [*v, 0]]),
    ),
)  # fmt: skip
FILTER_PROGRAMS: Ladder = (
    (
        Shape("[x if x>={n} else 0 for x in v]", "the list of the numbers in v, with 0 for those below {n}",
              lambda v, n: [x * (x >= n) for x in v]),
        Shape("[x if x<={n} else 0 for x in v]", "the list of the numbers in v, with 0 for those above {n}",
              lambda v, n: [x * (x <= n) for x in v]),
    ),
    (
        Shape("[x if x>={n} else -x for x in v]", "the list of the numbers in v, where those below {n} have their sign changed",
              lambda v, n: [x if x >= n else -x for x in v]),
    ),
    (
        Shape("[0 if {n}<=x<={k} else x for x in v]", "the list of the numbers in v, with 0 for those from {n} to {k}",
              lambda v, n, k: [x * (not n <= x <= k) for x in v]),
    ),
    (
        Shape("[x+y for x in v if x>={n} for y in(0,{j})]", "a list that has, for every number in v that is at least {n}, the number and the number plus {j}",
              lambda v, n, j: [z for x in v if x >= n for z in (x, x + j)]),
    ),
    (
        Shape("sorted(v,key=lambda x:x<{n})", "the list of the numbers in v that are at least {n}, and then of the others",
              lambda v, n: [x for x in v if x >= n] + [x for x in v if x < n]),
    ),
    (
        Shape("w=[x for x in v if x>={n}]\n return w+w[::-1]", "the list of the numbers in v that are at least {n}, followed by the same reversed",
              lambda v, n: [x for x in [*v, *reversed(v)] if x >= n]),
        Shape("w=[x for x in v if x>={n}]\n return [len(w)]+w", "a list of how many numbers in v are at least {n}, and then of these numbers",
              lambda v, n: [sum(x >= n for x in v), *(x for x in v if x >= n)]),
    ),
    (
        Shape("r=0\n for x in v:\n  if x>={n}:r+=x\n return r", "the sum of the numbers in v that are at least {n}",
              lambda v, n: sum(x for x in v if x >= n)),
        Shape("r=[]\n for x in v:\n  if x>={n}:r=[x]+r\n return r", "the list of the numbers in v that are at least {n}, reversed",
              lambda v, n: [x for x in reversed(v) if x >= n]),
    ),
    (
        Shape("r={{}}\n for x in v:\n  if x>={n}:r[x]=r.get(x,0)+{m}\n return r", "a dict that has for every number in v that is at least {n} {m} times how often it is there",
              lambda v, n, m: _counted((x for x in v if x >= n), m)),
    ),
    (
        Shape("def g(x):return x if x>={n} else -x\n return [g(x) for x in v]+[g(50)]", "the list of g(x) for every x in v, and then g(50), where g(x) is x if x is at least {n}, else minus x",
              lambda v, n: [x if x >= n else -x for x in [*v, 50]]),
    ),
)  # fmt: skip
FOLD_PROGRAMS: Ladder = (
    (
        Shape("max(v)+{n} if len(v)>1 else {k}", "the largest number in v, plus {n}, if v has more than one, else {k}",
              lambda v, n, k: max(v) + n if len(v) > 1 else k),
        Shape("sum(v)+{n} if len(v)>1 else {k}", "the sum of v, plus {n}, if v has more than one number, else {k}",
              lambda v, n, k: sum(v) + n if len(v) > 1 else k),
    ),
    (
        Shape("sum(v)*{m}+{n} if len(v)>1 else {k}", "the sum of v times {m}, plus {n}, if v has more than one number, else {k}",
              lambda v, m, n, k: sum(v) * m + n if len(v) > 1 else k),
    ),
    (
        Shape("str(sum(v))+'{w}'", "the digits of the sum of v as a string, followed by '{w}'", lambda v, w: f"{sum(v)}{w}"),
        Shape("'{w}'+str(max(v))", "'{w}' followed by the digits of the largest number in v, as a string", lambda v, w: f"{w}{max(v)}"),
    ),
    (
        Shape("t=sum(v)\n return [t+{n},t*{m}]", "a list of two numbers: the sum of v plus {n}, and the sum of v times {m}",
              lambda v, n, m: [sum(v) + n, sum(v) * m]),
        Shape("t=max(v)\n return [t*{m}+{n},t+{k}]", "a list of two numbers: the largest in v times {m} plus {n}, and the largest in v plus {k}",
              lambda v, m, n, k: [max(v) * m + n, max(v) + k]),
    ),
    (
        Shape("r={n}\n for x in v:r+=x*x\n return r", "the sum of the squares of v, plus {n}", lambda v, n: n + sum(x**2 for x in v)),
        Shape("r={n}\n for x in v:r=x-r\n return r", "what becomes of {n} if each number x in v in turn replaces it by x minus it",
              lambda v, n: _alternating(v, n)),
    ),
    (
        Shape("r={n}\n for x in v:\n  if x>9:r+=x\n return r", "the sum of the numbers in v above 9, plus {n}",
              lambda v, n: n + sum(x for x in v if x > 9)),
        Shape("r={n}\n for x in v:\n  if x<r:r=x\n return r", "the smallest of {n} and the numbers in v", lambda v, n: min([n, *v])),
    ),
    (
        Shape("w=sorted(v,key=lambda x:-x)\n return [x+{n} for x in w]", "the list of the numbers in v from large to small, each plus {n}",
              lambda v, n: sorted((x + n for x in v), reverse=True)),
    ),
    (
        Shape("r={{}}\n for x in v:r[x]=r.get(x,0)+{n}\n return r", "a dict that has for every number in v {n} times how often it is there",
              lambda v, n: _counted(v, n)),
    ),
    (
        Shape("def g(x):return x*{m}+{n}\n return [g(sum(v)),g(max(v))]", "the list of g of the sum of v and g of the largest number in v, where g(x) is x times {m}, plus {n}",
              lambda v, m, n: [sum(v) * m + n, max(v) * m + n]),
    ),
)  # fmt: skip
STRING_PROGRAMS: Ladder = (
    (
        Shape("s+'{w}' if len(s)>2 else s[::-1]+'{y}'", "the string s followed by '{w}' if it has more than two characters, else s reversed followed by '{y}'",
              lambda s, w, y: s + w if len(s) > 2 else s[::-1] + y),
        Shape("s+'{w}' if len(s)>2 else '{y}'+s", "the string s followed by '{w}' if it has more than two characters, else '{y}' followed by s",
              lambda s, w, y: s + w if len(s) > 2 else y + s),
    ),
    (
        Shape("s.upper()+'{w}' if len(s)>2 else '{y}'+s", "the string s in upper case followed by '{w}' if it has more than two characters, else '{y}' followed by s",
              lambda s, w, y: s.upper() + w if len(s) > 2 else y + s),
    ),
    (
        Shape("'{w}'.join(s)", "the characters of the string s with '{w}' between them", lambda s, w: w.join(s)),
        Shape("''.join([c+'{w}' for c in s])", "the string s with '{w}' after every character", lambda s, w: "".join(c + w for c in s)),
    ),
    (
        Shape("''.join([c+d for c in s for d in'{w}'])", "a string that has, for every character c of s, c before each character of '{w}'",
              lambda s, w: "".join(f"{c}{w[0]}{c}{w[1]}" for c in s)),
    ),
    (
        Shape("''.join(sorted(s,key=ord))+'{w}'", "the characters of the string s in alphabetical order, followed by '{w}'",
              lambda s, w: "".join(sorted(s)) + w),
    ),
    (
        Shape("t=s+'{w}'\n return t+t[::-1]", "the string s followed by '{w}', and then the same reversed", lambda s, w: s + w + w[::-1] + s[::-1]),
        Shape("t=s.upper()\n return t+'{w}'+t", "the string s in upper case, then '{w}', then s in upper case again",
              lambda s, w: f"{s}{w}{s}".upper()),
    ),
    (
        Shape("r='{w}'\n for c in s:r+=c*2\n return r", "'{w}' followed by every character of the string s twice",
              lambda s, w: w + "".join(c + c for c in s)),
        Shape("r='{w}'\n for c in s:r=c+r+c\n return r", "the string s reversed, then '{w}', then the string s", lambda s, w: s[::-1] + w + s),
    ),
    (
        Shape("r={{}}\n for c in s:r[c]=r.get(c,0)+{n}\n return r", "a dict that has for every character of the string s {n} times how often it is there",
              lambda s, n: _counted(s, n)),
    ),
    (
        Shape("def g(t):return t+'{w}'\n return g(s)+g(s.upper())", "g of the string s followed by g of s in upper case, where g(t) is t followed by '{w}'",
              lambda s, w: s + w + s.upper() + w),
    ),
)  # fmt: skip
PAIR_PROGRAMS: Ladder = (
    (
        Shape("a+{n} if a>b else b+{k}", "a plus {n} if a is larger than b, else b plus {k}", lambda a, b, n, k: a + n if a > b else b + k),
        Shape("a-b+{n} if a>b else b+{k}", "a minus b, plus {n}, if a is larger than b, else b plus {k}",
              lambda a, b, n, k: a - b + n if a > b else b + k),
    ),
    (
        Shape("a*{m}+{n} if a>b else b+{k}", "a times {m}, plus {n}, if a is larger than b, else b plus {k}",
              lambda a, b, m, n, k: a * m + n if a > b else b + k),
    ),
    (
        Shape("str(a)+'{w}'+str(b)", "the digits of a, then '{w}', then the digits of b, as a string", lambda a, b, w: f"{a}{w}{b}"),
    ),
    (
        Shape("[x+y for x in(a,b) for y in({n},{k})]", "the list of a plus {n}, a plus {k}, b plus {n} and b plus {k}",
              lambda a, b, n, k: [a + n, a + k, b + n, b + k]),
    ),
    (
        Shape("sorted([a,b,{n}],key=lambda x:-x)", "the list of a, b and {n} from large to small", lambda a, b, n: sorted([a, b, n], reverse=True)),
    ),
    (
        Shape("c=a+b\n return [c+{n},c*{m}]", "a list of two numbers: the sum of a and b plus {n}, and the sum of a and b times {m}",
              lambda a, b, n, m: [a + b + n, (a + b) * m]),
        Shape("c=a*{m}\n return [c+b,c+{n}]", "a list of two numbers: a times {m} plus b, and a times {m} plus {n}",
              lambda a, b, m, n: [a * m + b, a * m + n]),
    ),
    (
        Shape("if a<b:a=b\n return a*{m}+{n}", "the larger of a and b times {m}, plus {n}", lambda a, b, m, n: max(a, b) * m + n),
    ),
    (
        Shape("r={n}\n for i in range(b):r+=a+i\n return r", "{n}, plus a plus i for every number i from 0 up to b, without b",
              lambda a, b, n: n + sum(a + i for i in range(b))),
        Shape("while b:a,b=b,a%b\n return a+{n}", "what Euclid's algorithm leaves of a and b, plus {n}",
              lambda a, b, n: n + gcd(a, b) * (-1 if b < 0 or (b == 0 and a < 0) else 1)),
    ),
    (
        Shape("r={{}}\n for x in[a,b]:r[x]=r.get(x,0)+{n}\n return r", "a dict that has for each of a and b {n} times how often it is there",
              lambda a, b, n: _counted((a, b), n)),
    ),
    (
        Shape("def g(x):return x*{m}+{n}\n return [g(a),g(b)]", "the list of g(a) and g(b), where g(x) is x times {m}, plus {n}",
              lambda a, b, m, n: [a * m + n, b * m + n]),
    ),
)  # fmt: skip

PROGRAMS: Mapping[SubjectName, Ladder] = {
    "numbers": (*NUMBERS, *NUMBER_PROGRAMS),
    "maps": (*MAPS, *MAP_PROGRAMS),
    "filters": (*FILTERS, *FILTER_PROGRAMS),
    "folds": (*FOLDS, *FOLD_PROGRAMS),
    "strings": (*STRINGS, *STRING_PROGRAMS),
    "pairs": (*PAIRS, *PAIR_PROGRAMS),
}
"""The whole ladder of each subject: the expressions, and what comes after them."""
