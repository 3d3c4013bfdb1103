"""Beliefs about the prompts that were drawn, in arrays that grow with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from kolmocli.curriculum.finite.cells import Cells
from kolmocli.curriculum.finite.posterior import Normal, Posterior

_NEVER = -1
"""The version of a prompt without a result."""


class SeenPrompts:
    """Their offsets from their buckets, as of the version at which a result came last.

    Args:
        cells: what is expected of a prompt before anything is known of it.
        posterior: the buckets.
    """

    def __init__(self, cells: Cells, posterior: Posterior) -> None:
        self._cells, self._posterior = cells, posterior
        self.prompts: list[int] = []
        """In the order of their first draw."""
        self.place: dict[int, int] = {}
        """Position of each in `prompts`."""
        self._offsets = np.zeros((64, 2))
        """Mean and variance, as they were at the version."""
        self._versions = np.full(64, _NEVER)

    def __len__(self) -> int:
        return len(self.prompts)

    def add(self, prompt: int) -> int:
        """The place of a prompt that is drawn for the first time."""
        place = len(self.prompts)
        if place == len(self._versions):
            self._offsets = np.concatenate([self._offsets, np.zeros_like(self._offsets)])
            self._versions = np.concatenate([self._versions, np.full_like(self._versions, _NEVER)])
        self.prompts.append(prompt)
        self.place[prompt] = place
        return place

    def offset(self, prompt: int) -> Normal:
        """The current belief about it; for any prompt of the set."""
        cell, place = self._cells.cell[prompt], self.place.get(prompt)
        bucket, expected = self._cells.bucket[cell], self._cells.offset[cell]
        if place is None or self._versions[place] == _NEVER:
            return Normal(expected, self._posterior.spread[bucket])
        mean, variance = self._offsets[place].tolist()
        versions = self._posterior.version - int(self._versions[place])
        return self._posterior.faded(bucket, expected, Normal(mean, variance), versions)

    def learn(self, prompt: int, passes: float, rollouts: float, age: int) -> None:
        cell, place = self._cells.cell[prompt], self.place[prompt]
        bucket = self._cells.bucket[cell]
        found = self._posterior.learn(bucket, self.offset(prompt), passes, rollouts, age)
        if self._versions[place] == _NEVER:
            self._posterior.count(bucket, self._cells.offset[cell], found)
        self._offsets[place] = found.mean, found.variance
        self._versions[place] = self._posterior.version

    def logits(self, *, judged: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of the logit of every pass rate now, in the order of `prompts`; with `judged` of those alone that
        have a result."""
        posterior, cells = self._posterior, self._cells.cell[np.array(self.prompts, dtype=int)]
        buckets, expected = np.array(self._cells.bucket)[cells], np.array(self._cells.offset)[cells]
        versions, spread = self._versions[: len(self)], np.array(posterior.spread)[buckets]
        left = np.where(versions == _NEVER, 0.0, np.exp((versions - posterior.version) / posterior.memory))
        mean, variance = self._offsets[: len(self)].T
        abilities = np.array([[a.mean, a.variance] for a in posterior.ability])[buckets]
        means = abilities[:, 0] + expected + left * (mean - expected)
        variances = abilities[:, 1] + spread + left**2 * (variance - spread)
        shown = versions != _NEVER if judged else slice(None)
        return means[shown], variances[shown]

    def state_dict(self) -> dict[str, Any]:
        count = len(self)
        return {
            "prompts": list(self.prompts),
            "offsets": self._offsets[:count].tolist(),
            "versions": self._versions[:count].tolist(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.prompts = [int(prompt) for prompt in state["prompts"]]
        self.place = {prompt: place for place, prompt in enumerate(self.prompts)}
        room = max(64, len(self.prompts))
        self._offsets, self._versions = np.zeros((room, 2)), np.full(room, _NEVER)
        self._offsets[: len(self.prompts)] = np.array(state["offsets"], dtype=float).reshape(-1, 2)
        self._versions[: len(self.prompts)] = np.array(state["versions"], dtype=np.int64)
