"""The tasks of a file, in the buckets that it names or in buckets found for it; they come again once all were shown."""

from __future__ import annotations

import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from kolmocli.curriculum.base import Bucket
from kolmocli.language.program import Program
from kolmocli.language.raw import pack
from kolmocli.tasks.base import Split, Task
from kolmocli.tasks.files.buckets import Buckets, Passes, bucket_of, by_level, closed_up, one_each, quantiles
from kolmocli.tasks.files.listing import Listed
from kolmocli.tasks.files.records import Records
from kolmocli.tasks.files.separation import Taken
from kolmocli.tasks.sequences.task import SequenceTask, sequence_task

Order = Literal["auto", "length", "compressibility", "reference_bits"]
"""Measure of a sequence's difficulty, for files that give none."""
_ALIKE = 0.9
"""With this share of the sequences of one length, length says nothing about difficulty."""


class DatasetTasks(Passes):
    """The sequences of a file as tasks."""

    def __init__(
        self,
        records: Records,
        split: Split,
        seed: int,
        taken: Taken | None = None,
        order: Order = "auto",
        levels: int = 4,
        *,
        per_task: bool = False,
    ) -> None:
        """`taken` is what evaluation has, for training; `order` and `levels` make buckets where none are named."""
        self.records = records
        self._taken = taken or Taken()
        buckets = find_buckets(records, order, len(records) if per_task else levels)
        super().__init__(one_each(buckets) if per_task else buckets, split, seed)

    def task(self, bucket: Bucket, index: int) -> SequenceTask:
        record = self.records[self.number(bucket, index)]
        return sequence_task(bucket, index, record.sequence, record.program, modality=record.modality)

    def admits(self, program: Program, sequence: tuple[int, ...]) -> bool:
        return self._taken.allows(program, sequence)

    def taught(self, bucket: Bucket) -> bool:
        return any(self.records.has_program(i) for i in self.indices(bucket))


class ListedTasks(Passes):
    """The code tasks and questions of a file."""

    def __init__(
        self, listed: Sequence[Listed], split: Split, seed: int, levels: int = 4, *, per_task: bool = False
    ) -> None:
        """`levels` is how many a family is split into of which the file does not say how hard its tasks are."""
        self.listed = listed
        buckets = listed_buckets(listed, len(listed) if per_task else levels)
        super().__init__(one_each(buckets) if per_task else buckets, split, seed)

    def task(self, bucket: Bucket, index: int) -> Task:
        return replace(self.listed[self.number(bucket, index)].task, bucket=bucket, index=index)

    def admits(self, program: Program, sequence: tuple[int, ...]) -> bool:
        """Always: what a program of the small language makes is no task of this kind."""
        return True

    def taught(self, bucket: Bucket) -> bool:
        return any(self.listed[i].task.reference is not None for i in self.indices(bucket))


def bucketed(listed: Sequence[Listed]) -> list[Task]:
    """The tasks, each in its bucket. A family of which the file names no levels is one bucket."""
    where = {i: bucket for bucket, indices in listed_buckets(listed, 1).items() for i in indices}
    return [replace(each.task, bucket=where[i]) for i, each in enumerate(listed)]


def listed_buckets(listed: Sequence[Listed], levels: int) -> Buckets:
    """By the levels that the file names, in a family of which every task has one; else by the length of the reference
    answer, or of the prompt where a task of the family has none."""
    families: dict[str, list[int]] = defaultdict(list)
    for i, each in enumerate(listed):
        families[each.family].append(i)
    named: dict[Bucket, list[int]] = {}
    for family, indices in families.items():
        known = [level for i in indices if (level := listed[i].level) is not None]
        if len(known) == len(indices):
            parts = by_level(known, indices, levels)
        else:
            parts = quantiles(sorted(zip(_lengths(listed, indices), indices, strict=True)), levels)
        named |= {Bucket(family, place): part for place, part in enumerate(parts, start=1)}
    return closed_up(named)


def _lengths(listed: Sequence[Listed], indices: Sequence[int]) -> list[int]:
    tasks = [listed[i].task for i in indices]
    references = [len(task.reference) for task in tasks if task.reference is not None]
    return references if len(references) == len(tasks) else [len(task.asked.text) for task in tasks]


def find_buckets(records: Records, order: Order, levels: int) -> Buckets:
    """By the buckets that the file names. Records without one become a family per modality, split by difficulty into levels
    of equal size."""
    named: dict[Bucket, array[int]] = defaultdict(lambda: array("I"))
    unnamed: dict[str | None, array[int]] = defaultdict(lambda: array("I"))
    for i in range(len(records)):
        name, modality = records.labels(i)
        (unnamed[modality] if name is None else named[bucket_of(name)]).append(i)
    for modality, indices in unnamed.items():
        measure = _measure(records, indices) if order == "auto" else order
        scored = sorted((_score(records, i, measure), i) for i in indices)
        for place, part in enumerate(quantiles(scored, levels), start=1):
            named[Bucket(modality or measure, place)].extend(part)
    return closed_up(named)


def _measure(records: Records, indices: Sequence[int]) -> Order:
    """Reference bits where every record has a program; length where lengths differ; else compressibility."""
    if all(records.has_program(i) for i in indices):
        return "reference_bits"
    usual = Counter(records.length(i) for i in indices).most_common(1)[0][1]
    return "compressibility" if usual >= _ALIKE * len(indices) else "length"


def _score(records: Records, index: int, measure: Order) -> float:
    """Higher is harder. Compressibility is bytes after deflate, not a share: of two pieces of noise the shorter is
    easier. A record without a program comes after those with one."""
    if measure == "reference_bits":
        bits = records.reference_bits(index)
        return float("inf") if bits is None else bits
    if measure == "length":
        return records.length(index)
    return len(zlib.compress(pack(records[index].sequence), 9))
