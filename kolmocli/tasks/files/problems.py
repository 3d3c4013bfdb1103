"""What is wrong with an input file: the first few places are named, all are counted, `strict` stops at the first."""

from __future__ import annotations

from collections.abc import Callable

from kolmocli.errors import UsageError

_NAMED = 3
"""Places of one file that are named; a file that is wrong throughout would otherwise fill the screen."""


class Problems:
    """Collects the bad places of one input. `where` is a line number, or words such as `record 7`.

    Args:
        name: the file, as the user wrote it.
        warn: takes one line of text.
        strict: a bad place is a UsageError instead of a line.
    """

    def __init__(self, name: str, warn: Callable[[str], None], strict: bool = False) -> None:
        self.name = name
        self.count = 0
        self.first = ""
        """What was wrong with the first of them."""
        self._warn = warn
        self._strict = strict
        self._lines = True

    def bad(self, where: int | str, what: object, *, left_out: bool = True) -> None:
        """Name a bad place. `left_out` is False for one whose data are taken all the same, as `what` then says.

        Raises:
            UsageError: with `strict`.
        """
        place = f"{self.name}:{where}" if isinstance(where, int) else f"{self.name}: {where}"
        if self._strict:
            raise UsageError(f"{place}: {what}")
        self.count += 1
        self.first = self.first or str(what)
        if self.count <= _NAMED:
            self._warn(f"{place}: skipped: {what}" if left_out else f"{place}: {what}")
        self._lines = self._lines and isinstance(where, int)

    def close(self, kept: str) -> None:
        """Say how many there were, when there were any. `kept` is what remains, in words."""
        if self.count:
            places = "bad line(s) skipped" if self._lines else "bad place(s)"
            self._warn(f"{self.name}: {self.count:,} {places}, {kept} kept")
