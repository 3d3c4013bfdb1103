"""A set of reasoning-gym, as a curriculum file asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from kolmocli.tasks.reasoning.sets import PREFIX, reasoning_set
from kolmocli.tasks.settings import FamilySettings


class Reasoning(FamilySettings):
    """A question of reasoning-gym, scored by its own scorer."""

    task: str = Field(pattern=rf"^{PREFIX}/\w+$", description=f"{PREFIX}/ and the name of a set, as {PREFIX}/chain_sum")
    options: Mapping[str, Any] = Field(default_factory=dict, description="options of the set, at every level")
    levels: list[Mapping[str, Any]] = Field(
        default_factory=list,
        description="options of the set for each level, easy to hard (default: its own curriculum's levels)",
    )

    @property
    def set_name(self) -> str:
        return self.task.partition("/")[2]

    @property
    def level_count(self) -> int:
        return len(self.levels) or reasoning_set(self.set_name).own_levels

    def at(self, level: int) -> Any:
        """The set of this level, opened. Levels of the file are laid over the first one of the set's own curriculum.

        Raises:
            UsageError: the set has no such option, or refuses what it is given.
        """
        own = reasoning_set(self.set_name)
        if not self.levels:
            return own.open(level, self.options)
        return own.open(1, {**self.options, **self.levels[level - 1]})
