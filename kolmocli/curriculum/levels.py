"""Inside one family: which level next. Every kind of controller has one small class of this shape."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any, Protocol

from kolmocli.curriculum.base import Belief, Ladder, Result

_MASTERED = 0.1
_OUT_OF_REACH = 0.25
"""So far above the target at the hardest level, or below it at the easiest, nothing is left to control."""


class LevelController(Protocol):
    """The level of one family."""

    ladder: Ladder

    @property
    def level(self) -> float:
        """Where this family is held; may lie between two levels."""
        ...

    def draw(self, rng: random.Random) -> int:
        """The level of the next group."""
        ...

    def observe(self, results: Sequence[Result]) -> list[str]:
        """Take in the groups of one step that have a rollout, if any. Returns what is worth an event."""
        ...

    def state(self) -> str:
        """`tracking`, `mastered` or `out of reach`; what holds no level says its own name."""
        ...

    def belief(self) -> Belief | None:
        """The pass rate to expect at `level`, where there is a model of it."""
        ...

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state: dict[str, Any]) -> None: ...


def between(level: float, rng: random.Random) -> int:
    """One of the two levels around `level`, so that their mean is `level`."""
    low = math.floor(level)
    return low + (rng.random() < level - low)


def standing(ladder: Ladder, at_bottom: float, at_top: float) -> str:
    """The state of a family by its pass rates at the easiest and at the hardest level."""
    if at_top > ladder.target + _MASTERED:
        return "mastered"
    if at_bottom < ladder.target - _OUT_OF_REACH:
        return "out of reach"
    return "tracking"


def take(state: dict[str, Any], *names: str) -> list[Any]:
    """The values of a saved state, in this order. Raises ValueError unless it holds these names and no other."""
    if set(state) != set(names):
        raise ValueError(f"a saved state holds {sorted(state)}, not {sorted(names)}")
    return [state[name] for name in names]
