"""Programs that try to pass without solving anything: none does, and an honest one after them still passes.

Each is tried on the same problem in every form that tests have: calls and values, code that has to be run with what the
program returned, and scripts.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kolmocli.sandbox import Sandbox, Status
from kolmocli.sandbox.attack.suite import DATA
from kolmocli.tasks.code.asserts import Asserts, Rounds
from kolmocli.tasks.code.shapes import human_eval, mbpp, script
from kolmocli.tasks.code.task import CodeTask
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Relative

TERMS = Terms(Relative(0.25))
HOSTILE = sorted((DATA / "forged").glob("*.txt"))
PROMPT = 'def solve(x):\n    """The square of a number, and 7 more."""\n'
HONEST = "def solve(x):\n    return x * x + 7\n"
HONEST_SCRIPT = "x = int(input())\nprint(x * x + 7)\n"
CALLS = {
    "prompt": PROMPT,
    "entry_point": "solve",
    "test": "def check(candidate):\n    assert candidate(3) == 16\n    assert candidate(0) == 7\n    assert candidate(-2) == 11\n",
}
VALUES = CALLS | {
    "test": "import math\n\ndef check(candidate):\n"
    "    assert abs(candidate(1.5) - 9.25) < 1e-9, 'far'\n"
    "    assert math.isclose(candidate(0), 7)\n"
    "    for x in range(3):\n        assert solve(x) == x * x + 7\n"
    "    assert solve(solve(1)) == 71\n"
}
LISTED = {
    "text": "The square of a number, and 7 more.",
    "test_list": ["assert solve(3) == 16", "assert 7 == solve(0)", "assert solve(-2) == 11"],
}
READ = {"question": "Print the square of a number, and 7 more.", "inputs": ["3", "0\n"], "outputs": ["16\n", "7"]}


def tasks(embedded: bool) -> list[tuple[CodeTask, str]]:
    """Each with an honest solution. The embedded sandbox cannot run tests that are more than calls and values."""
    functions = [human_eval(CALLS), mbpp(LISTED)] if embedded else [human_eval(CALLS), mbpp(LISTED), human_eval(VALUES)]
    return [*((task, HONEST) for task in functions), (script(READ), HONEST_SCRIPT)]


def test_there_are_enough_of_them() -> None:
    assert len(HOSTILE) >= 40
    assert all(path.read_text("utf-8").startswith("# why: ") for path in HOSTILE)


@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: path.stem)
def test_none_passes_and_the_next_is_not_harmed(box: Sandbox, request: pytest.FixtureRequest, path: Path) -> None:
    pairs = tasks("embedded" in request.node.callspec.id)
    program = path.read_text("utf-8")
    attacks = judge([task for task, _ in pairs], [program] * len(pairs), box, TERMS)
    assert [outcome.passed for outcome in attacks] == [False] * len(pairs)
    assert {outcome.reward for outcome in attacks} == {0.0}  # judged, each of them, and not masked
    assert all(outcome.bits is None for outcome in attacks)
    after = judge([task for task, _ in pairs], [honest for _, honest in pairs], box, TERMS)
    assert [(outcome.passed, outcome.status) for outcome in after] == [(True, Status.OK)] * len(pairs)


@pytest.mark.docker
def test_what_the_attacks_were_tried_on(docker_box: Sandbox) -> None:
    """The third form of the problem is one whose tests need the values."""
    task, honest = tasks(embedded=False)[2]
    assert judge([task], [honest], docker_box, TERMS)[0].passed
    assert isinstance(task.tests, Asserts) and isinstance(task.tests.plan, Rounds)


@pytest.mark.docker
def test_no_hostile_program_ends_a_container(docker_box: Sandbox) -> None:
    before = docker_box.health().replaced
    for path in HOSTILE:
        judge([mbpp(LISTED)], [path.read_text("utf-8")], docker_box, TERMS)
    assert docker_box.health().replaced == before
