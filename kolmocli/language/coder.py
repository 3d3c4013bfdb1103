"""Coded bits: the length of a program under a prefix code that a decoder can really read.

The code is static, decodable and self-delimiting: the end of the program is paid for, the length of every
list is, the predicate of every filter is. `docs/language.md` gives it bit by bit. In short:

- A statement opens with a symbol (`opcodes.py`); its code depends on what came before.
- An operand is a byte (8 bits), a count (5 bits for 1..31, otherwise 5 + Elias gamma), a small step
  (2 bits), or the number of an earlier statement (truncated binary).
- A call whose operands do not fit those forms opens with `wide`; then every integer is zigzag coded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kolmocli.language.decoder import COUNT_BITS, COUNT_ESCAPE, CodeError, decode, decode_prefix
from kolmocli.language.opcodes import (
    END,
    EXTEND,
    FOLD,
    LENGTHS,
    SYMBOLS,
    WIDE,
    Scan,
    canonical_code,
)
from kolmocli.language.program import SIGNATURES, Alias, Call, Program, Ref
from kolmocli.language.uniform_prior import uniform_prior_bits

__all__ = [
    "CodeError",
    "coded_bits",
    "decode",
    "decode_prefix",
    "encode",
    "literal_bits",
    "uniform_prior_bits",
]

Field = tuple[int, int]
"""A value and its width in bits, most significant bit first."""


_FIELDS: list[dict[str, Field]] = [
    {s: (int(w, 2), len(w)) for s, w in zip(SYMBOLS, canonical_code(row), strict=True) if w} for row in LENGTHS
]
_BIT_OF_PREDICATE = {"is_even": (0, 1), "is_odd": (2, 2), "is_not_zero": (3, 2)}


# --- lengths and encoding ---------------------------------------------------------------------------------


def coded_bits(program: Program) -> int:
    """Length of the program's code in bits: `len(encode(program))`, without building it."""
    return sum(width for _, width in _program_fields(program))


def literal_bits(sequence: Sequence[int]) -> int:
    """Coded bits of the program that only writes the sequence down: one `set_list`."""
    return coded_bits(Program((Call("set_list", (tuple(sequence),)),)))


def encode(program: Program) -> str:
    """The program's code, as a string of `0` and `1`. `decode` gives the same program back."""
    return "".join(format(value, f"0{width}b") for value, width in _program_fields(program) if width)


def _program_fields(program: Program) -> Iterator[Field]:
    scan = Scan()
    for statement in program.statements:
        words = _FIELDS[scan.context()]
        symbol = scan.symbol(statement)
        fields = _narrow(statement, symbol, scan)
        if fields is None or symbol not in words:
            assert isinstance(statement, Call)
            yield words[WIDE]
            yield from _wide(statement, scan.count)
        else:
            yield words[symbol]
            yield from fields
        scan.feed(statement)
    yield _FIELDS[scan.context()][END]


def _narrow(statement: Call | Alias, symbol: str, scan: Scan) -> list[Field] | None:
    """Operands in the short forms; None where one does not fit."""
    if isinstance(statement, Alias):
        return [_index(statement.ref.index, scan.count)]
    if symbol in EXTEND.values():
        return [_index(scan.plain.index(list(statement.refs())[1]), len(scan.plain))]
    if symbol in FOLD.values():
        return []
    refs = [_index(i, scan.count) for i in statement.refs()]
    ints = [a for a in statement.arguments if isinstance(a, int)]
    match statement.function:
        case "range_func_up":
            fits = _is_byte(ints[0]) and ints[1] >= ints[0]
            return [_byte(ints[0]), *_count(ints[1] - ints[0] + 1)] if fits else None
        case "range_func_interval":
            return _interval(*ints)
        case "repeat_num":
            fits = ints[0] > 0 and _is_byte(ints[1])
            return [*_count(ints[0]), _byte(ints[1])] if fits else None
        case "set_list":
            items = statement.arguments[0]
            assert isinstance(items, tuple)
            if not items or min(items) < 0 or max(items) > 255:
                return None
            return [*_count(len(items)), (int.from_bytes(bytes(items), "big"), 8 * len(items))]
        case "repeat_list" | "get_subsequence_with_jumps":
            return [*refs, (ints[0] - 2, 2)] if 2 <= ints[0] <= 5 else None
        case "get_subsequence_between_indices":
            start, end = ints
            return [*refs, *_count(start + 1), *_count(end - start)] if 0 <= start < end else None
        case "max_n" | "min_n":
            return [*refs, *_count(ints[0])] if ints[0] > 0 else None
        case "filter":
            return [_BIT_OF_PREDICATE[str(statement.arguments[0])], *refs]
        case _:  # operators with byte constants or none, and mergers of any two values
            return [*refs, *map(_byte, ints)] if all(map(_is_byte, ints)) else None


def _interval(start: int, stop: int, step: int) -> list[Field] | None:
    """start, step, then either a count (stop = start + count·step) or stop as a byte."""
    if not (_is_byte(start) and 2 <= step <= 5):
        return None
    fields = [_byte(start), (step - 2, 2)]
    count, rest = divmod(stop - start, step)
    if rest == 0 and count > 0:
        return [*fields, (0, 1), *_count(count)]
    return [*fields, (1, 1), _byte(stop)] if _is_byte(stop) else None


def _wide(call: Call, count: int) -> Iterator[Field]:
    yield _index(tuple(SIGNATURES).index(call.function), len(SIGNATURES))
    for argument in call.arguments:
        if isinstance(argument, Ref):
            yield _index(argument.index, count)
        elif isinstance(argument, tuple):
            zigzags = [_zigzag(x) for x in argument]
            width = max((z.bit_length() for z in zigzags), default=0)
            yield from (_gamma(len(zigzags) + 1), _gamma(width + 1))
            yield from ((z, width) for z in zigzags)
        elif isinstance(argument, str):
            yield _BIT_OF_PREDICATE[argument]
        else:
            yield _gamma(_zigzag(argument) + 1)


def _is_byte(value: int) -> bool:
    return 0 <= value <= 255


def _byte(value: int) -> Field:
    return value, 8


def _count(value: int) -> list[Field]:
    """5 bits for 1..31; larger: 5 zero bits, then Elias gamma of what is above 31."""
    if value < COUNT_ESCAPE:
        return [(value, COUNT_BITS)]
    return [(0, COUNT_BITS), _gamma(value - COUNT_ESCAPE + 1)]


def _gamma(value: int) -> Field:
    """Elias gamma of a value from 1: as many zeros as it has bits after the first, then the value."""
    return value, 2 * value.bit_length() - 1


def _zigzag(value: int) -> int:
    return 2 * value if value >= 0 else -2 * value - 1


def _index(value: int, count: int) -> Field:
    """Truncated binary of a value below `count`."""
    width = count.bit_length() - 1
    short = (1 << (width + 1)) - count
    return (value, width) if value < short else (value + short, width + 1)
