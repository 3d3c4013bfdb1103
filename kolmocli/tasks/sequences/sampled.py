"""Sequences that a program of the language makes: every family and level is a setting of the sampler."""

from __future__ import annotations

import random
from functools import lru_cache

from kolmocli.curriculum.base import Bucket
from kolmocli.errors import UsageError
from kolmocli.language.interpreter import ExecutionError, execute
from kolmocli.language.program import Program
from kolmocli.language.sampler import Pair, SamplingError, sample
from kolmocli.language.skeleton import held_out, skeleton
from kolmocli.tasks.base import Language, Split
from kolmocli.tasks.family import SEQUENCES, families
from kolmocli.tasks.files.separation import Taken
from kolmocli.tasks.sequences.settings import Family
from kolmocli.tasks.sequences.task import SequenceTask, sequence_task
from kolmocli.tasks.settings import LONGEST


class SampledSequences:
    """The tasks of one section, random-access.

    The splits share no seed, and no program skeleton: a quarter of all skeletons, chosen by a hash, is seen in evaluation
    only.
    """

    def __init__(self, name: str, settings: Family, split: Split, seed: int, taken: Taken | None = None) -> None:
        """`taken` is what the other split has from a file: no task has one of its sequences or skeletons."""
        self.name, self.settings, self.split, self.seed = name, settings, split, seed
        self._taken = taken or Taken()
        self._task = lru_cache(maxsize=50_000)(self._sample)

    def task(self, level: int, index: int) -> SequenceTask:
        """Raises UsageError when nothing in this level is left for the split."""
        return self._task(level, index)

    def _sample(self, level: int, index: int) -> SequenceTask:
        bucket = Bucket(self.name, level)
        rng = random.Random(f"{self.seed}/{self.split}/{bucket}/{index}")
        try:
            pair = sample(rng, self.settings.levels[level - 1], accept=self._belongs, attempts=2_000)
        except SamplingError as error:
            raise UsageError(f"families.{self.name}.levels[{level - 1}]: {self.split}: {error}") from None
        return sequence_task(bucket, index, pair.sequence, pair.program, language=self.settings.language)

    def taught(self) -> bool:
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
        return len(pair.sequence) <= LONGEST and self.admits(pair.program, pair.sequence)


class SequenceKind:
    """Sequences to write programs of the language for: what a section is that names no task."""

    name = SEQUENCES
    settings = Family
    language: Language = "dsl"

    def open(self, bucket_family: str, settings: Family, split: Split, seed: int, taken: Taken) -> SampledSequences:
        return SampledSequences(bucket_family, settings, split, seed, taken)


SEQUENCE_KIND = families.add(SEQUENCES, SequenceKind(), builtin=True)
