"""Section of a curriculum file for code tasks from files."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kolmocli.section import Section
from kolmocli.tasks.code.outputs import Compare


class Outputs(Section):
    compare: Literal["auto", "lines", "tokens", "numbers"] = Field(
        "auto",
        description="what counts as the same output of a script: auto takes numbers where a decimal point is expected, lines "
        "where white space is a part of what is expected, and tokens elsewhere",
    )

    @property
    def asked(self) -> Compare | None:
        """None: by the expected outputs of each script."""
        return None if self.compare == "auto" else self.compare
