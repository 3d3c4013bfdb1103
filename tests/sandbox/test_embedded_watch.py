"""The CPU watch of the embedded sandbox ends the program that used the time, and no other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import pytest

from kolmocli.sandbox import Job, Limits
from kolmocli.sandbox.embedded.runtime import find_interpreter
from kolmocli.sandbox.embedded.worker import Interpreter
from kolmocli.sandbox.pool.queue import payload
from kolmocli.sandbox.wire import frames

LIMITS = Limits(cpu_ms=100, memory_mb=64)
PARSED = payload(Job("x = " + "1+" * 60_000 + "1"), LIMITS)
"""Uses its time while the interpreter is idle, which is killed all the same."""
LOOP = payload(Job("while 1: pass"), LIMITS)
NORMAL = payload(Job("x = set_list([1, 2])", "dsl"), LIMITS)


@pytest.fixture(scope="module")
def worker() -> Iterator[Interpreter]:
    made = Interpreter(asdict(LIMITS), find_interpreter())
    yield made
    made.pool.__exit__(None, None, None)


@pytest.mark.parametrize("hostile", [PARSED, LOOP], ids=["while parsing", "while running"])
def test_the_program_after_a_killed_one_meets_a_live_interpreter(worker: Interpreter, hostile: bytes) -> None:
    for _ in range(8):
        worker.run(hostile)
        output, reason, _ = worker.run(NORMAL)
        assert (output, reason) == (b"1\n[1, 2]\n!OK\n", frames.ENDED)


def test_the_program_after_a_killed_one_is_watched_too(worker: Interpreter) -> None:
    """The watch must know the new process: else this would run until the wall limit."""
    for _ in range(6):
        _, reason, used = worker.run(LOOP)
        assert reason == frames.CPU
        assert used == pytest.approx(0.1)
