"""Standard output as a machine really has it: closed, full, or in an encoding that lacks most letters.

A result that cannot be shown must not end as a traceback after hours of training: what was saved is saved.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any

from kolmocli.cli.output import complain, speaks_unicode
from kolmocli.errors import EXIT_FAILED, EXIT_OK

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}


_WIDEST = 1_000
"""Columns, and lines, that a terminal may have; what the environment says beyond it is not believed."""


class Closed(io.StringIO):
    """In the place of a stdout that was closed before the start. It remembers that something was to be shown."""

    def __init__(self) -> None:
        super().__init__()
        self.lost = False

    @property
    def buffer(self) -> Any:
        """The stream for archives."""
        return _ClosedBytes(self)

    def write(self, text: str) -> int:
        self.lost = self.lost or bool(text.strip())
        return len(text)


class _ClosedBytes(io.BytesIO):
    def __init__(self, text: Closed) -> None:
        super().__init__()
        self._text = text

    def write(self, data: Any) -> int:
        self._text.lost = self._text.lost or bool(len(data))
        return len(data)


def open_streams() -> None:
    """Give every standard stream somewhere to go, and let what an encoding lacks be a question mark."""
    for number in range(3):  # else the next file that is opened would be standard output
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for variable in ("COLUMNS", "LINES"):  # Rich takes any, and a picture of a million columns is never done
        said = os.environ.get(variable, "")
        if said and not (said.isascii() and said.isdecimal() and len(said) <= 9 and 0 < int(said) <= _WIDEST):
            os.environ.pop(variable)
    if sys.stdout is None:
        sys.stdout = Closed()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # to the end
    if isinstance(sys.stdout, io.TextIOWrapper) and not speaks_unicode():
        sys.stdout.reconfigure(errors="replace")


def close_stdout(code: int) -> int:
    """Write out what waits, and the exit code: `code`, or 1 with a line where it could not be shown."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        return lost_output(error)
    if isinstance(sys.stdout, Closed) and sys.stdout.lost:
        complain("standard output is closed: what was to be printed is lost")
        return code if code != EXIT_OK else EXIT_FAILED
    return code


def lost_output(error: OSError) -> int:
    """Say that stdout takes no more, and write nothing to it again, not even at exit."""
    complain(f"standard output: {error.strerror}; what was to be printed is lost")
    discard_stdout()
    return EXIT_FAILED


def discard_stdout() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def takes_no_more(error: OSError) -> bool:
    """Whether this error, met while a command printed, is of stdout: one of a file names it."""
    return error.filename is None and error.errno in _FULL
