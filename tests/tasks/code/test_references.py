"""Tasks whose reference fails their tests, named with why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kolmocli.sandbox import Sandbox
from kolmocli.tasks.base import Task
from kolmocli.tasks.code.references import failing_references
from kolmocli.tasks.code.shapes import human_eval, mbpp, script
from kolmocli.tasks.code.task import CodeTask

from .shaped import PROBLEMS, SCRIPTS

FIRST = mbpp(PROBLEMS[0].mbpp())


def named(tasks: list[CodeTask], box: Sandbox) -> list[tuple[str | None, str]]:
    return [(task.task_id, why) for task, why in failing_references(tasks, box)]


def test_a_right_reference_and_none_are_no_problem(box: Sandbox) -> None:
    assert named([FIRST, replace(FIRST, reference=None), script(SCRIPTS[0])], box) == []


def test_a_reference_that_fails_is_named_with_its_share(box: Sandbox) -> None:
    wrong = [
        replace(FIRST, reference="def add_all(numbers):\n    return 6", task_id="six"),
        replace(FIRST, reference="def add_all(numbers):\n    return numbers[0] * 6", task_id="first"),
        replace(FIRST, reference="def add_all(numbers:", task_id="half"),
        script({**SCRIPTS[1], "program": "print('cba')\nprint('ed')", "task_id": "printed"}),
    ]
    assert named([FIRST, *wrong], box) == [
        ("six", "its reference passes 33% of its tests"),
        ("first", "its reference passes 33% of its tests and ends with RUNTIME"),
        ("half", "its reference passes 0% of its tests and ends with SYNTAX"),
        ("printed", "its reference passes 50% of its tests"),
    ]


@pytest.mark.docker
def test_tests_that_nothing_could_pass_are_named_with_and_without_a_reference(docker_box: Sandbox) -> None:
    record = (
        PROBLEMS[0].mbpp() | {"test_setup_code": "import numpy"} | {"test_list": ["n = [1]\nassert add_all(n) == 1"]}
    )
    tasks = [mbpp(record), mbpp(record | {"code": None, "task_id": "bare"})]
    assert named(tasks, docker_box) == [
        ("add_all", "its tests cannot be used: NotImportable: numpy"),
        ("bare", "its tests cannot be used: NotImportable: numpy"),
    ]


@pytest.mark.docker
def test_what_a_program_cannot_be_given_is_named_whenever_it_is_found(
    docker_box: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    """Before there is a program, and only with the results of one."""
    own = "class Own:\n    pass\n"
    early = mbpp(
        {"text": "f", "code": "def f(x): return x", "test_list": [f"{own}assert f(Own()) == 1"], "task_id": "early"}
    )
    later = f"{own}if f(1) + 1 == 2:\n    assert f(Own()) == 1"
    late = mbpp({"text": "f", "code": "def f(x): return x", "test_list": [later], "task_id": "late"})
    why = "its tests cannot be used: f() is given a value of type Own; only plain values go to a program"
    assert named([early, late], docker_box) == [("early", why), ("late", why)]
    assert [message.partition(": ")[0] for message in caplog.messages] == [
        "the tests of early cannot be used",
        "the tests of late cannot judge a program",
    ]


def test_the_tasks_come_back_as_they_were_given(box: Sandbox) -> None:
    task = human_eval(PROBLEMS[0].human_eval() | {"canonical_solution": "    return 0\n"})
    ((found, _),) = failing_references([task], box)
    assert found is task and isinstance(found, Task)
