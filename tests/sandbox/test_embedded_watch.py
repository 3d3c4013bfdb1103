"""The CPU watch of the embedded sandbox hits the program that used the time, and no other."""

from __future__ import annotations

import pydantic_monty as monty
import pytest

from kolmocli.sandbox.embedded_watch import Watch


def busy(watch: Watch) -> None:
    """Use this process's own time, as the parsing of a huge program does, while the interpreter is idle."""
    while not watch.fired:
        pass


@pytest.mark.parametrize("round_", range(5))
def test_an_idle_interpreter_that_was_killed_is_not_given_to_the_next_program(round_: int) -> None:
    with monty.Monty(min_processes=1, max_processes=1) as pool:
        watch = Watch(0.05)
        watch.start()
        for _ in range(3):
            watch.begin()
            with pool.checkout() as session:
                assert session.feed_run("1 + 1") == 2  # would raise, were the process a dead one
            busy(watch)
            assert watch.end() == 0.05
