"""Keeping training and evaluation apart: they share no sequence, and no program of one skeleton."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from kolmocli.language.interpreter import ExecutionError, execute
from kolmocli.language.program import Program
from kolmocli.language.skeleton import skeleton
from kolmocli.seeds import content_key
from kolmocli.tasks.files.records import Keys, Records, sequence_key

_SEQUENCES_HELD_OUT = 0.1
"""Share of the sequences without a program that is kept for evaluation when no other file is named."""
_SKELETONS_HELD_OUT = 0.25
"""Share of the skeletons held out: the same quarter as in a curriculum's families, so that both can be mixed."""


QUESTIONS_HELD_OUT = 0.1
"""Share of the code tasks and questions held out, by what they ask."""


@dataclass(frozen=True, slots=True)
class Taken:
    """Tasks of one side that the other may not have: digests of sequences, of skeletons, and of other tasks' prompts."""

    sequences: frozenset[int] = frozenset()
    skeletons: frozenset[int] = frozenset()
    prompts: frozenset[int] = frozenset()

    @classmethod
    def of(cls, records: Records, prompts: Iterable[int] = ()) -> Taken:
        return cls(frozenset(records.sequence_keys), frozenset(records.skeleton_keys()), frozenset(prompts))

    def and_sequences(self, sequences: Iterable[Sequence[int]]) -> Taken:
        """These sequences too."""
        return replace(self, sequences=self.sequences | {sequence_key(s) for s in sequences})

    def has(self, keys: Keys) -> bool:
        return keys.sequence in self.sequences or (keys.skeleton is not None and keys.skeleton in self.skeletons)

    def allows(self, program: Program, sequence: tuple[int, ...]) -> bool:
        """Whether the other side may have this program with this sequence."""
        if self.sequences and sequence_key(sequence) in self.sequences:
            return False
        if not self.skeletons:
            return True
        try:
            shape = skeleton(program, execute(program))
        except ExecutionError:  # a sandbox's integers have no bound, the interpreter's have
            return False
        return content_key(shape) not in self.skeletons


def without(records: Records, taken: Taken) -> tuple[Records, int]:
    """The records that share nothing with what is taken, and the number of those that do."""
    kept = [i for i in range(len(records)) if not taken.has(records.keys(i))]
    return records.select(kept), len(records) - len(kept)


def split(records: Records) -> tuple[Records, Records, int]:
    """(for training, for evaluation, neither) of one file, by hashes that are the same on every machine.

    A record whose own hash is for training but which shares its sequence or its skeleton with one for evaluation
    is in neither.
    """
    evaluation = records.select(i for i in range(len(records)) if _for_evaluation(records.keys(i)))
    rest = records.select(i for i in range(len(records)) if not _for_evaluation(records.keys(i)))
    training, shared = without(rest, Taken.of(evaluation))
    return training, evaluation, shared


def _for_evaluation(keys: Keys) -> bool:
    """The digests are uniform, so a share of them is those below a bound."""
    if keys.skeleton is None:
        return keys.sequence < _SEQUENCES_HELD_OUT * 2**64
    return keys.skeleton < _SKELETONS_HELD_OUT * 2**64
