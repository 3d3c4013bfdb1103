"""A course: everything of a curriculum but the policy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kolmocli as kolmo
from kolmocli.tasks.chat import messages
from tests.integrations.stories import open_stories


def test_a_course_draws_what_its_controller_proposes_and_goes_on_where_it_was() -> None:
    with kolmo.open_course("digits") as one, kolmo.open_course("digits") as other:
        tasks = one.draw(8)
        assert [task.bucket for task in other.draw(8)] == [task.bucket for task in tasks]
        one.observe([kolmo.Result(task.bucket, passes=8, rollouts=8) for task in tasks])
        other.load_state_dict(json.loads(json.dumps(one.state_dict())))
        ahead = [one.draw(8) for _ in range(3)]
        assert [[(t.bucket, t.index) for t in other.draw(8)] for _ in range(3)] == [
            [(t.bucket, t.index) for t in tasks] for tasks in ahead
        ]
        assert len({(t.bucket, t.index) for tasks in [tasks, *ahead] for t in tasks}) == 32
        assert one.metrics()["sum_digits/level"] > 1.0


def test_the_controller_can_be_chosen_and_brought() -> None:
    with kolmo.open_course("digits", settings={"controller.kind": "uniform"}) as course:
        assert course.controller.state_dict()["kind"] == "uniform"
    own = kolmo.controller("staircase", {"sum_digits": 3})
    with kolmo.open_course("digits", controller=own) as course:
        assert {task.bucket.family for task in course.draw(8)} == {"sum_digits"}


def test_a_bucket_that_is_not_there_is_named() -> None:
    own = kolmo.controller("staircase", {"sums": 2})
    with kolmo.open_course("digits", controller=own) as course:
        for level in (0, 99):  # 0 is no place from the end
            with pytest.raises(
                kolmo.KolmoError, match=rf"sum_digits/{level} is not in the curriculum: sum_digits has levels 1 to \d+$"
            ):
                course.task(kolmo.Bucket("sum_digits", level), 0)
        with pytest.raises(
            kolmo.KolmoError, match=r"sums/1 is not in the curriculum: the curriculum has no such family$"
        ):
            course.draw(1)
        assert course.state_dict()["drawn"] == {}


def test_a_state_of_other_tasks_is_refused() -> None:
    with kolmo.open_course("digits") as course:
        state = course.state_dict()
    with (
        kolmo.open_course("digits", settings={"seed": 7}) as other,
        pytest.raises(ValueError, match="it is of other tasks: seed was 0, is 7"),
    ):
        other.load_state_dict(state)


def test_a_course_without_a_judge_draws_the_same_tasks_and_judges_nothing() -> None:
    with kolmo.open_course("python", judges=False) as course, kolmo.open_course("python", sandbox="embedded") as whole:
        tasks = course.draw(4)
        assert tasks == whole.draw(4)
        with pytest.raises(kolmo.KolmoError, match="open it with judges=True"):
            course.judge(tasks, [""] * 4)


def test_held_out_tasks_are_never_drawn() -> None:
    with kolmo.open_course("digits") as course:
        held_out = {task.asked.text for task in course.held_out(50)}
        assert len(held_out) > 40  # short questions repeat
        assert held_out.isdisjoint(task.asked.text for task in course.draw(200))


def test_programs_are_judged_whatever_stands_around_them() -> None:
    with kolmo.open_course("python", sandbox="embedded") as course:
        task = course.task(kolmo.Bucket("numbers", 1), 0)
        whole = str(task.reference)
        rest = whole.removeprefix(task.prefix)
        lines = whole.replace(": return", ":\n    return")
        answers = [whole, rest, lines, f"It is this:\n```python\n{whole}\n```\n", "nothing"]
        outcomes = course.judge([task] * 5, answers)
        assert [outcome.passed for outcome in outcomes] == [True, True, True, True, False]
        assert [said["role"] for said in messages(task)] == ["system", "user"]


def test_what_the_sandbox_lost_has_no_reward() -> None:
    course = open_stories()
    tasks = course.draw(100)
    outcomes = course.judge(tasks, ["once"] * 100)
    assert 0 < sum(outcome.reward is None for outcome in outcomes) < 40


def test_a_course_that_cannot_be_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(kolmo.KolmoError, match="neither a curriculum file nor a packaged curriculum"):
        kolmo.open_course("digitz")
    with pytest.raises(kolmo.KolmoError, match=r"controller\.kind=rash: .* did you mean rasch"):
        kolmo.open_course("digits", settings={"controller.kind": "rash"})
