"""What a program says comes next."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kolmocli.curriculum.base import Bucket
from kolmocli.evaluation.continuation import continuation_report, hold_out, predict
from kolmocli.language.interpreter import evaluate
from kolmocli.language.program import parse
from kolmocli.sandbox import Status
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sequences.task import SequenceTask, sequence_task


def next_four(text: str) -> tuple[int, ...] | None:
    program = parse(text)
    return predict(program, evaluate(program), 4)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("range_func_up(3, 9)", (10, 11, 12, 13)),
        ("range_func_interval(0, 20, 5)", (20, 25, 30, 35)),
        ("range_func_interval(20, 0, -5)", (0, -5, -10, -15)),
        ("repeat_num(5, 8)", (8, 8, 8, 8)),
        ("a = set_list([4, 1, 9])\nrepeat_list(3, a)", (4, 1, 9, 4)),
        ("a = range_func_up(1, 5)\nb = repeat_num(5, 0)\ninterleave(a, b)", (6, 0, 7, 0)),
        ("a = range_func_up(0, 9)\nget_subsequence_with_jumps(a, 3)", (12, 15, 18, 21)),
        ("a = range_func_up(1, 5)\nscan_add(a)", (21, 28, 36, 45)),
        ("a = repeat_num(3, 9)\nb = range_func_up(1, 4)\nconcatenate(a, b)", (5, 6, 7, 8)),
        ("a = range_func_up(0, 90)\nget_subsequence_between_indices(a, 2, 6)", (6, 7, 8, 9)),
        ("set_list([1, 2, 3, 4])", None),
        ("a = range_func_up(1, 4)\nb = set_list([7])\nconcatenate(a, b)", None),
        ("a = range_func_up(1, 4)\nreverse_list(a)", None),
    ],
)
def test_the_rule_goes_on(text: str, expected: tuple[int, ...] | None) -> None:
    assert next_four(text) == expected


@given(st.integers(-50, 50), st.integers(1, 30), st.integers(1, 12))
def test_a_ramp_is_predicted_at_any_length(start: int, count: int, items: int) -> None:
    program = parse(f"range_func_up({start}, {start + count - 1})")
    after = start + count
    assert predict(program, evaluate(program), items) == tuple(range(after, after + items))


def task(target: tuple[int, ...]) -> SequenceTask:
    return sequence_task(Bucket("a", 1), 5, target, parse("range_func_up(1, 3)"))


def test_what_is_held_out_is_not_shown() -> None:
    held = hold_out(task((1, 2, 3, 4, 5, 6)), 2)
    assert (held.task.target, held.continuation) == ((1, 2, 3, 4), (5, 6))
    assert held.task.reference is None
    assert (held.task.bucket, held.task.index) == (Bucket("a", 1), 5)


def test_too_little_to_see_a_rule_in_is_shown_whole() -> None:
    assert hold_out(task((1, 2, 3, 4, 5)), 2).task == task((1, 2, 3, 4, 5))
    assert hold_out(task((1, 2, 3)), 0).continuation == ()


def test_only_right_programs_predict() -> None:
    """A rule that goes on right, one that goes on wrong, a copy, a failure; one sequence too short, one lost."""
    rule, copy = parse("range_func_up(1, 4)"), parse("set_list([1, 2, 3, 4])")
    cases = [
        ((1, 2, 3, 4, 5, 6), rule, True, 1.0),
        ((1, 2, 3, 4, 5, 7), rule, True, 1.0),
        ((1, 2, 3, 4, 5, 6), copy, True, 1.0),
        ((1, 2, 3, 4, 5, 6), rule, False, 0.0),
        ((1, 2, 3), rule, True, 1.0),
        ((1, 2, 3, 4, 5, 6), rule, False, None),
    ]
    held = [hold_out(task(target), 2) for target, *_ in cases]
    outcomes = [Outcome("…", 1, passed, Status.OK, reward, True, program) for _, program, passed, reward in cases]
    found = continuation_report(held, outcomes)
    assert (found["continuation_rate"], found["continuation_n"]) == (1 / 4, 4)
    assert continuation_report([], [])["continuation_rate"] is None
