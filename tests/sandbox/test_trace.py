"""The value after every statement, the same in both backends."""

from __future__ import annotations

import pytest

from kolmocli.sandbox import Job, Sandbox, Status

PROGRAMS = {
    "assignments": ("a = 1\nb = [a, 2]\nb", [(1,), (1, 2), (1, 2)]),
    "types": ("(1, 2)\nb'ab'\n'ab'\nrange(3)\n-5", [(1, 2), (97, 98), (97, 98), (0, 1, 2), (-5,)]),
    "no value": ("True\n1.5\n[True]\n[[1]]\n{1: 2}\nNone\n[1.0]", [None] * 7),
    "kinds of assignment": (
        "a = 1\na += 2\nb: int = a\nc: int\na = b = 5\nx, y = 1, 2",
        [(1,), (3,), (3,), None, None, None],
    ),
    "other statements": (
        "def f(x):\n    return [x]\n\n\nfor i in [1]:\n    pass\nimport math\nf(7)",
        [None, None, None, (7,)],
    ),
    "semicolons": ("a = 1; b = 2; a", [(1,), (2,), (1,)]),
    "the value then, not later": ("a = [1]\na.append(2)\na", [(1,), None, (1, 2)]),
    "several lines": ("a = [\n    1,\n    2,  # two\n]\na", [(1, 2), (1, 2)]),
    "docstring": ("'x'\n", [(120,)]),
    "empty list": ("[]", [()]),
    "seeded": ("import random\na = [random.randint(0, 9) for _ in range(3)]\nrandom.seed(0)\na", None),
    "printing": ("print('hello')\n3", [None, (3,)]),
    "big": ("2 ** 200", [(2**200,)]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_python(sandbox: Sandbox, name: str) -> None:
    program, trace = PROGRAMS[name]
    first, second = sandbox.run([Job(program, "python", group=1), Job(program, "python", group=2)])
    assert first.status is Status.OK, first.detail
    assert first.trace == second.trace
    if trace is not None:
        assert list(first.trace) == trace


def test_a_program_that_fails_keeps_what_it_finished(sandbox: Sandbox) -> None:
    verdict = sandbox.run(
        [Job("a = set_list([1, 2])\nb = reverse_list(a)\nc = add_item_list(a, missing)\nd = a", "dsl")]
    )[0]
    assert verdict.status is Status.RUNTIME
    assert verdict.trace == ((1, 2), (2, 1))
    assert verdict.value is None


def test_nothing_runs_before_all_compiles(sandbox: Sandbox) -> None:
    verdict = sandbox.run([Job("a = 1\nb = (", "python")])[0]
    assert (verdict.status, verdict.trace) == (Status.SYNTAX, ())


def test_the_language_is_in_scope_only_when_asked_for(sandbox: Sandbox) -> None:
    with_it, without = sandbox.run([Job("a = set_list([1])", "dsl"), Job("a = set_list([1])")])
    assert with_it.status is Status.OK
    assert without.status is Status.RUNTIME
