"""Programs from elsewhere: free Python judged by its last value or `output`, programs of the language by their last value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from kolmocli.curriculum.base import Bucket
from kolmocli.evaluation.rescoring import Candidate, limits_of, rescore
from kolmocli.language.coder import coded_bits
from kolmocli.language.program import parse
from kolmocli.sandbox import Job, Sandbox, Status, Verdict, open_sandbox
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sequences.task import SequenceTask, sequence_task

THREES = sequence_task(Bucket("a", 1), 0, (3, 3, 3), language="python")
OF_LANGUAGE = sequence_task(Bucket("a", 1), 0, (3, 3, 3))
LIMITS = limits_of(0.3)


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    sandbox = open_sandbox("embedded", limits=LIMITS, workers=2)
    yield sandbox
    sandbox.close()


@pytest.fixture(scope="module")
def docker_box() -> Iterator[Sandbox]:
    sandbox = open_sandbox("docker", limits=LIMITS, workers=2)
    yield sandbox
    sandbox.close()


def outcome(box: Sandbox, program: str, task: SequenceTask = THREES) -> Outcome:
    found = list(rescore([Candidate(task, program)], box))
    assert [t for t, _ in found] == [task]
    return found[0][1]


PYTHON = [
    ("output = [3] * 3", True, Status.OK),
    ("def f(n):\n    return [3] * n\noutput = f(3)", True, Status.OK),
    ("output = (3, 3, 3)\nx = 'what comes last does not count'", True, Status.OK),
    ("output = [3]\noutput += [3, 3]", True, Status.OK),
    ("output = [3, 3]", False, Status.OK),
    ("output = [3.0] * 3", False, Status.RUNTIME),
    ("output = None", False, Status.RUNTIME),
    ("result = [3] * 3", True, Status.OK),
    ("result = [3] * 3\nprint(result)", False, Status.RUNTIME),
    ("output = [3] * 3\n1 / 0", False, Status.RUNTIME),
    ("output = [3] * 3\nraise SystemExit", False, Status.RUNTIME),
    ("output = [3, 3, 3", False, Status.SYNTAX),
    ("output = [3, 3, 3] + \\", False, Status.SYNTAX),
    ("", False, Status.RUNTIME),
    ("while True:\n    pass", False, Status.TLE_CPU),
]


@pytest.mark.parametrize(("program", "passed", "status"), PYTHON)
def test_free_python(box: Sandbox, program: str, passed: bool, status: Status) -> None:
    found = outcome(box, program)
    assert (found.passed, found.status) == (passed, status)
    assert found.bits == (8 * len(program) if passed else None)


@pytest.mark.docker
def test_free_python_in_containers(docker_box: Sandbox) -> None:
    found = [o for _, o in rescore([Candidate(THREES, program) for program, _, _ in PYTHON], docker_box)]
    assert [(o.passed, o.status) for o in found] == [(passed, status) for _, passed, status in PYTHON]


@pytest.mark.docker
def test_the_functions_of_the_language_are_not_in_scope(docker_box: Sandbox) -> None:
    assert outcome(docker_box, "output = repeat_num(3, 3)").status is Status.RUNTIME


class Fickle:
    """A sandbox in which `LUCK` holds in the first run of a program and in no later one."""

    def __init__(self, box: Sandbox) -> None:
        self.box = box
        self.avoided: list[str | None] = []

    def run(self, jobs: Sequence[Job]) -> list[Verdict]:
        again = [job for job in jobs if job.avoid is not None]
        assert again in ([], jobs)
        self.avoided += [job.avoid for job in again]
        return self.box.run([replace(job, program=job.program.replace("LUCK", str(not again))) for job in jobs])


def test_a_program_that_passes_by_luck_does_not_pass_twice(box: Sandbox) -> None:
    fickle = Fickle(box)
    programs = ["output = [3] * 3", "output = [3] * 3 if LUCK else []", "output = []"]
    candidates = [Candidate(THREES, program) for program in programs]
    assert [o.passed for _, o in rescore(candidates, fickle)] == [True, False, False]  # type: ignore[arg-type]
    assert len(fickle.avoided) == 2 and all(fickle.avoided)


def test_what_is_made_instead_is_known(box: Sandbox) -> None:
    assert outcome(box, "output = [3, 4]").value == (3, 4)
    assert outcome(box, "output = [3] * 3").copied is False
    assert outcome(box, "output = [3, 3, 3]").copied is True


def test_a_program_of_the_language_with_the_generators_comments(box: Sandbox) -> None:
    text = "sequence_1 = repeat_num(3, 3) # [3, 3, 3]\noutput = sequence_1 # [3, 3, 3]"
    found = outcome(box, text, OF_LANGUAGE)
    program = parse("sequence_1 = repeat_num(3, 3)\noutput = sequence_1")
    assert (found.passed, found.program, found.bits) == (True, program, coded_bits(program))


@pytest.mark.parametrize(
    ("text", "status", "formatted"),
    [
        ("repeat_num(2, 3)", Status.OK, True),
        ("repeat_num(3, 3)\nrepeat_num(2, 3)", Status.OK, True),
        ("get_subsequence_with_jumps(repeat_num(3, 3), 1)", Status.SYNTAX, False),
        ("repeat_num(3, 3)\noutput = [3, 3, 3]", Status.SYNTAX, False),
        ("", Status.SYNTAX, False),
    ],
)
def test_a_program_of_the_language_that_fails(box: Sandbox, text: str, status: Status, formatted: bool) -> None:
    found = outcome(box, text, OF_LANGUAGE)
    assert (found.passed, found.status, found.formatted) == (False, status, formatted)


def test_order_is_kept_over_many_batches(box: Sandbox) -> None:
    tasks = [replace(THREES, target=(i % 7, i)) for i in range(520)]
    found = list(rescore((Candidate(t, f"output = [{t.target[0]}, {t.target[1]}]") for t in tasks), box))
    assert [t for t, _ in found] == tasks
    assert all(o.passed for _, o in found)
