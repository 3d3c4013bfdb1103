"""Turn errors, logs and progress of libraries that read models into this project's one line."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator

from kolmocli.console import unlogged
from kolmocli.errors import KolmoError, UsageError

REASON = 160
"""Characters of what a library says that are passed on."""


@contextlib.contextmanager
def refused(what: str, remedy: str) -> Iterator[None]:
    """Turn a library's exception into `what (reason); remedy`, and silence what it logs of weights that do not fit.

    Raises:
        UsageError: instead.
    """
    try:
        with unlogged("transformers"):
            yield
    except KolmoError:
        raise
    except Exception as error:  # a configuration may ask for anything: no heads, a size below nothing, 10¹² words
        reason = f"no {error}" if isinstance(error, KeyError) else " ".join(str(error).split()) or type(error).__name__
        reason = reason if len(reason) <= REASON else f"{reason[:REASON]}…"
        raise UsageError(f"{what} ({reason}); {remedy}") from None


@contextlib.contextmanager
def bars_on_terminals() -> Iterator[None]:
    """Bars of libraries where stderr is a terminal, and nowhere else."""
    with contextlib.nullcontext() if sys.stderr.isatty() else contextlib.redirect_stderr(io.StringIO()):
        yield
