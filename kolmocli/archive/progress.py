"""Progress of the work on some data: a few words, and the share that is done where it is known."""

from __future__ import annotations

import time
from typing import Protocol

_ENOUGH = 0.05
"""Below this share of the work its pace says little."""


class Progress(Protocol):
    """Hears what is being tried. `done` is the share of all the work that lies behind; None where it is unknown."""

    def __call__(self, stage: str, done: float | None = None) -> None: ...


def silent(stage: str, done: float | None = None) -> None:
    """For callers that do not listen."""


def without_share(progress: Progress) -> Progress:
    """For one file of many, whose own share says little of the whole."""
    return lambda stage, done=None: progress(stage)


def part_of(progress: Progress, begin: float, end: float) -> Progress:
    """For one part of the data, whose work is that stretch of the whole."""
    return lambda stage, done=None: progress(stage, None if done is None else begin + (end - begin) * done)


class Stages:
    """Stages of work, of an unknown number: each is taken to be half of what is left.

    That is about what searching, coding the programs and comparing the decoded archive are where programs are found.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._begin = self._end = 0.0

    def begin(self, stage: str) -> None:
        self._begin, self._end = self._end, self._end + (1 - self._end) / 2
        self.at(stage, 0.0)

    def at(self, stage: str, done: float) -> None:
        """`done` is the share of the stage that has begun."""
        self._progress(stage, self._begin + (self._end - self._begin) * done)


class TimeLeft:
    """Seconds until the end, by the pace since a share was first known: what came before it had none."""

    def __init__(self) -> None:
        self._first: tuple[float, float] | None = None

    def after(self, done: float | None) -> float | None:
        """With that share done; None where nothing can be said."""
        now = time.monotonic()
        if done is None:
            return None
        if self._first is None:
            self._first = now, done
        began, first = self._first
        return (now - began) * (1 - done) / (done - first) if done >= first + _ENOUGH else None
