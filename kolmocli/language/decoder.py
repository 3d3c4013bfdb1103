"""Reading the prefix code: the inverse of `coder.encode`. Total: any bits give a program or a `CodeError`."""

from __future__ import annotations

from kolmocli.language.opcodes import (
    ALIAS,
    END,
    EXTEND,
    FOLD,
    LENGTHS,
    SYMBOLS,
    WIDE,
    Scan,
    canonical_code,
)
from kolmocli.language.program import PREDICATES, SIGNATURES, Alias, Argument, Call, Kind, Program, Ref

COUNT_BITS = 5
COUNT_ESCAPE = 1 << COUNT_BITS

_SYMBOLS: list[dict[str, str]] = [
    {w: s for s, w in zip(SYMBOLS, canonical_code(row), strict=True) if w} for row in LENGTHS
]
_LONGEST = max(map(max, LENGTHS))
_UNMERGED = {short: name for forms in (FOLD, EXTEND) for name, short in forms.items()}


class CodeError(ValueError):
    """Bits that are not the code of a program."""


def decode(bits: str) -> Program:
    """The program whose code this is.

    Raises:
        CodeError: when the bits are no code, end early, or go on after the end of the program.
    """
    program, used = decode_prefix(bits)
    if used != len(bits):
        raise CodeError(f"{len(bits) - used} bits after the end of the program")
    return program


def decode_prefix(bits: str) -> tuple[Program, int]:
    """The program whose code the bits begin with, and the number of bits it took.

    Raises:
        CodeError: when the bits are no code or end early.
    """
    reader, scan = _Reader(bits), Scan()
    statements: list[Call | Alias] = []
    while (symbol := reader.symbol(_SYMBOLS[scan.context()])) != END:
        statement = _statement(reader, symbol, scan)
        scan.feed(statement)
        statements.append(statement)
    return Program(tuple(statements)), reader.position


class _Reader:
    def __init__(self, bits: str) -> None:
        self.bits = bits
        self.position = 0

    def take(self, width: int) -> int:
        end = self.position + width
        if end > len(self.bits):
            raise CodeError(f"the code ends early, after {len(self.bits)} bits")
        value = int(self.bits[self.position : end] or "0", 2)
        self.position = end
        return value

    def symbol(self, words: dict[str, str]) -> str:
        start = self.position
        for end in range(start + 1, len(self.bits) + 1):
            if (word := self.bits[start:end]) in words:
                self.position = end
                return words[word]
            if end - start > _LONGEST:
                break
        raise CodeError(f"no symbol at bit {start}")

    def index(self, count: int) -> int:
        if count == 0:
            raise CodeError("a reference to a value before there is any")
        width = count.bit_length() - 1
        short = (1 << (width + 1)) - count
        value = self.take(width)
        return value if value < short else 2 * value + self.take(1) - short

    def gamma(self) -> int:
        zeros = self.bits.find("1", self.position) - self.position
        if zeros < 0:
            raise CodeError(f"the code ends early, after {len(self.bits)} bits")
        return self.take(2 * zeros + 1)

    def count(self) -> int:
        return self.take(COUNT_BITS) or self.gamma() + COUNT_ESCAPE - 1

    def integer(self) -> int:
        return _unzigzag(self.gamma() - 1)

    def predicate(self) -> str:
        return PREDICATES[0] if not self.take(1) else PREDICATES[1 + self.take(1)]


def _unzigzag(value: int) -> int:
    return value // 2 if value % 2 == 0 else -(value + 1) // 2


def _statement(reader: _Reader, symbol: str, scan: Scan) -> Call | Alias:
    if symbol == ALIAS:
        return Alias(Ref(reader.index(scan.count)))
    if symbol == WIDE:
        return _read_wide(reader, scan.count)
    name = _UNMERGED.get(symbol, symbol)
    if symbol in FOLD.values():
        pair = scan.fold()
        if pair is None:
            raise CodeError("a fold without two values to fold")
        return Call(name, (Ref(pair[0]), Ref(pair[1])))
    if symbol in EXTEND.values():
        return Call(name, (Ref(scan.count - 1), Ref(scan.plain[reader.index(len(scan.plain))])))
    return Call(name, _read_narrow(reader, name, scan.count))


def _read_narrow(reader: _Reader, name: str, count: int) -> tuple[Argument, ...]:
    match name:
        case "range_func_up":
            start = reader.take(8)
            return start, start + reader.count() - 1
        case "range_func_interval":
            start, step = reader.take(8), reader.take(2) + 2
            stop = reader.take(8) if reader.take(1) else start + reader.count() * step
            return start, stop, step
        case "repeat_num":
            return reader.count(), reader.take(8)
        case "set_list":
            length = reader.count()
            return (tuple(reader.take(8 * length).to_bytes(length, "big")),)
        case "filter":
            return reader.predicate(), Ref(reader.index(count))
        case "repeat_list":
            ref = Ref(reader.index(count))
            return reader.take(2) + 2, ref
        case "get_subsequence_with_jumps":
            return Ref(reader.index(count)), reader.take(2) + 2
        case "get_subsequence_between_indices":
            ref, start = Ref(reader.index(count)), reader.count() - 1
            return ref, start, start + reader.count()
        case "max_n" | "min_n":
            return Ref(reader.index(count)), reader.count()
        case _:
            kinds = SIGNATURES[name]
            return tuple(Ref(reader.index(count)) if k is Kind.REF else reader.take(8) for k in kinds)


def _read_wide(reader: _Reader, count: int) -> Call:
    name = tuple(SIGNATURES)[reader.index(len(SIGNATURES))]
    arguments: list[Argument] = []
    for kind in SIGNATURES[name]:
        if kind is Kind.REF:
            arguments.append(Ref(reader.index(count)))
        elif kind is Kind.PREDICATE:
            arguments.append(reader.predicate())
        elif kind is Kind.LIST:
            length, width = reader.gamma() - 1, reader.gamma() - 1
            if length and not width:
                raise CodeError("a list of zeros in the wide form")
            arguments.append(tuple(_unzigzag(reader.take(width)) for _ in range(length)))
        else:
            arguments.append(reader.integer())
    return Call(name, tuple(arguments))
