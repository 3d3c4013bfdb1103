"""Text that is safe for a terminal, and the console of stderr. stdout is for results alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


@cache
def shared_console() -> Console:
    """The one Console of stderr. All output during a run goes here, or the table is torn."""
    from rich.console import Console

    return Console(stderr=True)


@contextmanager
def enduring() -> Iterator[None]:
    """Around what writes to stderr and nothing else: where its terminal or pipe is closed, it
    goes nowhere from then on, and what is at work goes on."""
    try:
        yield
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)


def warn(line: str) -> None:
    """One line on the console of stderr, safe for words of strangers."""
    shared_console().out(printable(line), highlight=False)


def printable(text: str, kept: str = "") -> str:
    """The text on one line, with control characters written out (`\\x1b`): models, endpoints and files hold what they like,
    and a terminal obeys. Those in `kept` stay as they are."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in kept else " " if c in "\n\t" else _escaped(c) for c in text)


@contextmanager
def unlogged(library: str) -> Iterator[None]:
    """Without what a library logs."""
    import logging  # not for `--help`

    logger = logging.getLogger(library)
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


LONGEST_NAME = 200
"""Characters of the name of a family: a table shows 24 of them, and a figure of 100,000 would take minutes to draw."""


def writable(text: str) -> bool:
    """Whether UTF-8 can write it. Half of a surrogate pair, which JSON and YAML can name, it cannot."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def unfit(name: str) -> str:
    """The fault of a name in a file; empty where it can be shown, saved and drawn."""
    if not writable(name):
        return "holds half of a surrogate pair, which UTF-8 cannot write"
    return f"has {len(name):,} characters; at most {LONGEST_NAME} are taken" if len(name) > LONGEST_NAME else ""


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
