"""Keys that families of every kind have in a curriculum file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from pydantic import Field, model_validator

from kolmocli.sandbox.base import Limits
from kolmocli.section import Positive, Section, Share
from kolmocli.tasks.border import MOST_LEVELS

LONGEST = Limits().max_items
"""Items of a sequence to be made: the sandbox reports no longer value, so that no program could pass."""


class FamilySettings(Section):
    """`level_count` is how many levels there are, from 1. `pays_parts` says whether a program that misses is paid
    `reward.partial` for the part that it got right; a kind whose judge does that says so."""

    target: Share | None = Field(None, description="pass rate to hold for this family (default: the controller's)")
    floor: Share | None = Field(
        None, description="least share of the groups for this family (default: the controller's)"
    )
    bounds: tuple[Positive, Positive] | None = Field(None, description="lowest and highest level to use (default: all)")

    @property
    def level_count(self) -> int:
        raise NotImplementedError

    @property
    def pays_parts(self) -> bool:
        return False

    @model_validator(mode="after")
    def _bounds_on_the_ladder(self) -> Self:
        if self.bounds is not None and not self.bounds[0] <= self.bounds[1] <= self.level_count:
            low, high = self.bounds
            raise ValueError(f"bounds: {low} to {high} is not a part of the {self.level_count} levels, easy to hard")
        return self


class LevelList(FamilySettings):
    """A family whose levels stand in the file, easy to hard."""

    levels: Sequence[Any]

    @property
    def level_count(self) -> int:
        return len(self.levels)

    @model_validator(mode="before")
    @classmethod
    def _not_too_many(cls, section: Any) -> Any:
        """Before a level is looked at, which takes about a millisecond each."""
        levels = section.get("levels") if isinstance(section, dict) else None
        if isinstance(levels, list) and len(levels) > MOST_LEVELS:
            raise ValueError(f"levels: a family has at most {MOST_LEVELS:,}, has {len(levels):,}")
        return section
