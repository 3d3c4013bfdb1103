"""Sequences that a program of the language makes: every family and level is a setting of the sampler."""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import lru_cache

from kolmocli.config import Family
from kolmocli.curriculum.base import Bucket
from kolmocli.errors import UsageError
from kolmocli.language.interpreter import ExecutionError, execute
from kolmocli.language.program import Program
from kolmocli.language.sampler import Pair, SamplingError, sample
from kolmocli.language.skeleton import held_out, skeleton
from kolmocli.tasks.base import Split, Task
from kolmocli.tasks.files.separation import Taken


class KolmogorovTasks:
    """Tasks of the families of a curriculum file, random-access by (bucket, index).

    The splits share no seed, and no program skeleton: a quarter of all skeletons, chosen by a hash, is
    seen in evaluation only.
    """

    def __init__(self, families: Mapping[str, Family], split: Split, seed: int, taken: Taken | None = None) -> None:
        """`taken` is what the other split has from a file: no task has one of its sequences or skeletons."""
        self.families = families
        self._taken = taken or Taken()
        self.split: Split = split
        self.seed = seed
        self._task = lru_cache(maxsize=50_000)(self._sample)

    def buckets(self) -> list[Bucket]:
        return [Bucket(n, i + 1) for n, family in self.families.items() for i in range(len(family.levels))]

    def task(self, bucket: Bucket, index: int) -> Task:
        """The task with this index; the same for the same seed, on every machine.

        Raises:
            UsageError: nothing in this level is left for the split.
        """
        return self._task(bucket, index)

    def _sample(self, bucket: Bucket, index: int) -> Task:
        level = self.families[bucket.family].levels[bucket.level - 1]
        rng = random.Random(f"{self.seed}/{self.split}/{bucket}/{index}")
        try:
            pair = sample(rng, level, accept=self._belongs, attempts=2_000)
        except SamplingError as error:
            raise UsageError(f"families.{bucket.family}.levels[{bucket.level - 1}]: {self.split}: {error}") from None
        return Task(bucket, index, pair.sequence, pair.program)

    def size(self, bucket: Bucket) -> int | None:
        return None

    def taught(self, bucket: Bucket) -> bool:
        return True

    def admits(self, program: Program, sequence: tuple[int, ...]) -> bool:
        if not self._taken.allows(program, sequence):
            return False
        try:
            values = execute(program)
        except ExecutionError:  # a sandbox's integers have no bound, the interpreter's have
            return False
        return held_out(skeleton(program, values)) == (self.split == "eval")

    def _belongs(self, pair: Pair) -> bool:
        return self.admits(pair.program, pair.sequence)
