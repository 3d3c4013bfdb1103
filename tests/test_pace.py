"""How far work is, and who is asked between two parts of it."""

from __future__ import annotations

import pytest

from kolmocli.pace import Pace, Reached


def test_what_is_counted_is_told_between_two_parts() -> None:
    heard: list[Reached | None] = []
    pace = Pace()
    pace.listener = lambda: heard.append(pace.reached)
    pace.look()
    with pace.counting(4, "rollouts", done=1) as done:
        pace.look()
        done(2)
        done(1)
    pace.look()
    assert [None if at is None else (at.done, at.of, at.unit, at.first) for at in heard] == [
        None,
        (1, 4, "rollouts", 1),
        (3, 4, "rollouts", 1),
        (4, 4, "rollouts", 1),
        None,
    ]


def test_a_part_of_other_work_counts_there_or_not_at_all() -> None:
    pace = Pace()
    with pace.counting(10, "rollouts") as done:
        with pace.counting(5, "rollouts") as part:
            part(5)
        with pace.counting(3, "steps") as other:
            other(3)
        done(1)
        assert pace.reached is not None
        assert (pace.reached.done, pace.reached.of) == (6, 10)


def test_work_that_is_broken_off_is_not_counted_any_more() -> None:
    pace = Pace()
    with pytest.raises(ZeroDivisionError), pace.counting(2, "rollouts"):
        raise ZeroDivisionError
    assert pace.reached is None


@pytest.mark.parametrize(
    ("reached", "per_second", "left"),
    [
        (Reached(30, 90, "rollouts", 10.0), 3.0, 20.0),
        (Reached(30, 90, "steps", 10.0, first=20), 1.0, 60.0),  # resumed: the first were done long ago
        (Reached(0, 90, "rollouts", 10.0), None, None),
        (Reached(20, None, "programs", 10.0), 2.0, None),
    ],
)
def test_the_time_left_goes_by_the_pace_so_far(reached: Reached, per_second: float | None, left: float | None) -> None:
    assert (reached.per_second, reached.seconds_left) == (per_second, left)
