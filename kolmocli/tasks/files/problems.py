"""Problems of an input file: the first few places are named, all are counted, `strict` stops at the first."""

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
        named: places that are named; the others are counted.
    """

    def __init__(self, name: str, warn: Callable[[str], None], strict: bool = False, named: float = _NAMED) -> None:
        self.name = name
        self.count = 0
        self.first = ""
        """Fault of the first of them."""
        self._warn = warn
        self._strict, self._named = strict, named
        self._lines = True
        self._notes = set[str]()
        self._unused: dict[str, int] = {}

    def note(self, what: str) -> None:
        """Say something of the file that is no problem, once."""
        if what and what not in self._notes:
            self._notes.add(what)
            self._warn(f"{self.name}: {what}")

    def unused(self, where: int | str, key: str) -> None:
        """A part of a task of which nothing is made; counted, and said at the end.

        Raises:
            UsageError: with `strict`.
        """
        if self._strict:
            raise UsageError(
                f"{self._place(where)}: `{key}` is not used; leave out --strict to take the task without it"
            )
        self._unused[key] = self._unused.get(key, 0) + 1

    def bad(self, where: int | str, what: object, *, left_out: bool = True) -> None:
        """Name a bad place. `left_out` is False for one whose data are taken all the same, as `what` then says.

        Raises:
            UsageError: with `strict`.
        """
        place = self._place(where)
        if self._strict:
            raise UsageError(f"{place}: {what}")
        self.count += 1
        self.first = self.first or str(what)
        if self.count <= self._named:
            self._warn(f"{place}: skipped: {what}" if left_out else f"{place}: {what}")
        self._lines = self._lines and isinstance(where, int)

    def _place(self, where: int | str) -> str:
        return f"{self.name}:{where}" if isinstance(where, int) else f"{self.name}: {where}"

    def close(self, kept: str) -> None:
        """Say how many there were, when there were any. `kept` is what remains, in words."""
        for key, count in self._unused.items():
            self._warn(f"{self.name}: `{key}` of {count:,} rows is not used")
        if self.count:
            places = "bad line(s) skipped" if self._lines else "bad place(s)"
            self._warn(f"{self.name}: {self.count:,} {places}, {kept} kept")
