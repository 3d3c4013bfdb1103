"""Whether a program in free Python spells its sequence out."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kolmocli.curriculum.base import Bucket
from kolmocli.sandbox.base import Status, Verdict
from kolmocli.tasks.outcome import Outcome, Terms
from kolmocli.tasks.reward import Binary
from kolmocli.tasks.sequences.judge import spells_out
from kolmocli.tasks.sequences.task import sequence_task


@pytest.mark.parametrize(
    ("program", "copied"),
    [
        ("output = [10, -2, 30]", True),
        ("a=[7,\n10,\n-2,30,\n8]\noutput=a[1:4]", True),
        ("output = [10, -2, 31]", False),
        ("output = list(range(10, 31, 10))", False),
        ("", False),
    ],
)
def test_a_program_that_spells_its_sequence_out(program: str, copied: bool) -> None:
    assert spells_out(program, (10, -2, 30)) == copied


NUMBERS = st.lists(st.sampled_from([-12, -1, 0, 1, 2, 12, 121]), max_size=9)


@given(NUMBERS, NUMBERS.filter(bool))
def test_numbers_in_a_row_are_found_wherever_they_stand(numbers: list[int], target: list[int]) -> None:
    wanted = [numbers[i : i + len(target)] for i in range(len(numbers))]
    assert spells_out(f"output = {numbers}", tuple(target)) == (target in wanted)


def test_text_may_be_spelled_out_as_text() -> None:
    target = tuple(b"the cat\nsat")
    assert spells_out("output = list(b'the cat\\nsat')", target)
    assert spells_out("output = [ord(c) for c in 'the cat\\nsat']", target)
    assert not spells_out("output = [ord(c) for c in 'the dog\\nsat']", target)


@pytest.mark.parametrize("status", [Status.TLE_WALL, Status.OLE, Status.SIGNAL])
def test_a_program_that_ends_badly_after_its_last_line_has_missed(status: Status) -> None:
    """All its values are there, and none of them is the target."""
    attempt = sequence_task(Bucket("runs", 1), 0, (7, 7)).attempt("repeat_num(3, 7)\nrepeat_num(4, 7)", Terms(Binary()))
    outcome = attempt.outcome(Verdict(status, ((7, 7, 7), (7, 7, 7, 7))))
    assert isinstance(outcome, Outcome)
    assert (outcome.passed, outcome.status, outcome.reward, outcome.end) == (False, status, -1.0, 2)
    assert outcome.ends == (1, 2)
