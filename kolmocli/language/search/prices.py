"""Prices of the parts of a statement in the prefix code, one by one: the search pays by these before there is a program.

`coder.coded_bits` is the law; the tests hold the sum of these parts, as `order.py` adds them up, equal to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from kolmocli.language.opcodes import END, EXTEND, FOLD, LENGTHS, SYMBOLS, WIDE
from kolmocli.language.program import SIGNATURES

KINDS = {"initiator": 1, "operator": 4, "merger": 7}
"""The first context after a statement of this kind; two more follow, for more unused values."""
WORD: list[dict[str, int]] = [{s: n for s, n in zip(SYMBOLS, row, strict=True) if n} for row in LENGTHS]
"""Length of a symbol's code word, per context."""
OPEN_WIDE = [row[WIDE] for row in WORD]
CLOSE = [row[END] for row in WORD]
FOLD_OF, EXTEND_OF = FOLD, EXTEND
_COUNT_BITS = 5
_COUNT_ESCAPE = 1 << _COUNT_BITS
_FUNCTION_NUMBER = {name: i for i, name in enumerate(SIGNATURES)}


def index_bits(value: int, count: int) -> int:
    """Truncated binary of a value below `count`."""
    width = count.bit_length() - 1
    return width if value < (1 << (width + 1)) - count else width + 1


def count_bits(value: int) -> int:
    return _COUNT_BITS if value < _COUNT_ESCAPE else _COUNT_BITS + gamma_bits(value - _COUNT_ESCAPE + 1)


@lru_cache(maxsize=1 << 12)
def gamma_bits(value: int) -> int:
    return 2 * value.bit_length() - 1


def zigzag(value: int) -> int:
    return 2 * value if value >= 0 else -2 * value - 1


def integer_bits(value: int) -> int:
    return gamma_bits(zigzag(value) + 1)


FUNCTION_BITS = {name: index_bits(i, len(SIGNATURES)) for name, i in _FUNCTION_NUMBER.items()}
"""Price of the function's number after the symbol `wide`."""


def literal_width(low: int, high: int) -> int:
    """Bits of an item of a literal list in the wide form, whose items lie between these."""
    return max(zigzag(low).bit_length(), zigzag(high).bit_length())


def list_bits(items: Sequence[int]) -> tuple[int, int]:
    """A literal list's bits in the short form (-1: there is none) and in the wide form."""
    count = len(items)
    if not count:
        return -1, gamma_bits(1) + gamma_bits(1)
    low, high = min(items), max(items)
    width = literal_width(low, high)
    wide = gamma_bits(count + 1) + gamma_bits(width + 1) + count * width
    return (count_bits(count) + 8 * count if low >= 0 and high <= 255 else -1), wide


def constant_bits(function: str, constants: Sequence[Any]) -> tuple[int, int]:
    """Bits of the constants of a call in the short form (-1: there is none) and, with the function's number, in the wide form."""
    if function == "set_list":
        narrow, wide = list_bits(constants[0])
        return narrow, wide + FUNCTION_BITS[function]
    if function == "filter":
        bits = 1 if constants[0] == "is_even" else 2
        return bits, bits + FUNCTION_BITS[function]
    wide = FUNCTION_BITS[function] + sum(map(integer_bits, constants))
    return _short(function, constants), wide


def _short(function: str, constants: Sequence[int]) -> int:
    match function:
        case "range_func_up":
            first, last = constants
            return 8 + count_bits(last - first + 1) if 0 <= first <= 255 and last >= first else -1
        case "range_func_interval":
            first, stop, step = constants
            if not (0 <= first <= 255 and 2 <= step <= 5):
                return -1
            count, rest = divmod(stop - first, step)
            if rest == 0 and count > 0:
                return 11 + count_bits(count)
            return 19 if 0 <= stop <= 255 else -1
        case "repeat_num":
            count, value = constants
            return count_bits(count) + 8 if count > 0 and 0 <= value <= 255 else -1
        case "repeat_list" | "get_subsequence_with_jumps":
            return 2 if 2 <= constants[0] <= 5 else -1
        case "get_subsequence_between_indices":
            start, end = constants
            return count_bits(start + 1) + count_bits(end - start) if 0 <= start < end else -1
        case "max_n" | "min_n":
            return count_bits(constants[0]) if constants[0] > 0 else -1
        case _:
            return 8 * len(constants) if all(0 <= c <= 255 for c in constants) else -1


# --- estimates, for the search before there is an order -----------------------------------------------------

INITIATOR = 2.6
"""The symbol of an initiator."""
MERGE, WEAVE = 1.2, 2.4
"""A fold: the symbol, and no operand."""
MERGE_APART = 12.0
"""A merge that does not fold: the symbol, and both operands."""
AGAIN = 5.4
"""Merging a value that something has used already: the symbol, and which value."""
_REFERENCE = 2.4
SYMBOL = {name: (WORD[3].get(name, 9) + WORD[6].get(name, 9)) / 2 for name in SIGNATURES}


@lru_cache(maxsize=1 << 14)
def operator_bits(function: str, *constants: Any) -> float:
    """Price of a call of the operator, without its operands."""
    narrow, wide = constant_bits(function, constants)
    references = _REFERENCE * (2 if function.endswith("two_lists") else 1)
    return references + (SYMBOL[function] + narrow if narrow >= 0 else OPEN_WIDE[3] + wide)


def initiator_bits(function: str, *constants: Any) -> float:
    narrow, wide = constant_bits(function, constants)
    return INITIATOR + narrow if narrow >= 0 else OPEN_WIDE[3] + wide


def literal_price(low: int, high: int) -> tuple[int, float]:
    """Price of an item in a literal list whose items lie between these, and of the list apart from its items."""
    if low >= 0 and high <= 255:
        return 8, INITIATOR + 5
    width = literal_width(low, high)
    return width, OPEN_WIDE[3] + FUNCTION_BITS["set_list"] + 7.0 + gamma_bits(width + 1)
