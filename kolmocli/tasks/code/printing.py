"""What a program prints, for tests that look at it: a part of the tester. The program keeps it until it is asked (`keeper.py`)."""

import collections
import contextlib
import io
import sys
from collections.abc import Iterator
from typing import Any

from kolmocli.tasks.code.tokens import _known

Captured = collections.namedtuple("Captured", "out err")


class Printed:
    """pytest's `capsys`, and what `sys.stdout` is set to."""

    def __init__(self, bench: Any) -> None:
        self._bench = bench
        self._to: io.StringIO | None = None
        """Where it goes."""

    def begin(self) -> "Printed":
        """What was printed before counts no more."""
        self._bench.ask("printed", "printed")
        return self

    def readouterr(self) -> Captured:
        return Captured(*_known(self._bench.ask("printed", "printed")))

    def redirect(self, stream: Any) -> None:
        """`sys.stdout = stream`."""
        self._write()
        self._to = None if stream in (sys.stdout, sys.__stdout__) else stream
        if self._to is not None:
            self.begin()
        if (read := getattr(stream, "getvalue", None)) is not None:

            def getvalue() -> str:
                if self._to is stream:
                    self._write()
                return str(read())

            stream.getvalue = getvalue

    @contextlib.contextmanager
    def redirected(self, stream: Any) -> Iterator[Any]:
        """`with redirect_stdout(stream)`."""
        before, error = self._to, None
        self.redirect(stream)
        try:
            yield stream
        except Exception as raised:  # that there is no value yet is none
            error = raised
        self._write()
        self._to = before
        if error is not None:
            raise error

    def _write(self) -> None:
        if self._to is not None:
            self._to.write(self.readouterr().out)
