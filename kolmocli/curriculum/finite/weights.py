"""The weight of every prompt of a finite set, and draws in proportion to it."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from kolmocli.curriculum.finite.cells import Cells
from kolmocli.curriculum.finite.posterior import Normal, Numbers, Posterior, closeness
from kolmocli.curriculum.finite.seen import SeenPrompts
from kolmocli.curriculum.finite.sum_tree import SumTree

WIDTH = 0.5
"""Logits around the target, as a standard deviation, within which a prompt is asked often."""
_LEAST = 1e-3
"""Closeness of a prompt that can be drawn, at least: where everything fails, all weights would be too small for a float."""
_MOVED = 0.1
"""Logits that a bucket may move before the weights of its prompts are computed again."""
_REFRESH = 1 / 16
"""Share of the prompts seen that are drawn between two times that all weights are computed again, at least."""


class Weights:
    """Leaf c of a tree is what is left of cell c, and leaf len(cells) + j prompt j of those seen.

    Args:
        cells, posterior, seen: the prompts that were never drawn, those that were, and what is believed of them.
        target: logit of the pass rate to hold.
        probes: share of the draws that are of any prompt.
        sharpness: power of a prompt's closeness to the target that is its weight.
    """

    def __init__(
        self, cells: Cells, posterior: Posterior, seen: SeenPrompts, *, target: float, probes: float, sharpness: float
    ) -> None:
        self._cells, self._posterior, self._seen = cells, posterior, seen
        self._target, self._probes, self._sharpness = target, probes, sharpness
        self._near_of_cell: dict[int, float] = {}
        """Weights of a prompt of a cell, until the next results come."""
        self._tree = SumTree()
        self._fresh: list[float] = []
        """The abilities that the weights were computed for."""
        self.since = 0
        """Prompts asked since then."""
        self.refresh(())

    def logit(self, prompt: int) -> Normal:
        """Of the pass rate of any prompt."""
        return self._posterior.logit(self._cells.bucket[self._cells.cell[prompt]], self._seen.offset(prompt))

    def find(self, probe: float, share: float, inside: float) -> tuple[int, int]:
        """The prompt that three even random numbers from 0 to 1 choose, of those that are not out, and its leaf."""
        leaf = self._any(share) if probe < self._probes else self._tree.find(share)
        if self._tree[leaf] <= 0.0:  # a probe of one that is out
            leaf = self._tree.find(share)
        cells = len(self._cells)
        return self._cells.at(leaf, inside) if leaf < cells else self._seen.prompts[leaf - cells], leaf

    def choose(self, count: int, rng: random.Random) -> list[int]:
        """The numbers of the next prompts where none is out, none twice while there are others. Changes nothing but the random
        numbers."""
        size = len(self._cells.cell)
        chosen, before = dict[int, int](), dict[int, float]()  # leaves of prompts, and weights of leaves
        while len(chosen) < min(count, size):
            prompt, leaf = self.find(rng.random(), rng.random(), rng.random())
            if prompt not in chosen:
                chosen[prompt] = leaf
                weight = before.setdefault(leaf, self._tree[leaf])
                of_leaf = self._cells.left[leaf] if leaf < len(self._cells) else 1
                self._tree.set(leaf, weight * (1 - sum(other == leaf for other in chosen.values()) / of_leaf))
        for leaf, weight in before.items():
            self._tree.set(leaf, weight)
        return [*chosen, *(self.choose(count - size, rng) if count > size else ())]

    def put_out(self, prompt: int) -> None:
        """It is not drawn until it is put back."""
        self._tree.set(self._leaf(prompt), 0.0)

    def put_back(self, prompt: int) -> None:
        self._tree.set(self._leaf(prompt), self._near(self.logit(prompt)))

    def weigh_cell(self, cell: int) -> None:
        """After one of its prompts was taken."""
        near = self._near_of_cell.get(cell)
        if near is None:
            bucket = self._cells.bucket[cell]
            unseen = Normal(self._cells.offset[cell], self._posterior.spread[bucket])
            near = self._near_of_cell[cell] = self._near(self._posterior.logit(bucket, unseen))
        self._tree.set(cell, self._cells.left[cell] * near)

    def advance(self) -> None:
        """There are new results."""
        self._near_of_cell.clear()

    @property
    def is_stale(self) -> bool:
        """Whether abilities have moved so far that all weights are to be computed again."""
        moved = max(abs(a.mean - b) for a, b in zip(self._posterior.ability, self._fresh, strict=True))
        return moved > _MOVED and self.since >= _REFRESH * len(self._seen)

    def refresh(self, out: Iterable[int]) -> None:
        """Compute all weights again; the prompts that are `out` have none."""
        near = self._weights(*self._seen.logits())
        near[[self._seen.place[prompt] for prompt in out]] = 0.0
        self._tree.fill(np.concatenate([np.zeros(len(self._cells)), near]))
        for cell in range(len(self._cells)):
            self.weigh_cell(cell)
        self._fresh = [ability.mean for ability in self._posterior.ability]
        self.since = 0

    def center(self) -> float:
        """The mean number of the next prompt, if it is no probe. Prompts of one cell count as those that it began with."""
        numbers = np.concatenate([self._cells.centers, self._seen.prompts])
        return float(np.average(numbers, weights=self._listed()))

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self._listed(), "fresh": list(self._fresh), "since": self.since}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self._near_of_cell.clear()
        self._tree = SumTree()
        self._tree.fill([float(weight) for weight in state["weights"]])
        self._fresh, self.since = [float(x) for x in state["fresh"]], int(state["since"])

    def _listed(self) -> list[float]:
        return [self._tree[leaf] for leaf in range(len(self._cells) + len(self._seen))]

    def _leaf(self, prompt: int) -> int:
        return len(self._cells) + self._seen.place[prompt]

    def _any(self, share: float) -> int:
        """The leaf of any prompt, each as likely as the other."""
        at = int(share * len(self._cells.cell))
        for leaf, left in enumerate(self._cells.left):
            if at < left:
                return leaf
            at -= left
        return len(self._cells) + at

    def _near(self, logit: Normal) -> float:
        return float(self._weights(logit.mean, logit.variance))

    def _weights(self, mean: Numbers, variance: Numbers) -> Numbers:
        return np.maximum(closeness(mean, variance, self._target, WIDTH), _LEAST) ** self._sharpness
