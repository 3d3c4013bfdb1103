"""Draw one of many in proportion to its weight, in O(log n), while the weights change."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


class SumTree:
    """Weights at the leaves, sums above them. It grows with the highest leaf that is set; an unset one weighs nothing.

    Every sum is made of its two children each time, never by adding a difference, so that equal weights give equal sums
    whatever came before.
    """

    def __init__(self) -> None:
        self._size = 1
        """Leaves that there is room for: a power of two."""
        self._nodes = [0.0, 0.0]
        """The root is node 1; the children of node i are 2i and 2i + 1. A list: one number of it is read much faster than of an array."""

    @property
    def total(self) -> float:
        return self._nodes[1]

    def __getitem__(self, leaf: int) -> float:
        return self._nodes[self._size + leaf] if leaf < self._size else 0.0

    def set(self, leaf: int, weight: float) -> None:
        """Raises ValueError for a weight that is negative or no number."""
        if not 0.0 <= weight < np.inf:
            raise ValueError(f"a weight is a finite number of at least 0, got {weight!r}")
        self._reserve(leaf + 1)
        nodes, node = self._nodes, self._size + leaf
        nodes[node] = float(weight)
        while node > 1:
            node >>= 1
            nodes[node] = nodes[2 * node] + nodes[2 * node + 1]

    def fill(self, weights: Sequence[float] | np.ndarray) -> None:
        """Set all leaves at once, from the first on: O(n)."""
        while self._size < len(weights):
            self._size *= 2
        levels = [np.zeros(self._size)]
        levels[0][: len(weights)] = weights
        while len(levels[-1]) > 1:
            levels.append(levels[-1][0::2] + levels[-1][1::2])
        self._nodes = [0.0, *np.concatenate(levels[::-1]).tolist()]

    def find(self, share: float) -> int:
        """The leaf at this share, from 0 to 1, of the sum of all weights; one that weighs something where any does."""
        nodes, node, left = self._nodes, 1, share * self._nodes[1]
        while node < self._size:
            node *= 2
            if left >= nodes[node] and nodes[node + 1] > 0.0:
                left -= nodes[node]
                node += 1
        return node - self._size

    def _reserve(self, leaves: int) -> None:
        if leaves <= self._size:
            return
        weights = self._nodes[self._size :]
        while self._size < leaves:
            self._size *= 2
        self.fill(weights)
