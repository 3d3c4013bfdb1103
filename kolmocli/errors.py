"""Errors that a user can fix: one line each, with the exit code the command ends with.

Anything else that is raised is a defect of kolmo and may show a traceback.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_CHECK = 3
EXIT_ENVIRONMENT = 4


class KolmoError(Exception):
    """A failure whose message is one line: what is wrong, where, and the remedy."""

    exit_code = EXIT_FAILED


class UsageError(KolmoError):
    """Wrong usage or configuration: an unknown key, a used run folder, a malformed file."""

    exit_code = EXIT_USAGE


class CheckError(KolmoError):
    """A check that was asked for did not hold."""

    exit_code = EXIT_CHECK


class EnvironmentMissing(KolmoError):
    """Something this machine lacks: a Docker engine, a CUDA device, an optional package."""

    exit_code = EXIT_ENVIRONMENT


@contextmanager
def naming(name: str) -> Iterator[None]:
    """While entered, errors that a user can fix begin with this name."""
    try:
        yield
    except KolmoError as error:
        raise type(error)(f"{name}: {error}") from None


_REMEDIES = {
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "make it writable"),
    errno.ENOENT: "put its folder back",
}
_TOLD = (*_REMEDIES, errno.ENOSPC, errno.EDQUOT, errno.EIO)


def remedy_of(error: BaseException) -> str:
    """A remedy for a failed write."""
    return _REMEDIES.get(_number(error), "make room")


def reason_of(error: BaseException) -> str:
    """The system's own words for a failed write, or else the error's, on one line of at most 160 characters."""
    number = _number(error)
    return os.strerror(number) if number else " ".join(str(error).split())[:160]


def _number(error: BaseException) -> int:
    """The system's number of an error. Libraries that write tensors tell it in words, among their own; 0 without any."""
    told = str(error)
    return getattr(error, "errno", None) or next((n for n in _TOLD if os.strerror(n) in told), 0)


def last_line(error: Exception) -> str:
    """The last line that says something: errors of engines hold whole tracebacks. At most 300 characters."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1][:300] if lines else type(error).__name__


def suggest(word: str, known: Iterable[str]) -> str:
    """`did you mean batch_size?`, or what there is when nothing is close."""
    known = list(known)
    close = get_close_matches(word, known, n=1) or [k for k in known if k.lower() == word.lower()]
    return f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
