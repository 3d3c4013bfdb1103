"""Search for the same sequences, with as many seconds for each: a policy that saves less has learned nothing new."""

from __future__ import annotations

from collections.abc import Sequence

from kolmocli.errors import UsageError
from kolmocli.evaluation import rates
from kolmocli.evaluation.coding import CODED, Pair
from kolmocli.language.raw import raw_bits
from kolmocli.language.search.solver import solvable, solve
from kolmocli.sandbox.base import Status
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sequences.task import SequenceTask


def search_baseline(tasks: Sequence[SequenceTask], seconds: float) -> dict[str, float | None]:
    """`{"per_block": …, "solid": …}`, both ÷ raw, as the codecs have them.

    `per_block` adds up the programs, at worst literal lists. `solid` is the compression rate that a policy would have that
    wrote these programs: sequences without one that is shorter than the literal are left to the best codec.
    """
    found: dict[tuple[int, ...], Outcome] = {}
    for task in tasks:
        if task.target not in found:
            found[task.target] = _outcome(task.target, seconds)
    pairs: list[Pair] = [(task, found[task.target]) for task in tasks]
    raw = raw_bits(task.target for task in tasks)
    known = [outcome.bits for _, outcome in pairs if outcome.bits is not None]
    every = len(known) == len(pairs)
    return {"per_block": sum(known) / raw if raw and every else None, "solid": rates.compression(pairs, CODED).value}


def _outcome(sequence: tuple[int, ...], seconds: float) -> Outcome:
    """As if a policy had written the program. Sequences that the language cannot write are left to the codecs."""
    try:
        solvable(sequence)
    except UsageError:
        return Outcome("", 0, False, Status.OK, 0.0)
    solution = solve(sequence, seconds=seconds)
    text, copied = str(solution.program), solution.source == "literal"
    return Outcome(text, len(solution.program), True, Status.OK, 0.0, True, solution.program, solution.bits, copied)
