"""Places in the queue of a server: how many jobs, and bytes of requests, it holds at once. The rest is refused, and told when to come
again: what is refused is not lost, as its sender still has it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_SHORTEST_S, _LONGEST_S = 1, 30


class Full(Exception):
    """No place is free; `seconds` is a guess of when one will be."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"the queue is full; come again in {seconds} s")
        self.seconds = seconds


class Places:
    """`unsettled` says how many jobs the pool has, `rate` how many it settles per second (None: not known)."""

    def __init__(self, jobs: int, bytes_: int, unsettled: Callable[[], int], rate: Callable[[], float | None]) -> None:
        self.jobs, self.bytes = jobs, bytes_
        self._unsettled, self._rate = unsettled, rate
        self._held = 0

    def require(self, jobs: int) -> None:
        """Raises Full unless this many more jobs may be submitted now. More than there ever are places go alone."""
        taken = self._unsettled()
        if taken and taken + jobs > self.jobs:
            over, rate = taken + jobs - self.jobs, self._rate() or 1.0
            raise Full(min(_LONGEST_S, max(_SHORTEST_S, math.ceil(over / rate))))

    @contextmanager
    def holding(self) -> Iterator[Callable[[int], None]]:
        """While entered, the bytes that it is told of are held. Raises Full from what is told."""
        mine = 0

        def add(more: int) -> None:
            nonlocal mine
            if self._held > mine and self._held + more > self.bytes:  # what is alone is bounded by the longest body
                raise Full(_SHORTEST_S)
            mine += more
            self._held += more

        try:
            yield add
        finally:
            self._held -= mine
