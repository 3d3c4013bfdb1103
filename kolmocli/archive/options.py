"""Options for making an archive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kolmocli.archive.opener import RunPython
from kolmocli.archive.search.proposals import Proposer

if TYPE_CHECKING:
    from kolmocli.archive.codecs.numbers import NumberType

DEFAULT_LEVEL = 6
SEARCHED_LEVEL = 2
"""From this level on programs are searched; below it codecs pack the bytes, or from 1 on the numbers found in them."""
THOROUGH_LEVEL = 7
"""From this level on every likely view is searched in full."""
_REFINED_LEVEL = 4
"""From this level on costs and prices are refined by a second pass."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options for making the archive of some data."""

    level: int = DEFAULT_LEVEL
    """0 (codecs only) to 9."""
    view: str = "auto"
    """Type of the items: a name in `format/views.py`, or whatever fits."""
    types: tuple[NumberType, ...] = ()
    """Types of the numbers of a record, where the user knows; empty to find out."""
    header: int = 0
    """Bytes before the first record, where the user knows its types."""
    proposer: Proposer | None = None
    """A model that writes programs for what the search leaves; `samples` of them, with this seed."""
    samples: int = 16
    seed: int = 0
    python: str = ""
    """Source of a Python program that makes the data, or their beginning; empty for none."""
    run_python: RunPython | None = None
    deadline: float | None = None
    """Moment of `time.monotonic` at which the archive should be there, decoded and compared."""

    def directed(self) -> bool:
        """Whether it is said how the data are to be seen, or who proposes programs."""
        return bool(self.python or self.types or self.proposer or self.view != "auto")

    def searched(self) -> bool:
        return self.level >= SEARCHED_LEVEL

    def refined(self) -> bool:
        return self.level >= _REFINED_LEVEL
