"""The shape of a program, its constants only roughly: what keeps training and evaluation tasks apart."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from kolmocli.language.program import Alias, Program, Ref

_CELL = 16
"""Constants are told apart by their sixteenth. With no constants at all a bucket of one call would have as
many skeletons as lengths, and holding some out would mean asking for lengths that were never taught."""


def skeleton(program: Program, values: Sequence[Sequence[int]]) -> str:
    """The calls and their wiring, the length of each statement's value, and every constant divided by 16.

    `values` is `execute(program)`. Statements count from 1: `range_func_up(~0,~0):9;repeat_list(~0,1):27`.
    Two tasks of one skeleton differ in constants by less than 16 and are built alike.
    """
    parts = []
    for statement, value in zip(program.statements, values, strict=True):
        if isinstance(statement, Alias):
            text = str(statement.ref.index + 1)
        else:
            text = f"{statement.function}({','.join(_rough(a) for a in statement.arguments)})"
        parts.append(f"{text}:{len(value)}")
    return ";".join(parts)


def _rough(argument: int | Ref | tuple[int, ...] | str) -> str:
    if isinstance(argument, Ref):
        return str(argument.index + 1)
    if isinstance(argument, str):
        return argument
    numbers = argument if isinstance(argument, tuple) else (argument,)
    return "".join(f"~{n // _CELL}" for n in numbers)


def held_out(skeleton: str, share: float = 0.25) -> bool:
    """Whether tasks of this skeleton are for evaluation only; the same on every machine."""
    digest = hashlib.blake2b(skeleton.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") < share * 2**64
