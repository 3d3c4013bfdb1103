"""Does a program predict what comes next? That tells finding a rule from writing a sequence down.

A straight-line program stops where its constants say, so "next" needs a definition: the program is *grown*. What says
how long something goes on (the end of a range, the count of a repeat) is raised, and nothing else. Of the grown
programs, all statements at once first, then each alone from the last to the first, the prediction is that of the first
whose value begins with the sequence and goes on for as long as is asked. The held-out items have no say in the
choice. A literal cannot grow, so a copy predicts nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kolmocli.evaluation.intervals import wilson
from kolmocli.evaluation.metrics import is_masked, share
from kolmocli.language.interpreter import Bounds, ExecutionError, evaluate
from kolmocli.language.program import Call, Program
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sequences.task import SequenceTask, shown

_LEAST_SHOWN = 2
"""A sequence shows at least this many times as many items as it keeps back, or it keeps nothing back."""
_BOUNDS = Bounds(items=1 << 16)


@dataclass(frozen=True, slots=True)
class HeldOut:
    """A task that shows the beginning of its sequence, and the rest of it."""

    task: SequenceTask
    continuation: tuple[int, ...]


def hold_out(task: SequenceTask, items: int) -> HeldOut:
    """The task without its last `items` items; the whole task when too little would be left to see a rule in."""
    if not items or len(task.target) < (1 + _LEAST_SHOWN) * items:
        return HeldOut(task, ())
    return HeldOut(shown(task, len(task.target) - items), task.target[-items:])


def predict(program: Program, sequence: Sequence[int], items: int) -> tuple[int, ...] | None:
    """The next `items` items after `sequence`, which the program makes, as it would go on; None when it does not."""
    for grown in _grown(program, items):
        try:
            value = evaluate(grown, _BOUNDS)
        except ExecutionError:
            continue
        if len(value) >= len(sequence) + items and value[: len(sequence)] == list(sequence):
            return tuple(value[len(sequence) : len(sequence) + items])
    return None


def continuation_report(held: Sequence[HeldOut], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The share of the tasks with hidden items whose program makes the shown items and predicts all hidden ones."""
    asked = [(h, o) for h, o in zip(held, outcomes, strict=True) if h.continuation and not is_masked(o)]
    hits = sum(_predicts(h, o) for h, o in asked)
    return {
        "continuation_rate": share(hits, len(asked)),
        "continuation_ci": list(wilson(hits, len(asked))),
        "continuation_n": len(asked),
    }


def _predicts(held: HeldOut, outcome: Outcome) -> bool:
    if not outcome.passed or outcome.program is None:
        return False
    return predict(outcome.program, held.task.target, len(held.continuation)) == held.continuation


def _grown(program: Program, items: int) -> Iterator[Program]:
    """All statements at once, then each alone, from the last to the first."""
    longer = [_longer(s, items) if isinstance(s, Call) else None for s in program.statements]
    places = [i for i, call in enumerate(longer) if call is not None]
    for chosen in [places, *([i] for i in reversed(places))] if places else []:
        yield Program(tuple((longer[i] if i in chosen else None) or s for i, s in enumerate(program.statements)))


def _longer(call: Call, items: int) -> Call | None:
    """The call with at least `items` more items, the same ones before them; None for one that has no length.

    Later statements may take every fifth item, or few of them, so that more are made than are asked for.
    """
    more = 8 * items
    match call.function, call.arguments:
        case "range_func_up", (int(start), int(end)):
            return Call(call.function, (start, end + more))
        case "range_func_interval", (int(start), int(end), int(step)):
            return Call(call.function, (start, end + more * step, step))
        case ("repeat_num" | "repeat_list") as function, (int(count), what):
            return Call(function, (count + more, what))
        case "get_subsequence_between_indices", (what, int(start), int(end)) if end > 0:
            return Call(call.function, (what, start, end + more))
    return None
