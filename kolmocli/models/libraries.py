"""What libraries that read models raise, log and show, as this project's one line."""

from __future__ import annotations

import contextlib
import io
import logging
import sys
from collections.abc import Iterator

from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError

from kolmocli.errors import UsageError

_REASON = 160
"""Characters of what a library says that are passed on."""
_RAISED: tuple[type[Exception], ...] = (OSError, ValueError, KeyError, TypeError, SafetensorError, StrictDataclassError)


@contextlib.contextmanager
def refused(what: str, mend: str, also: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """What a library raises, as `what (reason); mend`, and without what it logs of weights that do not fit.

    Raises:
        UsageError: instead.
    """
    try:
        with unlogged():
            yield
    except _RAISED + also as error:
        reason = f"no {error}" if isinstance(error, KeyError) else " ".join(str(error).split()) or type(error).__name__
        reason = reason if len(reason) <= _REASON else f"{reason[:_REASON]}…"
        raise UsageError(f"{what} ({reason}); {mend}") from None


@contextlib.contextmanager
def unlogged() -> Iterator[None]:
    """Without the log of transformers."""
    logger = logging.getLogger("transformers")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextlib.contextmanager
def bars_on_terminals() -> Iterator[None]:
    """Bars of libraries where stderr is a terminal, and nowhere else."""
    with contextlib.nullcontext() if sys.stderr.isatty() else contextlib.redirect_stderr(io.StringIO()):
        yield
