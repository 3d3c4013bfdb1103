"""Functions from their examples, as a curriculum file asks for them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kolmocli.tasks.examples.shapes import LadderName, SubjectName
from kolmocli.tasks.examples.subjects import LADDERS
from kolmocli.tasks.settings import FamilySettings


class Examples(FamilySettings):
    """A Python expression to write from examples of its values, or a Python function to write from a description."""

    task: Literal["examples"] = Field(description="a Python expression, from examples of its values")
    of: SubjectName = Field(description="what the functions are of")
    ask: Literal["examples", "words"] = Field(
        "examples", description="ask for the expression by its examples, or for a function in words"
    )

    ladder: LadderName = Field(
        "expressions",
        description="how far the levels go: five of expressions; or on to conditionals, loops, sorting, counting and helper functions",
    )

    @property
    def level_count(self) -> int:
        return len(LADDERS[self.ladder][self.of].ladder)

    @property
    def pays_parts(self) -> bool:
        return True
