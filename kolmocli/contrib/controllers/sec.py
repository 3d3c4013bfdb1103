"""`sec`: a bandit over all buckets of all families, paid in absolute advantage (Self-Evolving Curriculum)."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from kolmocli.curriculum.base import Bucket, FamilyMetrics, Ladder, Result, check_results
from kolmocli.curriculum.kinds import register_controller
from kolmocli.curriculum.levels import take
from kolmocli.curriculum.mixture import freshness, systematic
from kolmocli.curriculum.settings import Setting


@register_controller("sec")
class AdvantageBandit:
    """Q ← Q + rate·(r − Q) for each bucket of the step, from Q = 0; drawn by softmax(Q / temperature) over all buckets.

    r is the mean absolute advantage of the bucket's rollouts, where advantages are divided by the standard deviation of
    their group: 2·sqrt(p(1 − p)) for a group with pass rate p. It is largest at p = ½, so ½ is what the bandit looks
    for, whatever target a ladder names. It knows no order of levels and gives no family a floor. It is a whole
    `Controller` because its arms are the buckets of all families together.

    Source: Chen et al. 2025, arXiv 2505.14970, with r as in its proof; the rate is that of its published commands, whose
    temperatures are 0.2, 0.4 and 1. Difference from the published code: there, the Q of a bucket that is not in the
    step falls towards 0, as if it had been paid nothing. With more buckets than groups that forgets what was learned
    (docs/simulator.md has the figures), so here it keeps its Q. There, the standard deviation is that of a sample,
    which makes every r smaller by sqrt((G − 1) / G), and buckets are drawn independently; here by systematic
    resampling. Late groups move Q less. Passes are paid alike, whatever reward the policy gets for them.
    """

    def __init__(
        self,
        ladders: Mapping[str, Ladder],
        *,
        rate: Annotated[float, Setting("by which the value of a bucket moves, per step", above=0, most=1)] = 0.5,
        temperature: Annotated[float, Setting("of the softmax: lower is greedier", above=0)] = 0.2,
    ) -> None:
        self.ladders, self.rate, self.temperature = dict(ladders), rate, temperature
        self.values = {
            Bucket(family, level): 0.0
            for family, ladder in self.ladders.items()
            for level in range(ladder.bottom, ladder.top + 1)
        }

    def propose(self, groups: int, rng: random.Random) -> list[Bucket]:
        return systematic(list(self.values), self._softmax(list(self.values.values())), groups, rng)

    def _softmax(self, values: Sequence[float]) -> list[float]:
        highest = max(values)
        raw = [math.exp((value - highest) / self.temperature) for value in values]
        total = math.fsum(raw)
        return [weight / total for weight in raw]

    def observe(self, results: Sequence[Result]) -> list[str]:
        """Groups of fewer than two rollouts have no advantage, and level 0 is no bucket: neither says anything."""
        seen: dict[Bucket, list[Result]] = defaultdict(list)
        for result in check_results(results, self.ladders):
            if result.rollouts > 1 and result.bucket in self.values:
                seen[result.bucket].append(result)
        for bucket, groups in seen.items():
            value = self.values[bucket]
            moves = [freshness(group.age) * (_mean_advantage(group) - value) for group in groups]
            self.values[bucket] = value + self.rate * math.fsum(moves) / len(groups)
        return []

    def metrics(self) -> dict[str, FamilyMetrics]:
        """The level of a family is the mean of what is drawn of it."""
        drawn = dict(zip(self.values, self._softmax(list(self.values.values())), strict=True))
        found = {}
        for family, ladder in self.ladders.items():
            levels = range(ladder.bottom, ladder.top + 1)
            share = math.fsum(drawn[Bucket(family, level)] for level in levels)
            within = self._softmax(self._values_of(family))  # by itself: greedily drawn, a share can be 0
            mean = math.fsum(level * weight for level, weight in zip(levels, within, strict=True))
            found[family] = FamilyMetrics(ladder.clamp(mean), ladder.top, share, "bandit")
        return found

    def _values_of(self, family: str) -> list[float]:
        ladder = self.ladders[family]
        return [self.values[Bucket(family, level)] for level in range(ladder.bottom, ladder.top + 1)]

    def state_dict(self) -> dict[str, Any]:
        families = {f: {"levels": _span(ladder), "values": self._values_of(f)} for f, ladder in self.ladders.items()}
        return {"kind": "sec", "families": families}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        if state["kind"] != "sec" or set(state["families"]) != set(self.ladders):
            raise ValueError(f"a sec controller over {sorted(self.ladders)} cannot take up {state}")
        _, families = take(state, "kind", "families")
        values: dict[Bucket, float] = {}
        for family, ladder in self.ladders.items():
            saved_levels, saved = take(families[family], "levels", "values")
            if saved_levels != _span(ladder):
                raise ValueError(f"{family} has levels {_span(ladder)}, the saved one {saved_levels}")
            levels = range(ladder.bottom, ladder.top + 1)
            values |= {Bucket(family, level): float(value) for level, value in zip(levels, saved, strict=True)}
        self.values = values


def _span(ladder: Ladder) -> list[int]:
    return [ladder.bottom, ladder.top]


def _mean_advantage(group: Result) -> float:
    p = group.passes / group.rollouts
    return 2.0 * math.sqrt(p * (1.0 - p))
