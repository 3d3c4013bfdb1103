"""How far a command is that trains nothing: lines where stderr is no terminal, none of them where it ends soon."""

from __future__ import annotations

import time

import pytest

from kolmocli.monitor.counter import counter


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def work(clock: list[float], each: float, quiet: bool = False) -> None:
    with counter("evaluate", quiet) as pace, pace.counting(10, "rollouts") as done:
        for _ in range(10):
            clock[0] += each
            done(1)


def test_a_pipe_gets_a_line_now_and_then(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    work(clock, 4.0)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "evaluate 4/10 rollouts, 4.0 s each, 0:24 left",
        "evaluate 8/10 rollouts, 4.0 s each, 0:08 left",
    ]


def test_what_ends_soon_says_nothing(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    work(clock, 1.0)
    assert capsys.readouterr() == ("", "")


def test_quiet_says_nothing(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    work(clock, 100.0, quiet=True)
    assert capsys.readouterr() == ("", "")
