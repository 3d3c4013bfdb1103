"""A whole file of tasks: its sequences packed, its other tasks as they are, and both apart for training and evaluation."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kolmocli.errors import UsageError
from kolmocli.tasks.base import Language
from kolmocli.tasks.files.listing import Listed, stream_tasks
from kolmocli.tasks.files.problems import Problems
from kolmocli.tasks.files.records import MAX_ITEMS, Records
from kolmocli.tasks.files.separation import QUESTIONS_HELD_OUT, Taken, split, without


@dataclass(frozen=True, slots=True)
class TaskFile:
    """Tasks of a file, or the part of them that one side may have."""

    records: Records = field(default_factory=Records)
    listed: Sequence[Listed] = ()

    def __len__(self) -> int:
        return len(self.records) + len(self.listed)

    @property
    def taken(self) -> Taken:
        """Digests of its tasks, which the other side may not have."""
        return Taken.of(self.records, (each.key for each in self.listed))

    @property
    def languages(self) -> set[Language]:
        """Languages of the answers to these tasks."""
        listed = {each.task.language for each in self.listed}
        return listed | {"dsl"} if len(self.records) else listed

    @property
    def digest(self) -> str:
        """SHA-256 of what tells its tasks apart, in their order."""
        keys = array("Q", [*self.records.sequence_keys, *(each.key for each in self.listed)])
        return hashlib.sha256(keys.tobytes()).hexdigest()

    def without(self, taken: Taken) -> tuple[TaskFile, int]:
        """(what shares nothing with what is taken, how many tasks do)"""
        records, shared = without(self.records, taken)
        listed = [each for each in self.listed if each.key not in taken.prompts]
        return TaskFile(records, listed), shared + len(self.listed) - len(listed)

    def split(self) -> tuple[TaskFile, TaskFile, int]:
        """(for training, for evaluation, how many are in neither), by hashes that are the same on every machine."""
        training, evaluation, shared = split(self.records)
        held = [each.key < QUESTIONS_HELD_OUT * 2**64 for each in self.listed]
        kept = [each for each, is_held in zip(self.listed, held, strict=True) if not is_held]
        others = [each for each, is_held in zip(self.listed, held, strict=True) if is_held]
        return TaskFile(training, kept), TaskFile(evaluation, others), shared


def read_tasks(
    name: str,
    warn: Callable[[str], None],
    *,
    strict: bool = False,
    max_items: int = MAX_ITEMS,
    level_key: str | None = None,
    columns: str | None = None,
) -> TaskFile:
    """All good tasks of a file; `listing.py` has what they may look like. `columns` are those that a user names.

    Raises:
        UsageError: the file cannot be read, no row of it is good, or, with `strict`, one is bad.
        EnvironmentMissing: what reads its format is not installed.
    """
    problems, records, listed = Problems(name, warn, strict), Records(), list[Listed]()
    for _, _, found in stream_tasks(name, problems, max_items=max_items, level_key=level_key, columns=columns):
        if isinstance(found, Listed):
            listed.append(found)
        else:
            records.append(found.record, found.keys)
    problems.close(f"{len(records) + len(listed):,}")
    if not records and not listed:
        what = "no task in it; every line needs the keys of one, such as `sequence`, or `question` and `answer`"
        raise UsageError(f"{name}: {'no good line in it; see above' if problems.count else what}")
    return TaskFile(records, listed)
