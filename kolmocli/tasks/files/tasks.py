"""Tasks from the records of a data file, in the buckets that the file names or in buckets found for it."""

from __future__ import annotations

import random
import zlib
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from kolmocli.curriculum.base import Bucket
from kolmocli.language.program import Program
from kolmocli.language.raw import pack
from kolmocli.tasks.base import Split
from kolmocli.tasks.files.records import Records
from kolmocli.tasks.files.separation import Taken
from kolmocli.tasks.sequences.task import SequenceTask, sequence_task

Order = Literal["auto", "length", "compressibility", "reference_bits"]
"""What makes one sequence harder than another where the file does not say."""
_ALIKE = 0.9
"""With this share of the sequences of one length, length says nothing about difficulty."""


class DatasetTasks:
    """The records of a file as tasks, shuffled by the seed once per pass over them."""

    def __init__(
        self,
        records: Records,
        split: Split,
        seed: int,
        taken: Taken | None = None,
        order: Order = "auto",
        levels: int = 4,
    ) -> None:
        """`taken` is what evaluation has, for training; `order` and `levels` make buckets where none are named."""
        self.split: Split = split
        self.seed = seed
        self.records = records
        self._taken = taken or Taken()
        self._buckets = find_buckets(records, order, levels)
        self._order = lru_cache(maxsize=256)(self._shuffled)

    def buckets(self) -> list[Bucket]:
        return list(self._buckets)

    def task(self, bucket: Bucket, index: int) -> SequenceTask:
        epoch, place = divmod(index, len(self._buckets[bucket]))
        record = self.records[self._order(bucket, epoch)[place]]
        return sequence_task(bucket, index, record.sequence, record.program, modality=record.modality)

    def size(self, bucket: Bucket) -> int | None:
        return len(self._buckets[bucket])

    def admits(self, program: Program, sequence: tuple[int, ...]) -> bool:
        return self._taken.allows(program, sequence)

    def taught(self, bucket: Bucket) -> bool:
        return any(self.records.has_program(i) for i in self._buckets[bucket])

    def _shuffled(self, bucket: Bucket, epoch: int) -> array[int]:
        """The records of a bucket in the order of one pass."""
        order = array("I", self._buckets[bucket])
        random.Random(f"{self.seed}/{self.split}/{bucket}/{epoch}").shuffle(order)
        return order


def find_buckets(records: Records, order: Order, levels: int) -> dict[Bucket, array[int]]:
    """The indices of the records of each bucket, families by name, levels ascending from 1 without a gap.

    A bucket that is named `family/3` is a level of that family; any other name is a family of one level. Records
    without a name become a family per modality, split by difficulty into levels of equal size.
    """
    named: dict[Bucket, array[int]] = defaultdict(lambda: array("I"))
    unnamed: dict[str | None, array[int]] = defaultdict(lambda: array("I"))
    for i in range(len(records)):
        name, modality = records.labels(i)
        if name is None:
            unnamed[modality].append(i)
            continue
        family, _, level = name.rpartition("/")
        named[Bucket(family, int(level)) if family and level.isdecimal() else Bucket(name, 1)].append(i)
    for modality, indices in unnamed.items():
        measure = _measure(records, indices) if order == "auto" else order
        for place, part in enumerate(_levels(records, indices, measure, levels), start=1):
            named[Bucket(modality or measure, place)].extend(part)
    return _closed_up(named)


def _measure(records: Records, indices: Sequence[int]) -> Order:
    """Reference bits where every record has a program; length where lengths differ; else compressibility."""
    if all(records.has_program(i) for i in indices):
        return "reference_bits"
    usual = Counter(records.length(i) for i in indices).most_common(1)[0][1]
    return "compressibility" if usual >= _ALIKE * len(indices) else "length"


def _levels(records: Records, indices: Sequence[int], measure: Order, levels: int) -> list[list[int]]:
    """Split into at most `levels` parts of about equal size, from easy to hard; equals stay together."""
    scored = sorted((_score(records, i, measure), i) for i in indices)
    edges = [0, *(k for k in range(1, len(scored)) if scored[k][0] != scored[k - 1][0]), len(scored)]
    cuts = {_nearest(edges, len(scored) * level / levels) for level in range(levels + 1)}
    return [[i for _, i in scored[start:end]] for start, end in pairwise(sorted(cuts))]


def _nearest(edges: Sequence[int], wanted: float) -> int:
    at = bisect_left(edges, wanted)
    return min(edges[max(at - 1, 0) : at + 1], key=lambda edge: abs(edge - wanted))


def _score(records: Records, index: int, measure: Order) -> float:
    """Higher is harder. Compressibility is bytes after deflate, not a share: of two pieces of noise the shorter is
    easier. A record without a program comes after those with one."""
    if measure == "reference_bits":
        bits = records.reference_bits(index)
        return float("inf") if bits is None else bits
    if measure == "length":
        return records.length(index)
    return len(zlib.compress(pack(records[index].sequence), 9))


def _closed_up(buckets: dict[Bucket, array[int]]) -> dict[Bucket, array[int]]:
    levels: dict[str, int] = defaultdict(int)
    closed = {}
    for bucket in sorted(buckets):
        levels[bucket.family] += 1
        closed[Bucket(bucket.family, levels[bucket.family])] = buckets[bucket]
    return closed
