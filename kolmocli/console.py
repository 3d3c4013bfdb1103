"""The console of stderr. stdout is for results alone."""

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
    """The one Console of stderr. Whoever prints during a run prints here, or the table is torn."""
    from rich.console import Console

    return Console(stderr=True)


@contextmanager
def enduring() -> Iterator[None]:
    """Around what writes to stderr and nothing else: where its terminal is closed, or nobody reads its pipe any more, it
    goes nowhere from then on, and what is at work goes on."""
    try:
        yield
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
