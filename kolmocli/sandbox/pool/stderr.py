"""Keep part of the stderr of a container or a worker process, for the day that it ends."""

from __future__ import annotations

from kolmocli.console import printable

KEPT = 4096
"""Bytes. Only the last line is shown; the lines before it help to debug."""
_SHOWN = 500


class Tail:
    """The last 4 KiB of a stream."""

    def __init__(self) -> None:
        self._kept = b""

    def add(self, data: bytes) -> None:
        self._kept = (self._kept + data)[-KEPT:]

    def text(self) -> str:
        return self._kept.decode("utf-8", "replace")

    def line(self) -> str:
        """The last line that says something, fit to print; empty when there is none. At most 500 characters."""
        lines = [line for line in map(str.strip, self.text().splitlines()) if line]
        return printable(lines[-1])[:_SHOWN] if lines else ""
