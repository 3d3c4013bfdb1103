"""Ctrl-C, SIGTERM and a closed terminal ask for a stop; the run saves and then ends. A second one ends it at once.

But for a closed terminal: SIGHUP comes from the shell and again from the system, and means the same both times.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any


class StopRequest:
    """While entered, the first SIGINT, SIGTERM or SIGHUP is kept in `signal`; the next one acts as it would have."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self._before: dict[int, Any] = {}

    @property
    def name(self) -> str:
        return signal.Signals(self.signal).name if self.signal is not None else ""

    def __enter__(self) -> StopRequest:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                if number == signal.SIGHUP and signal.getsignal(number) == signal.SIG_IGN:
                    continue  # nohup: the run is to outlive its terminal
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *error: object) -> None:
        self._restore()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.signal = number  # nothing is printed here: the signal may have come in the middle of a print
        hangup = self._before.pop(number) if number == signal.SIGHUP else None
        self._restore()
        if hangup is not None:
            self._before[number] = hangup  # until the end
            signal.signal(number, signal.SIG_IGN)

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()
