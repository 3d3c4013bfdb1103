"""Programs are judged beside the writing of others: every one once, by its number, whatever the order they end in."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Sequence

import pytest

from kolmocli.engine import background as module
from kolmocli.engine.background import BackgroundJudge
from kolmocli.sandbox.base import Status
from kolmocli.tasks.outcome import Outcome


def outcome(text: str) -> Outcome:
    return Outcome(text, 1, False, Status.OK, 0.0)


def judge(numbers: Sequence[int], texts: Sequence[str]) -> list[Outcome]:
    assert texts == [f"program {n}" for n in numbers]
    return [outcome(text) for text in texts]


@pytest.mark.parametrize("count", [0, 1, 31, 32, 33, 100])
def test_every_program_gets_its_own_outcome(count: int) -> None:
    numbers = list(range(count))
    random.Random(0).shuffle(numbers)
    with BackgroundJudge(judge) as judging:
        for number in numbers:
            judging.take(number, f"program {number}")
        assert [o.text for o in judging.outcomes()] == [f"program {n}" for n in range(count)]


def test_the_first_are_judged_before_the_last_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_AT_ONCE", 2)
    seen = threading.Event()

    def noticing(numbers: Sequence[int], texts: Sequence[str]) -> list[Outcome]:
        seen.set()
        return judge(numbers, texts)

    with BackgroundJudge(noticing) as judging:
        for number in range(2):
            judging.take(number, f"program {number}")
        assert seen.wait(10)  # nobody has asked for outcomes yet
        judging.take(2, "program 2")
        assert len(judging.outcomes()) == 3


def test_what_judging_raises_reaches_the_caller() -> None:
    def broken(numbers: Sequence[int], texts: Sequence[str]) -> list[Outcome]:
        raise RuntimeError("no sandbox")

    with BackgroundJudge(broken) as judging, pytest.raises(RuntimeError, match="no sandbox"):
        judging.take(0, "")
        judging.outcomes()


def test_who_waits_looks_up_and_may_break_it_off() -> None:
    """A program that does not end holds nobody up: whoever owns the sandbox ends it."""
    never = threading.Event()

    def slow(numbers: Sequence[int], texts: Sequence[str]) -> list[Outcome]:
        never.wait(60)
        return judge(numbers, texts)

    def look() -> None:
        raise InterruptedError

    began = time.monotonic()
    try:
        with pytest.raises(InterruptedError), BackgroundJudge(slow) as judging:
            judging.take(0, "program 0")
            judging.outcomes(look)
        assert time.monotonic() - began < 30
    finally:
        never.set()
