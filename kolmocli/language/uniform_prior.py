"""Program length under the published uniform prior, for comparison with published figures only."""

from __future__ import annotations

from math import log2

from kolmocli.language.program import Alias, Program

_OPCODE = log2(25)
_CONSTANT = 8.0
_SMALL = 3.0
_COUNT = log2(20)
_CONSTANTS: dict[str, float] = {
    "range_func_up": 2 * _CONSTANT,
    "range_func_interval": 2 * _CONSTANT + _SMALL,
    "repeat_num": _CONSTANT + _COUNT,
    "substitute": 2 * _CONSTANT,
    "get_subsequence_between_indices": 2 * _CONSTANT,
    "get_subsequence_with_jumps": _SMALL,
    "repeat_list": _SMALL,
    "add_item_list": _CONSTANT,
    "subtract_item_list": _CONSTANT,
    "modulo_item_list": _CONSTANT,
    "max_n": _CONSTANT,
    "min_n": _CONSTANT,
}
"""Bits of the constants of a call. Functions that are not listed have none, but see `set_list` below."""


def uniform_prior_bits(program: Program) -> float:
    """Bits of the program as the KoLMogorov Test counts them (arXiv 2503.13992, its evaluation code).

    Line i (from 0) costs log2 25 for the function, log2(i+1) per variable, 8 per constant, 3 per step or
    repeat count of a list, log2 20 for the count of `repeat_num`, 8 per item of `set_list`; the published
    form ends with a line `output = …` that costs one function, whether or not the program here has it.

    It is not the length of any code: the length of a `set_list` and the predicate of `filter` are free,
    and a count above 20, a step above 8 or a constant outside 0..255 cost no more than small ones.
    Use `coded_bits` for a length that a decoder can work with.
    """
    bits = 0.0
    lines = 0
    for statement in program.statements:
        if isinstance(statement, Alias):
            continue
        bits += _OPCODE + _CONSTANTS.get(statement.function, 0.0)
        bits += log2(lines + 1) * sum(1 for _ in statement.refs())
        if statement.function == "set_list":
            items = statement.arguments[0]
            assert isinstance(items, tuple)
            bits += _CONSTANT * len(items)
        lines += 1
    return bits + _OPCODE
