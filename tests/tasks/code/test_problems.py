"""Many tasks of HumanEval's and MBPP's shape: every reference passes, and no empty body does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

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
BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "code_tests.py"


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


def counted(file: Path, backend: str) -> dict[str, Any]:
    asked = [sys.executable, str(BENCHMARK), str(file), "--sandbox", backend, "--workers", "2", "--json"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def both_shapes(folder: Path) -> Path:
    file = folder / "problems.jsonl"
    records = [record for problem in PROBLEMS for record in (problem.human_eval(), problem.mbpp())]
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    return file


@pytest.mark.docker
def test_the_benchmark_counts_what_passes(tmp_path: Path) -> None:
    found = counted(both_shapes(tmp_path), "docker")
    tasks = 2 * len(PROBLEMS)
    assert (found["tasks"], found["sandbox"]) == (tasks, "docker")
    assert found["canonical_solutions"] == {"judged": tasks, "masked": 0, "passed": tasks, "missed": {}}
    assert (found["empty_bodies"]["judged"], found["empty_bodies"]["passed"]) == (tasks, 0)
    assert 0.6 * tasks < found["read_without_a_run"] < tasks


def test_the_benchmark_says_what_it_could_not_judge(tmp_path: Path) -> None:
    found = counted(both_shapes(tmp_path), "embedded")
    assert found["empty_bodies"]["judged"] == found["read_without_a_run"]
    assert found["empty_bodies"]["masked"] == found["tasks"] - found["read_without_a_run"] > 0
    assert found["empty_bodies"]["passed"] == 0
    assert 0.8 * found["read_without_a_run"] < found["canonical_solutions"]["passed"]
