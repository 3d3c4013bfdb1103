"""A program that is nearly right, repaired: its right ends are kept, and what is wrong between them is written.

Hindsight: such a program is a right answer for what it really makes, and most of that is wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kolmocli.archive.format.stored import Fresh, Stored, StoredCall, stored
from kolmocli.language.program import Program, Ref

_STATEMENT_BITS = 14.0
"""About what a statement of a repair takes."""


@dataclass(frozen=True, slots=True)
class Repair:
    """The repaired program, and the items that it takes from the residual."""

    program: Stored
    fresh: tuple[int, ...]
    bits: float
    """Bits added to the program's own."""


def repair(program: Program, made: Sequence[int], target: Sequence[int], literal_bits: float) -> Repair | None:
    """Edits that turn the result `made` of a program into the target; None where less than half of it is right."""
    head = _agreeing(made, target)
    tail = _agreeing(made[head:][::-1], target[head:][::-1])
    if not target or 2 * (head + tail) < len(target):
        return None
    calls = list(stored(program))
    fresh = tuple(target[head : len(target) - tail])

    def call(function: str, *arguments: int | Ref | Fresh) -> int:
        calls.append(StoredCall(function, arguments))
        return len(calls) - 1

    result = len(calls) - 1
    parts = []
    if head:
        whole = head == len(made)
        parts.append(result if whole else call("get_subsequence_between_indices", Ref(result), 0, head))
    if fresh:
        parts.append(call("set_list", Fresh(len(fresh))))
    if tail:
        parts.append(call("get_subsequence_between_indices", Ref(result), len(made) - tail, len(made)))
    joined = parts[0]
    for part in parts[1:]:
        joined = call("concatenate", Ref(joined), Ref(part))
    added = len(calls) - 1 - result
    return Repair(tuple(calls), fresh, _STATEMENT_BITS * added + literal_bits * len(fresh))


def _agreeing(a: Sequence[int], b: Sequence[int]) -> int:
    """Length of the common beginning."""
    for i, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return i
    return min(len(a), len(b))
