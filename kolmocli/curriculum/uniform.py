"""The baseline: every bucket equally often, whatever happens."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from kolmocli.curriculum.base import FamilyMetrics, GroupResult
from kolmocli.tasks.base import Bucket


class UniformController:
    def __init__(self, levels: Mapping[str, int]) -> None:
        self.levels = dict(levels)
        self.buckets = [Bucket(f, i + 1) for f, top in self.levels.items() for i in range(top)]

    def propose(self, groups: int, rng: random.Random) -> list[Bucket]:
        return rng.choices(self.buckets, k=groups)

    def observe(self, results: Sequence[GroupResult]) -> list[str]:
        return []

    def metrics(self) -> dict[str, FamilyMetrics]:
        total = len(self.buckets)
        return {f: FamilyMetrics((1 + top) / 2, top, top / total, "uniform") for f, top in self.levels.items()}

    def state_dict(self) -> dict[str, Any]:
        return {"kind": "uniform", "levels": self.levels}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        if state != self.state_dict():
            raise ValueError(f"a uniform controller over {self.levels} cannot take up {state}")
