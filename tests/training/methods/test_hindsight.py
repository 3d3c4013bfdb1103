"""Hindsight: what a program really makes is taught, but nothing that is held out."""

from __future__ import annotations

from collections.abc import Callable

from kolmocli.curriculum.base import Bucket
from kolmocli.engine.base import Group
from kolmocli.language.program import Program, parse
from kolmocli.policy.rollout import Rollout
from kolmocli.sandbox import Status
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sequences.task import sequence_task
from kolmocli.training.methods.hindsight import LONGEST, relabel

ASKED = sequence_task(Bucket("runs", 1), 0, (1, 2))
SEVENS, RAMP, LONG = parse("repeat_num(3, 7)"), parse("range_func_up(1, 3)"), parse(f"repeat_num({LONGEST + 1}, 1)")
MADE = {SEVENS: (7, 7, 7), RAMP: (1, 2, 3), LONG: (1,) * (LONGEST + 1)}


class Source:
    """Only what `relabel` asks of a source of tasks; `asked` is what it was asked."""

    def __init__(self, admits: Callable[[Program], bool]) -> None:
        self._admits = admits
        self.asked: list[tuple[Program, tuple[int, ...]]] = []

    def admits(self, program: Program, value: tuple[int, ...]) -> bool:
        self.asked.append((program, value))
        return self._admits(program)


def missed(*programs: Program) -> Group:
    rollout = Rollout((0,), (0,), (0.0,), (0,), "", True)
    outcomes = [Outcome(str(p), 1, False, Status.OK, 0.0, True, p, value=MADE[p]) for p in programs]
    return Group(ASKED, [rollout] * len(outcomes), outcomes)


def test_what_is_held_out_is_not_taught() -> None:
    source = Source(lambda program: program != SEVENS)
    found = relabel([missed(SEVENS, RAMP)], source)  # type: ignore[arg-type]
    assert [(task.target, task.program) for task in found] == [((1, 2, 3), RAMP)]
    assert source.asked == [(SEVENS, (7, 7, 7)), (RAMP, (1, 2, 3))]
    assert relabel([missed(SEVENS, RAMP)], Source(lambda program: False)) == []  # type: ignore[arg-type]


def test_each_program_is_taught_once_and_long_values_never() -> None:
    found = relabel([missed(SEVENS, SEVENS), missed(SEVENS, LONG)], Source(lambda program: True))  # type: ignore[arg-type]
    assert [task.target for task in found] == [(7, 7, 7)]
