"""The controller: in every family something that chooses the level, and a mixture across families."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from kolmocli.curriculum.base import Bucket, FamilyMetrics, Result, check_results
from kolmocli.curriculum.levels import LevelController
from kolmocli.curriculum.mixture import Mixture, systematic


@runtime_checkable
class Together(Protocol):
    """A level controller that chooses the levels of all groups of a step at once."""

    def choose(self, groups: int, rng: random.Random) -> list[int]: ...


class FamilyController:
    """A `Controller` made of one `LevelController` per family. `kind` names them in a saved state."""

    def __init__(self, kind: str, levels: Mapping[str, LevelController], mixture: Mixture) -> None:
        self.kind = kind
        self.levels = dict(levels)
        self.mixture = mixture

    def propose(self, groups: int, rng: random.Random) -> list[Bucket]:
        weights = self.mixture.weights()
        families = systematic(list(weights), list(weights.values()), groups, rng)
        together = {
            family: iter(level.choose(families.count(family), rng))
            for family, level in self.levels.items()
            if isinstance(level, Together)
        }
        return [
            Bucket(family, next(together[family]) if family in together else self.levels[family].draw(rng))
            for family in families
        ]

    def begin(self, profile: Mapping[str, Mapping[int, tuple[float, int]]]) -> None:
        """Begin with measured pass rates, by family and level (`LevelBase.begin`). Raises ValueError where a kind uses none."""
        for family, rates in profile.items():
            level = self.levels[family]
            start = getattr(level, "begin", None)
            if start is None:
                raise ValueError(f"{self.kind} has no `begin`; deriving it from LevelBase brings one")
            start(rates)
            rate, _ = rates[min(rates, key=lambda known: abs(known - level.level))]
            self.mixture.expect(family, rate)

    def observe(self, results: Sequence[Result]) -> list[str]:
        results = check_results(results, self.levels)
        by_family: dict[str, list[Result]] = defaultdict(list)
        for r in sorted((r for r in results if r.rollouts), key=_order):  # sorted: sums depend on the order
            by_family[r.bucket.family].append(r)
        news = []
        for family, level in self.levels.items():
            before = level.state()
            on_the_ladder = [r for r in by_family[family] if r.bucket.level in level.ladder]
            news += [f"{family}: {text}" for text in level.observe(on_the_ladder) or ()]
            if level.state() != before:
                news.append(f"{family}: {level.state()}")
            self.mixture.observe(family, by_family[family])
        return news

    def metrics(self) -> dict[str, FamilyMetrics]:
        weights = self.mixture.weights()
        return {
            family: FamilyMetrics(level.level, level.ladder.top, weights[family], level.state(), level.belief())
            for family, level in self.levels.items()
        }

    def state_dict(self) -> dict[str, Any]:
        families = {f: {"levels": _span(level), "state": level.state_dict()} for f, level in self.levels.items()}
        return {"kind": self.kind, "families": families, "signal": dict(self.mixture.signal)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        if state["kind"] != self.kind or set(state["families"]) != set(self.levels):
            raise ValueError(f"a {self.kind} controller over {sorted(self.levels)} cannot take up {state}")
        for family, level in self.levels.items():
            saved = state["families"][family]
            if saved["levels"] != _span(level):
                raise ValueError(f"{family} has levels {_span(level)}, the saved one {saved['levels']}")
            level.load_state_dict(saved["state"])
        self.mixture.signal = {family: float(state["signal"][family]) for family in self.levels}


def _span(level: LevelController) -> list[int]:
    return [level.ladder.bottom, level.ladder.top]


def _order(result: Result) -> tuple[str, int, int, int, int]:
    return result.bucket.family, result.bucket.level, result.passes, result.rollouts, result.age
