"""The console of stderr. stdout is for results alone."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


@cache
def shared_console() -> Console:
    """The one Console of stderr. Whoever prints during a run prints here, or the table is torn."""
    from rich.console import Console

    return Console(stderr=True)
