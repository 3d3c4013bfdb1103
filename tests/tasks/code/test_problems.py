"""Many tasks of HumanEval's and MBPP's shape: every reference passes, and no empty body does."""

from __future__ import annotations

import pytest

from kolmocli.sandbox import Sandbox, Status
from kolmocli.tasks.code.asserts import Asserts
from kolmocli.tasks.code.references import failing_references
from kolmocli.tasks.code.shapes import human_eval, mbpp, script
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Relative

from .shaped import PROBLEMS, SCRIPTS

COMPLETED = [human_eval(problem.human_eval()) for problem in PROBLEMS]
DESCRIBED = [mbpp(problem.mbpp()) for problem in PROBLEMS]
READING = [script(record) for record in SCRIPTS]


def test_there_are_enough_of_them() -> None:
    assert len(COMPLETED) == len(DESCRIBED) >= 60


@pytest.mark.docker
def test_every_reference_passes(docker_box: Sandbox) -> None:
    assert failing_references([*COMPLETED, *DESCRIBED, *READING], docker_box) == []


@pytest.mark.docker
def test_no_empty_body_passes(docker_box: Sandbox) -> None:
    tasks = [*COMPLETED, *COMPLETED, *DESCRIBED, *READING]
    empty = ["", "    pass\n"] * len(COMPLETED)
    texts = [
        *sorted(empty),
        *(f"def {task.entry_point}(*_, **__):\n    pass" for task in DESCRIBED),
        *[""] * len(READING),
    ]
    outcomes = judge(tasks, texts, docker_box, Terms(Relative(0.25)))
    assert [task.task_id for task, outcome in zip(tasks, outcomes, strict=True) if outcome.passed] == []
    assert all(outcome.reward == 0.0 for outcome in outcomes)  # judged, and not masked
    assert {outcome.status for outcome in outcomes} <= {Status.OK, Status.RUNTIME}


@pytest.mark.docker
def test_the_whole_function_passes_as_its_body_does(docker_box: Sandbox) -> None:
    whole = [problem.head + problem.body for problem in PROBLEMS]
    outcomes = judge(COMPLETED, whole, docker_box, Terms(Relative(0.25)))
    assert [task.task_id for task, outcome in zip(COMPLETED, outcomes, strict=True) if not outcome.passed] == []


def test_most_of_them_in_the_embedded_sandbox(embedded_box: Sandbox) -> None:
    """Those whose tests can be read without being run. Some references it refuses to run; none does it judge wrong."""
    described = [mbpp(problem.mbpp()) for problem in PROBLEMS]
    tasks = [task for task in described if isinstance(task.tests, Asserts) and task.tests.plan]
    assert len(tasks) > 0.6 * len(DESCRIBED)
    outcomes = judge(tasks, [task.reference or "" for task in tasks], embedded_box, Terms(Relative(0.25)))
    passed = [outcome.passed for outcome in outcomes]
    assert sum(passed) > 0.8 * len(tasks)
    assert {outcome.status for outcome in outcomes if not outcome.passed} <= {Status.DENIED}
