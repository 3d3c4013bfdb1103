"""Prompts for sequences: the bare items, or instructions with them."""

from __future__ import annotations

from collections.abc import Sequence

from kolmocli.tasks.base import Language, Prompt

_DSL = """\
Write the shortest program that produces a sequence of integers. A program has one statement per line, \
`name = function(arguments)`; its result is the value of the last statement. Only these functions exist:
range_func_up(a, b): a, a+1, ..., b, with b included
range_func_interval(a, b, s): every s-th integer from a, with b excluded
repeat_num(n, v): v, n times
set_list([x, y, ...]): the list itself
repeat_list(k, x): x, k times over
reverse_list(x); scan_add(x): running sum
substitute(x, old, new); add_item_list(x, c); subtract_item_list(x, c); modulo_item_list(x, c)
get_subsequence_with_jumps(x, s): x[::s]; get_subsequence_between_indices(x, i, j): x[i:j]
max_n(x, n), min_n(x, n): the n largest, descending; the n smallest, ascending
filter(p, x), with p one of is_even, is_odd, is_not_zero
concatenate(x, y); interleave(x, y)
add_two_lists(x, y); subtract_two_lists(x, y); modulo_two_lists(x, y)
Example, for 1, 2, 3, 1, 2, 3:
sequence_1 = range_func_up(1, 3)
sequence_2 = repeat_list(2, sequence_1)
Answer with the program alone."""

_PYTHON = """\
Write the shortest Python program whose result is a given sequence of integers. Look for patterns in the sequence and use \
them. The result is the value of the last line, a list of integers; do not print it. Answer with the program alone."""


def sequence_prompt(target: Sequence[int], language: Language) -> Prompt:
    """Separators of the short form are spent only where digits would run together."""
    plain = all(0 <= x <= 255 for x in target)
    system = _DSL if language == "dsl" else _PYTHON
    return Prompt(", ".join(map(str, target)), system, (" " if plain else ", ").join(map(str, target)))
