"""The long ladders of numbers, pairs of numbers and strings. What `list_programs.py` says at its head holds here too."""

from __future__ import annotations

from kolmocli.tasks.examples.list_programs import counted
from kolmocli.tasks.examples.shapes import NUMBERS, PAIRS, STRINGS, Ladder, Shape, by_text

_NUMBERS, _PAIRS, _STRINGS = by_text(NUMBERS), by_text(PAIRS), by_text(STRINGS)

NUMBER_PROGRAMS: Ladder = (
    (_NUMBERS["x+{n}"], _NUMBERS["{n}-x"]),
    (
        Shape("str(x)+'{w}'",
              "the digits of x as a string, followed by '{w}'",
              lambda x, w: f"{x}{w}"),
        Shape("'{w}'+str(x)",
              "'{w}' followed by the digits of x, as a string",
              lambda x, w: f"{w}{x}"),
    ),
    (_NUMBERS["x-{n}"], _NUMBERS["max(x,{n})"]),
    (_NUMBERS["x*{m}+{n}"], _NUMBERS["x*x*{m}+{n}"]),
    (
        Shape("def g(y):return y*{m}+{n}\n return [g(x),g(-x)]",
              "the list of g(x) and g(-x), where g(y) is y times {m}, plus {n}",
              lambda x, m, n: [x * m + n, n - x * m]),
    ),
    (
        Shape("r=[]\n for i in range({c}):r+=[x*i+{n}]\n return r",
              "the list of x times i, plus {n}, for i from 0 up to {c}, without {c}",
              lambda x, c, n: [x * i + n for i in range(c)]),
    ),
    (
        Shape("y=x*{m}+{n}\n if x<0:y=-y\n return y",
              "x times {m}, plus {n}, and with its sign changed where x is negative",
              lambda x, m, n: -(x * m + n) if x < 0 else x * m + n),
    ),
    (
        Shape("{n} if x%2 else x*{m}",
              "{n} if x is odd, else x times {m}",
              lambda x, n, m: n if x % 2 else x * m),
        Shape("x*{m} if x%2 else {n}-x",
              "x times {m} if x is odd, else {n} minus x",
              lambda x, n, m: x * m if x % 2 else n - x),
    ),
    (
        Shape("r={n}\n for i in range(x):r+={m}\n return r",
              "{n}, plus {m} for every number from 0 up to x, without x",
              lambda x, n, m: n + m * max(x, 0)),
    ),
    (
        Shape("y=x*{m}\n return [y+{n},y-{k}]",
              "a list of two numbers: x times {m} plus {n}, and x times {m} minus {k}",
              lambda x, m, n, k: [x * m + n, x * m - k]),
    ),
    (
        Shape("x+{n} if x>0 else {k}-x",
              "x plus {n} if x is positive, else {k} minus x",
              lambda x, n, k: x + n if x > 0 else k - x),
        Shape("x+{n} if x>0 else x-{k}",
              "x plus {n} if x is positive, else x minus {k}",
              lambda x, n, k: x + n if x > 0 else x - k),
    ),
    (
        Shape("x*{m}+{n} if x>0 else {k}-x",
              "x times {m}, plus {n} if x is positive, else {k} minus x",
              lambda x, m, n, k: x * m + n if x > 0 else k - x),
    ),
    (
        Shape("def g(y):return y+{n} if y>0 else {k}-y\n return [g(x),g(-x)]",
              "the list of g(x) and g(-x), where g(y) is y plus {n} if y is positive, else {k} minus y",
              lambda x, n, k: [y + n if y > 0 else k - y for y in (x, -x)]),
    ),
    (
        Shape("r=[]\n for i in range({c}):\n  if x>0:r+=[x*i+{n}]\n  else:r+=[{k}-x]\n return r",
              "the list of {c} numbers: x times i, plus {n}, for i from 0, if x is positive, else {k} minus x",
              lambda x, c, n, k: [x * i + n if x > 0 else k - x for i in range(c)]),
    ),
)  # fmt: skip
STRING_PROGRAMS: Ladder = (
    (_STRINGS["s+'{w}'"], _STRINGS["'{w}'+s"]),
    (_STRINGS["s[::-1]+'{w}'"], _STRINGS["'{w}'+s[::-1]"]),
    (
        _STRINGS["s*2+'{w}'"],
        Shape("r='{w}'\n for c in s:r+=c*2\n return r",
              "'{w}' followed by every character of the string s twice",
              lambda s, w: w + "".join(c + c for c in s)),
    ),
    (_STRINGS["s.upper()+'{w}'"], _STRINGS["'{w}'+s.upper()"]),
    (
        Shape("r={{}}\n for c in s:r[c]=r.get(c,0)+{n}\n return r",
              "a dict that has for every character of the string s {n} times how often it is there",
              lambda s, n: counted(s, n)),
        Shape("''.join(sorted(s,key=ord))+'{w}'",
              "the characters of the string s in alphabetical order, followed by '{w}'",
              lambda s, w: "".join(sorted(s)) + w),
    ),
    (
        Shape("t=s+'{w}'\n return t+t[::-1]",
              "the string s followed by '{w}', and then the same reversed",
              lambda s, w: s + w + w[::-1] + s[::-1]),
        Shape("t=s.upper()\n return t+'{w}'+t",
              "the string s in upper case, then '{w}', then s in upper case again",
              lambda s, w: f"{s}{w}{s}".upper()),
    ),
    (
        Shape("r='{w}'\n for c in s:r=c+r+c\n return r",
              "the string s reversed, then '{w}', then the string s",
              lambda s, w: s[::-1] + w + s),
    ),
    (
        Shape("'{w}'.join(s)",
              "the characters of the string s with '{w}' between them",
              lambda s, w: w.join(s)),
        Shape("''.join([c+'{w}' for c in s])",
              "the string s with '{w}' after every character",
              lambda s, w: "".join(c + w for c in s)),
    ),
    (
        Shape("''.join([c+d for c in s for d in'{w}'])",
              "a string that has, for every character c of s, c before each character of '{w}'",
              lambda s, w: "".join(f"{c}{w[0]}{c}{w[1]}" for c in s)),
    ),
    (
        Shape("def g(t):return t+'{w}'\n return g(s)+g(s.upper())",
              "g of the string s followed by g of s in upper case, where g(t) is t followed by '{w}'",
              lambda s, w: s + w + s.upper() + w),
    ),
    (_STRINGS["'{w}'+s+'{y}'"],),
    (
        Shape("r='{w}'\n for c in s:r+=c+'{y}'\n return r",
              "'{w}' followed by every character of the string s, each with '{y}' after it",
              lambda s, w, y: w + "".join(c + y for c in s)),
    ),
    (
        Shape("s+'{w}' if len(s)>2 else '{y}'+s",
              "the string s followed by '{w}' if it has more than two characters, else '{y}' followed by s",
              lambda s, w, y: s + w if len(s) > 2 else y + s),
    ),
    (
        Shape("s+'{w}' if len(s)>2 else s[::-1]+'{y}'",
              "the string s followed by '{w}' if it has more than two characters, else s reversed followed by '{y}'",
              lambda s, w, y: s + w if len(s) > 2 else s[::-1] + y),
        Shape("s.upper()+'{w}' if len(s)>2 else '{y}'+s",
              "the string s in upper case followed by '{w}' if it has more than two characters, else '{y}' followed"
              " by s",
              lambda s, w, y: s.upper() + w if len(s) > 2 else y + s),
    ),
    (
        Shape("def g(t):return t+'{w}' if len(t)>2 else '{y}'+t\n return g(s)+g(s[::-1])",
              "g of the string s followed by g of s reversed, where g(t) is t followed by '{w}' if t has more than "
              "two characters, else '{y}' followed by t",
              lambda s, w, y: s + w + s[::-1] + w if len(s) > 2 else y + s + y + s[::-1]),
    ),
)  # fmt: skip
PAIR_PROGRAMS: Ladder = (
    (
        _PAIRS["a*b+{n}"],
        Shape("str(a)+'{w}'+str(b)",
              "the digits of a, then '{w}', then the digits of b, as a string",
              lambda a, b, w: f"{a}{w}{b}"),
    ),
    (_PAIRS["a+b+{n}"], _PAIRS["a-b+{n}"]),
    (_PAIRS["max(a,b)+{n}"], _PAIRS["min(a,b)+{n}"]),
    (
        Shape("sorted([a,b,{n}],key=lambda x:-x)",
              "the list of a, b and {n} from large to small",
              lambda a, b, n: sorted([a, b, n], reverse=True)),
    ),
    (
        Shape("r={n}\n for i in range(b):r+=a+i\n return r",
              "{n}, plus a plus i for every number i from 0 up to b, without b",
              lambda a, b, n: n + sum(a + i for i in range(b))),
    ),
    (
        Shape("r={{}}\n for x in[a,b]:r[x]=r.get(x,0)+{n}\n return r",
              "a dict that has for each of a and b {n} times how often it is there",
              lambda a, b, n: counted((a, b), n)),
    ),
    (_PAIRS["a*{m}+b+{n}"], _PAIRS["a+b*{m}+{n}"]),
    (
        Shape("def g(x):return x*{m}+{n}\n return [g(a),g(b)]",
              "the list of g(a) and g(b), where g(x) is x times {m}, plus {n}",
              lambda a, b, m, n: [a * m + n, b * m + n]),
    ),
    (
        Shape("c=a+b\n return [c+{n},c*{m}]",
              "a list of two numbers: the sum of a and b plus {n}, and the sum of a and b times {m}",
              lambda a, b, n, m: [a + b + n, (a + b) * m]),
        Shape("c=a*{m}\n return [c+b,c+{n}]",
              "a list of two numbers: a times {m} plus b, and a times {m} plus {n}",
              lambda a, b, m, n: [a * m + b, a * m + n]),
    ),
    (
        Shape("if a<b:a=b\n return a*{m}+{n}",
              "the larger of a and b times {m}, plus {n}",
              lambda a, b, m, n: max(a, b) * m + n),
    ),
    (
        Shape("a+{n} if a>b else b+{k}",
              "a plus {n} if a is larger than b, else b plus {k}",
              lambda a, b, n, k: a + n if a > b else b + k),
        Shape("a-b+{n} if a>b else b+{k}",
              "a minus b, plus {n}, if a is larger than b, else b plus {k}",
              lambda a, b, n, k: a - b + n if a > b else b + k),
    ),
    (
        Shape("[x+y for x in(a,b) for y in({n},{k})]",
              "the list of a plus {n}, a plus {k}, b plus {n} and b plus {k}",
              lambda a, b, n, k: [a + n, a + k, b + n, b + k]),
    ),
    (
        Shape("a*{m}+{n} if a>b else b+{k}",
              "a times {m}, plus {n}, if a is larger than b, else b plus {k}",
              lambda a, b, m, n, k: a * m + n if a > b else b + k),
    ),
    (
        Shape("def g(x):return x*{m}+{n}\n return [g(a),g(b)] if a>b else {k}",
              "the list of g(a) and g(b), where g(x) is x times {m}, plus {n}, if a is larger than b, else {k}",
              lambda a, b, m, n, k: [a * m + n, b * m + n] if a > b else k),
    ),
)  # fmt: skip
