"""A time limit for the work on an archive."""

from __future__ import annotations

import time


class TimeBudget:
    """Shares out the time up to a deadline, a moment of `time.monotonic`; None for as much as it takes."""

    def __init__(self, deadline: float | None) -> None:
        self._deadline = deadline
        self.reserved = 0.0
        """Seconds at the end that are for decoding the best archive so far, which is compared with the data."""

    def left(self) -> float | None:
        """Seconds, 0 at the least."""
        return None if self._deadline is None else max(self._deadline - self.reserved - time.monotonic(), 0.0)

    def late(self) -> bool:
        return self.left() == 0

    def enough(self, seconds: float) -> bool:
        """Whether that much is left."""
        left = self.left()
        return left is None or left > seconds

    def share(self, part: float) -> float | None:
        """The moment at which this part of what is left is over."""
        left = self.left()
        return None if left is None else time.monotonic() + part * left
