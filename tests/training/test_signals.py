"""A stop that is asked for is kept, and the second signal of a kind acts as it would have; but for a closed terminal."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from kolmocli.training.signals import StopRequest


@pytest.fixture(autouse=True)
def handlers() -> Iterator[dict[int, object]]:
    """Those of the test's own process are put back."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield dict(before)
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_is_not_kept(number: signal.Signals, handlers: dict[int, object]) -> None:
    with StopRequest() as stop:
        assert stop.signal is None
        signal.raise_signal(number)
        assert (stop.signal, stop.name) == (number, number.name)
        assert {known: signal.getsignal(known) for known in handlers} == handlers


def test_a_closed_terminal_may_say_so_twice(handlers: dict[int, object]) -> None:
    with StopRequest() as stop:
        signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGHUP)
        assert stop.name == "SIGHUP"
        assert signal.getsignal(signal.SIGTERM) == handlers[signal.SIGTERM]
    assert {number: signal.getsignal(number) for number in handlers} == handlers


def test_a_run_under_nohup_outlives_its_terminal() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with StopRequest() as stop:
        signal.raise_signal(signal.SIGHUP)
        assert stop.signal is None
