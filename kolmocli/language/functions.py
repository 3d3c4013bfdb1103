"""The 24 functions of the KoLMogorov Test's language, re-implemented from their published semantics.

Source: Yoran et al., "The KoLMogorov Test" (arXiv 2503.13992). This file is the one source of the
language: the interpreter reads it, the sandbox image copies it, and the embedded sandbox takes it as
its prelude. It therefore imports nothing, and uses only what a small Python subset has.

Every function takes ints and lists of ints and returns a new list; none changes its arguments.
"""


def range_func_up(a, b):
    """a, a+1, ..., b with b included."""
    return list(range(a, b + 1))


def range_func_interval(a, b, s):
    """a, a+s, a+2s, ... with b excluded."""
    return list(range(a, b, s))


def repeat_num(n, v):
    """v, n times."""
    return [v] * n


def set_list(lst):
    """The literal list."""
    return list(lst)


def repeat_list(k, lst):
    """The whole list, k times over (the count comes first)."""
    return lst * k


def reverse_list(lst):
    return lst[::-1]


def substitute(lst, old, new):
    """Every occurrence of `old` becomes `new`."""
    return [new if x == old else x for x in lst]


def get_subsequence_with_jumps(lst, s):
    """Every s-th item, the first included."""
    return lst[::s]


def get_subsequence_between_indices(lst, i, j):
    """lst[i:j]"""
    return lst[i:j]


def max_n(lst, n):
    """The n largest, in descending order."""
    return sorted(lst, reverse=True)[:n]


def min_n(lst, n):
    """The n smallest, in ascending order."""
    return sorted(lst)[:n]


def add_item_list(lst, c):
    return [x + c for x in lst]


def subtract_item_list(lst, c):
    return [x - c for x in lst]


def modulo_item_list(lst, c):
    return [x % c for x in lst]


def scan_add(lst):
    """Running sum; the first item stays."""
    total = 0
    out = []
    for x in lst:
        total = total + x
        out.append(total)
    return out


def is_even(x):
    return x % 2 == 0


def is_odd(x):
    return x % 2 == 1


def is_not_zero(x):
    return x != 0


def filter(pred, lst):
    """The items for which the predicate holds, as a list."""
    return [x for x in lst if pred(x)]


def concatenate(x, y):
    return x + y


def interleave(x, y):
    """Alternate, x first; then the rest of the longer one."""
    short = min(len(x), len(y))
    out = []
    for i in range(short):
        out.append(x[i])
        out.append(y[i])
    return out + x[short:] + y[short:]


def add_two_lists(x, y):
    """Item by item, as long as the shorter."""
    return [a + b for a, b in zip(x, y)]


def subtract_two_lists(x, y):
    """Item by item, as long as the shorter."""
    return [a - b for a, b in zip(x, y)]


def modulo_two_lists(x, y):
    """Item by item, as long as the shorter; pairs whose divisor is 0 are dropped."""
    return [a % b for a, b in zip(x, y) if b != 0]
