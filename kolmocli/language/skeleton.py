"""The shape of a program without its constants: what keeps training and evaluation tasks apart."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from kolmocli.language.program import PREDICATES, Alias, Program, Ref


def skeleton(program: Program, values: Sequence[Sequence[int]]) -> str:
    """The calls and their wiring, every constant a hole, and the length of each statement's value.

    `values` is `execute(program)`. Statements count from 1: `range_func_up(#,#):9;repeat_list(#,1):27`.
    Two tasks of one skeleton differ in constants only.
    """
    parts = []
    for statement, value in zip(program.statements, values, strict=True):
        if isinstance(statement, Alias):
            text = str(statement.ref.index + 1)
        else:
            text = f"{statement.function}({','.join(_hole(a) for a in statement.arguments)})"
        parts.append(f"{text}:{len(value)}")
    return ";".join(parts)


def _hole(argument: object) -> str:
    if isinstance(argument, Ref):
        return str(argument.index + 1)
    return str(argument) if argument in PREDICATES else "#"


def held_out(skeleton: str, share: float = 0.25) -> bool:
    """Whether tasks of this skeleton are for evaluation only; the same on every machine."""
    digest = hashlib.blake2b(skeleton.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") < share * 2**64
