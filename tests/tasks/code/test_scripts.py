"""Scripts: run once for each input, and compared with what is expected (`test_outputs.py`)."""

from __future__ import annotations

import pytest

from kolmocli.sandbox import Sandbox, Status
from kolmocli.tasks.code.scripts import Scripts
from kolmocli.tasks.code.task import CodeTask
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Relative

ECHO = CodeTask(prompt="Print the input twice.", tests=Scripts(("a", "b c\n", ""), ("a\na\n", "b c\nb c", "\n\n")))


@pytest.mark.parametrize(
    ("program", "passed", "status", "share"),
    [
        ("try:\n    x = input()\nexcept EOFError:\n    x = ''\nprint(x)\nprint(x)", True, Status.OK, 1.0),
        ("x = input()\nprint(x + '\\n' + x)", False, Status.RUNTIME, 2 / 3),
        ("print('a\\na')", False, Status.OK, 1 / 3),
        ("print('a'", False, Status.SYNTAX, 0.0),
        ("import socket", False, Status.RUNTIME, 0.0),
        ("def f():\n    pass", False, Status.OK, 1 / 3),
    ],
)
@pytest.mark.docker
def test_scripts_are_judged_by_what_they_print(
    docker_box: Sandbox, program: str, passed: bool, status: Status, share: float
) -> None:
    outcome = judge([ECHO], [program], docker_box, Terms(Relative(0.25, partial=1.0)))[0]
    assert (outcome.passed, outcome.status, outcome.reward) == (passed, status, pytest.approx(share))


def test_scripts_in_any_sandbox(box: Sandbox) -> None:
    task = CodeTask(prompt="Print the sum.", tests=Scripts(("2\n3\n", "4\n-4\n"), ("5", "0")))
    texts = ["print(int(input()) + int(input()))", "print(5)"]
    outcomes = judge([task] * 2, texts, box, Terms(Relative(0.25)))
    assert [outcome.passed for outcome in outcomes] == [True, False]
    assert outcomes[1].value == ("5\n", "5\n")


def test_a_task_that_no_sandbox_can_take_is_named() -> None:
    with pytest.raises(ValueError, match=r"inputs of 68,157,440 bytes: a sandbox takes 64 MiB of one task"):
        Scripts(("x" * (65 << 20),), ("",))


@pytest.mark.parametrize(("inputs", "outputs"), [((), ()), (("a",), ()), (("a",), ("b", "c"))])
def test_every_input_has_an_output(inputs: tuple[str, ...], outputs: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=f"{len(inputs)} inputs and {len(outputs)} outputs"):
        Scripts(inputs, outputs)
