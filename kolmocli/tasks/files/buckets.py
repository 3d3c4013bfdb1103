"""Bucket of a task from a file: the file's own, or levels of equal size by some measure of difficulty."""

from __future__ import annotations

import random
import re
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from kolmocli.curriculum.base import Bucket
from kolmocli.tasks.base import Split

Buckets = dict[Bucket, "array[int]"]
"""The numbers of the tasks of each bucket, families by name, levels ascending from 1 without a gap."""

_WORDS = {
    "easy": 1.0, "introductory": 1.0, "medium": 2.0, "interview": 2.0, "medium_hard": 2.5, "hard": 3.0, "competition": 3.0,
    "very_hard": 4.0,
}  # fmt: skip
"""Levels that data sets call by a name."""
_AT_THE_END = re.compile(r"-?\d+(?:\.\d+)?\Z", re.ASCII)
_MANY = 64
"""Different whole numbers that are levels as they are; more of them are a measure."""


_MOST = 1e15
"""Largest level, whatever its file measures."""


def bucket_of(name: str) -> Bucket:
    """`family/3` is a level of that family; any other name is a family of one level."""
    family, _, level = name.rpartition("/")
    return Bucket(family, int(level)) if family and level.isdecimal() else Bucket(name, 1)


def level_of(value: Any, key: str = "level") -> float:
    """Difficulty of a task by its file: a number, a text that ends in one (`Level 5`), or easy, medium, hard.

    Raises:
        ValueError: it says nothing of the kind.
    """
    if isinstance(value, str):
        word = value.strip().lower()
        found = _AT_THE_END.search(word)
        value = _WORDS.get(word) if found is None else float(found[0])
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _MOST:
        raise ValueError(f"`{key}` must be a number, text that ends in one, or easy, medium or hard")
    return value


def by_level(levels: Sequence[float], indices: Sequence[int], count: int) -> list[list[int]]:
    """The indices by what a file calls their levels: a part each, or `count` parts where they are a measure, which many
    different ones are, or fractions."""
    different = sorted(set(levels))
    if len(different) > (_MANY if all(float(level).is_integer() for level in different) else count):
        return quantiles(sorted(zip(levels, indices, strict=True)), count)
    parts: dict[float, list[int]] = {level: [] for level in different}
    for level, index in zip(levels, indices, strict=True):
        parts[level].append(index)
    return list(parts.values())


def quantiles(scored: Sequence[tuple[float, int]], count: int) -> list[list[int]]:
    """Indices by ascending score in at most `count` parts of about equal size; equals stay together."""
    edges = [0, *(k for k in range(1, len(scored)) if scored[k][0] != scored[k - 1][0]), len(scored)]
    cuts = {_nearest(edges, len(scored) * part / count) for part in range(count + 1)}
    return [[i for _, i in scored[start:end]] for start, end in pairwise(sorted(cuts))]


def _nearest(edges: Sequence[int], wanted: float) -> int:
    at = bisect_left(edges, wanted)
    return min(edges[max(at - 1, 0) : at + 1], key=lambda edge: abs(edge - wanted))


def closed_up(buckets: Mapping[Bucket, Sequence[int]]) -> Buckets:
    """Families by name, their levels numbered from 1 without a gap."""
    levels: dict[str, int] = defaultdict(int)
    closed = {}
    for bucket in sorted(buckets):
        levels[bucket.family] += 1
        closed[Bucket(bucket.family, levels[bucket.family])] = array("I", buckets[bucket])
    return closed


def one_each(buckets: Buckets) -> Buckets:
    """Every task a level of its own, in the order of the levels that they had."""
    places: dict[str, int] = defaultdict(int)
    apart = {}
    for bucket, indices in buckets.items():
        for index in indices:
            places[bucket.family] += 1
            apart[Bucket(bucket.family, places[bucket.family])] = array("I", [index])
    return apart


class Passes:
    """The tasks of each bucket again and again, shuffled by the seed once per pass."""

    def __init__(self, buckets: Buckets, split: Split, seed: int) -> None:
        self.split: Split = split
        self._buckets, self._seed = buckets, seed
        self._order = lru_cache(maxsize=256)(self._shuffled)

    def buckets(self) -> list[Bucket]:
        return list(self._buckets)

    def size(self, bucket: Bucket) -> int:
        return len(self._buckets[bucket])

    def indices(self, bucket: Bucket) -> Sequence[int]:
        return self._buckets[bucket]

    def number(self, bucket: Bucket, index: int) -> int:
        """The number in the file of the task that comes as the `index`-th of its bucket."""
        epoch, place = divmod(index, len(self._buckets[bucket]))
        return self._order(bucket, epoch)[place]

    def _shuffled(self, bucket: Bucket, epoch: int) -> array[int]:
        order = array("I", self._buckets[bucket])
        random.Random(f"{self._seed}/{self.split}/{bucket}/{epoch}").shuffle(order)
        return order
