"""What one step learns from: rollouts, and a weight for each of their tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Self

from kolmocli.policy.rollout import Rollout, sampled_at


@dataclass(frozen=True, slots=True)
class Weighted:
    """A rollout and one weight per token: the advantage that its log-probability is multiplied with."""

    rollout: Rollout
    weights: Sequence[float]

    @property
    def end(self) -> int:
        """The number of tokens up to the last that teaches something."""
        return next((i for i in range(len(self.weights), 0, -1) if self.weights[i - 1]), 0)

    def scaled(self, factor: float) -> Self:
        return replace(self, weights=[factor * w for w in self.weights])

    def cut(self, end: int) -> Self:
        """Its first `end` tokens."""
        return replace(self, rollout=self.rollout.cut(end), weights=self.weights[:end])


@dataclass(frozen=True, slots=True)
class Batch:
    """Rollouts that one step learns from: those of each group with their weights, none for a group without
    an advantage, and `lessons` that belong to no group."""

    groups: Sequence[Sequence[Weighted]] = ()
    lessons: Sequence[Weighted] = ()

    def __iter__(self) -> Iterator[Weighted]:
        return chain(*self.groups, self.lessons)

    def __len__(self) -> int:
        return sum(map(len, self.groups)) + len(self.lessons)

    def __add__(self, lessons: Sequence[Weighted]) -> Batch:
        return Batch(self.groups, [*self.lessons, *lessons])

    def parts(self, count: int) -> list[Batch]:
        """As many batches, with every so-manyth group and lesson each."""
        return [Batch(self.groups[i::count], self.lessons[i::count]) for i in range(count)]

    def map(self, change: Callable[[Weighted], Weighted]) -> Batch:
        return Batch([[change(item) for item in group] for group in self.groups], [change(x) for x in self.lessons])


def per_token(item: Weighted) -> Weighted:
    """The sum of a rollout's log-probabilities replaced by their mean over its tokens.

    A long answer then moves the policy no further than a short one. That is a bias (Liu et al. 2025, arXiv 2503.20783, 3.1):
    of two right answers the shorter is pulled harder, and of two wrong ones the longer is pushed less.
    """
    return replace(item, weights=[w / len(item.weights) for w in item.weights])


def by_temperature(batch: Iterable[Weighted], otherwise: float) -> list[list[Weighted]]:
    """Parts whose rollouts were sampled at one temperature each; `otherwise` is that of answers, which were not."""
    found: dict[float, list[Weighted]] = {}
    for item in batch:
        found.setdefault(sampled_at([item.rollout], otherwise), []).append(item)
    return [*found.values()]
