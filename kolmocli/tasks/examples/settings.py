"""Functions from their examples, as a curriculum file asks for them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kolmocli.tasks.examples.shapes import SubjectName
from kolmocli.tasks.examples.subjects import SUBJECTS
from kolmocli.tasks.settings import FamilySettings


class Examples(FamilySettings):
    """A Python expression, asked for by examples of what it comes to."""

    task: Literal["examples"] = Field(description="a Python expression, asked for by examples of what it comes to")
    of: SubjectName = Field(description="what the functions are of")

    @property
    def level_count(self) -> int:
        return len(SUBJECTS[self.of].ladder)

    @property
    def pays_parts(self) -> bool:
        return True
