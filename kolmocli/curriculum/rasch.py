"""The default controller: a tracker in every family, and a mixture across families by their signal."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from kolmocli.curriculum.base import FamilyMetrics, GroupResult
from kolmocli.curriculum.tracker import Tracker
from kolmocli.tasks.base import Bucket

_SIGNAL_MEMORY = 0.9
_FULL_SIGNAL = 0.25
"""p(1-p) at p = 1/2."""


class RaschController:
    """Inside a family: the two levels around the one that passes at the target, mixed in proportion, and a
    few probes one level beyond. Across families: weight = floor + mean signal U.

    Args:
        levels: number of levels per family.
        targets: pass rate to hold per family, strictly between 0 and 1.
        floor: least share of the groups that a family gets.
        probes: share of groups one level outside the bracket.
    """

    def __init__(
        self, levels: Mapping[str, int], targets: Mapping[str, float], floor: float, probes: float
    ) -> None:
        if floor * len(levels) > 1:
            raise ValueError(f"controller.floor {floor} times {len(levels)} families is above 1")
        self.targets = dict(targets)
        self.floor = floor
        self.probes = probes
        self.trackers = {family: Tracker(top) for family, top in levels.items()}
        self.signal = dict.fromkeys(levels, _FULL_SIGNAL)

    def propose(self, groups: int, rng: random.Random) -> list[Bucket]:
        weights = self.weights()
        families = systematic(list(weights), list(weights.values()), groups, rng)
        return [Bucket(family, self._level(family, rng)) for family in families]

    def _level(self, family: str, rng: random.Random) -> int:
        tracker = self.trackers[family]
        wanted = tracker.level_for(self.targets[family])
        low = math.floor(wanted)
        level = low + (rng.random() < wanted - low)
        if rng.random() < self.probes:
            level += rng.choice((-1, 1))
        return min(max(level, 1), tracker.top)

    def weights(self) -> dict[str, float]:
        """Shares that add to 1, each at least the floor."""
        free = 1.0 - self.floor * len(self.signal)
        total = sum(self.signal.values())
        if total == 0:
            return dict.fromkeys(self.signal, 1.0 / len(self.signal))
        return {family: self.floor + free * s / total for family, s in self.signal.items()}

    def observe(self, results: Sequence[GroupResult]) -> list[str]:
        by_family: dict[str, list[GroupResult]] = defaultdict(list)
        for r in results:
            by_family[r.bucket.family].append(r)
        events = []
        for family, tracker in self.trackers.items():
            before = self.state(family)
            if tracker.observe(by_family[family]):
                events.append(f"{family}: pass rate jumped; level is searched again")
            after = self.state(family)
            if after != before:
                events.append(f"{family}: {after}")
            signals = [group_signal(r.passes, r.rollouts) for r in by_family[family] if r.rollouts > 1]
            if signals:
                mean = math.fsum(signals) / len(signals)
                self.signal[family] = _SIGNAL_MEMORY * self.signal[family] + (1.0 - _SIGNAL_MEMORY) * mean
        return events

    def state(self, family: str) -> str:
        """`mastered` above the target at the top, `out of reach` below it at the bottom, else `tracking`."""
        tracker, target = self.trackers[family], self.targets[family]
        if tracker.pass_rate(tracker.top) > target + 0.1:
            return "mastered"
        if tracker.pass_rate(1) < target - 0.25:
            return "out of reach"
        return "tracking"

    def metrics(self) -> dict[str, FamilyMetrics]:
        weights = self.weights()
        return {
            f: FamilyMetrics(t.level_for(self.targets[f]), t.top, weights[f], self.state(f))
            for f, t in self.trackers.items()
        }

    def state_dict(self) -> dict[str, Any]:
        trackers = {family: tracker.state_dict() for family, tracker in self.trackers.items()}
        return {"kind": "rasch", "trackers": trackers, "signal": dict(self.signal)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        if state["kind"] != "rasch" or set(state["trackers"]) != set(self.trackers):
            raise ValueError(f"a rasch controller over {sorted(self.trackers)} cannot take up {state}")
        trackers = {family: Tracker.from_state(state["trackers"][family]) for family in self.trackers}
        for family, tracker in trackers.items():
            if tracker.top != self.trackers[family].top:
                raise ValueError(f"{family} has {self.trackers[family].top} levels, the saved one {tracker.top}")
        self.trackers = trackers
        self.signal = {family: float(state["signal"][family]) for family in self.trackers}


def group_signal(passes: int, rollouts: int) -> float:
    """U = k(G-k)/(G(G-1)), the unbiased estimate of p(1-p) from k passes of G > 1 rollouts."""
    return passes * (rollouts - passes) / (rollouts * (rollouts - 1))


def systematic(items: Sequence[str], weights: Sequence[float], count: int, rng: random.Random) -> list[str]:
    """`count` items, each within one of `count` times its weight: systematic resampling, less noisy than
    independent draws. Weights add to 1."""
    edges, total = [], 0.0
    for w in weights:
        total += w
        edges.append(total)
    start = rng.random()
    chosen, i = [], 0
    for k in range(count):
        point = (start + k) / count * total
        while i < len(edges) - 1 and point >= edges[i]:
            i += 1
        chosen.append(items[i])
    return chosen
