"""Controllers decide which buckets are sampled next, from observed passes. They never see the model."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from kolmocli.errors import UsageError, suggest


def _as_plain(of: object, *names: str) -> None:
    """Numbers of numpy and torch become Python's in these fields: a saved state is plain JSON."""
    for name in names:
        value = getattr(of, name)
        if type(value) is not int:
            number = float(value)
            object.__setattr__(of, name, int(number) if number.is_integer() else number)


@dataclass(frozen=True, slots=True, order=True)
class Bucket:
    """One (family, level): the unit in which difficulty is measured. Levels count from 1."""

    family: str
    level: int

    def __post_init__(self) -> None:
        _as_plain(self, "level")

    def __str__(self) -> str:
        return f"{self.family}/{self.level}"


@dataclass(frozen=True, slots=True)
class Result:
    """`passes` of the `rollouts` of one task; rollouts that the sandbox lost are not counted in either.

    `age` is how many policy updates ago the group was sampled. `unread` of the rollouts never reached the check: they broke the
    requested form, or ended before. A task whose beginning the policy was given has level 0, which
    is below every ladder: it counts for the signal of its family, and for no level.

    Raises ValueError for passes that are no part of the rollouts, and for a negative age.
    """

    bucket: Bucket
    passes: int
    rollouts: int
    age: int = 0
    unread: int = 0

    def __post_init__(self) -> None:
        _as_plain(self, "passes", "rollouts", "age", "unread")
        if not 0 <= self.passes <= self.rollouts < math.inf or not 0 <= self.age < math.inf:
            raise ValueError(f"{self.bucket}: {self.passes} passes of {self.rollouts} rollouts, {self.age} updates ago")


@dataclass(frozen=True, slots=True)
class Ladder:
    """The levels of one family to use, the pass rate to hold, and the least share of the groups.

    Raises ValueError for values that no controller could hold.
    """

    top: int
    bottom: int = 1
    target: float = 0.5
    floor: float = 0.05

    def __post_init__(self) -> None:
        _as_plain(self, "top", "bottom")
        if not isinstance(self.top, int) or not isinstance(self.bottom, int) or not 1 <= self.bottom <= self.top:
            raise ValueError(f"levels {self.bottom} to {self.top} are no ladder; they count from 1, easy to hard")
        if not 0.0 < self.target < 1.0:
            raise ValueError(f"a target must lie between 0 and 1, got {self.target!r}")
        if not 0.0 <= self.floor <= 1.0:
            raise ValueError(f"a floor is a share, from 0 to 1, got {self.floor!r}")

    def __contains__(self, level: int) -> bool:
        return self.bottom <= level <= self.top

    def clamp(self, level: float) -> float:
        return min(max(level, float(self.bottom)), float(self.top))


def check_results(results: Iterable[Result], families: Iterable[str]) -> list[Result]:
    """The results, which may come from a generator. Raises UsageError for one that would steer nothing, unnoticed: of none of these
    families, or of half a level."""
    results, known = list(results), dict.fromkeys(families)
    for bucket in (result.bucket for result in results):
        if bucket.family not in known:
            raise UsageError(
                f"a result of {bucket}: the controller has no such family; {suggest(bucket.family, known)}"
            )
        if not isinstance(bucket.level, int):
            raise UsageError(f"a result of {bucket}: a level is a whole number, as propose() gave it")
    return results


@dataclass(frozen=True, slots=True)
class Belief:
    """A pass rate with its 90 % interval."""

    pass_rate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class FamilyMetrics:
    """A controller's view of one family. `level` may lie between two levels, from 1.

    `belief` is about the pass rate at `level`; None for a controller that has no model of it.
    """

    level: float
    top: int
    weight: float
    state: str
    belief: Belief | None = None


class Controller(Protocol):
    """Five verbs, and a state that is plain JSON."""

    def propose(self, groups: int, rng: random.Random) -> list[Bucket]:
        """The buckets of the next `groups` groups. Changes nothing but the random numbers."""
        ...

    def observe(self, results: Sequence[Result]) -> list[str]:
        """Take in the results of one step, in any order. Returns what is worth an event, in words.

        Raises UsageError for a family that it does not have; then nothing is taken in."""
        ...

    def metrics(self) -> dict[str, FamilyMetrics]: ...

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up a saved state, exactly. Raises KeyError or ValueError naming what does not fit."""
        ...
