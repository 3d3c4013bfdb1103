"""Which tasks a configuration trains on and which it evaluates on. The two share no sequence and no skeleton."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from kolmocli.errors import UsageError
from kolmocli.tasks.base import Split, Task, TaskSource
from kolmocli.tasks.family import open_families
from kolmocli.tasks.files.records import Records, read_records
from kolmocli.tasks.files.separation import Taken, split, without
from kolmocli.tasks.files.settings import Data
from kolmocli.tasks.files.tasks import DatasetTasks
from kolmocli.tasks.mixed import MixedTasks
from kolmocli.tasks.sequences.task import SequenceTask
from kolmocli.tasks.settings import FamilySettings

Warn = Callable[[str], None]


class Sections(Protocol):
    """What of a configuration says which tasks there are."""

    @property
    def families(self) -> Mapping[str, FamilySettings]: ...

    @property
    def data(self) -> Data: ...

    @property
    def seed(self) -> int: ...


def family_tasks(config: Sections, split: Split, taken: Taken | None = None) -> TaskSource:
    """The tasks of the families, without those `taken` by the other split from a file."""
    return open_families(config.families, split, config.seed, taken)


def training_source(config: Sections, warn: Warn, held_out: Sequence[Task] = ()) -> TaskSource:
    """The training file without what evaluation has, the families, or both.

    `held_out` are the tasks that will be evaluated on: families share no skeleton with them anyway, but another
    program may make the same sequence, and then that is not a task either.

    Raises:
        UsageError: a file cannot be used, or nothing is left to train on.
    """
    data, sources = config.data, list[TaskSource]()
    sequences = [task.target for task in held_out if isinstance(task, SequenceTask)]
    taken = _evaluated(data).and_sequences(sequences)
    if data.train is None or data.families:
        sources.append(family_tasks(config, "train", taken))
    if data.train is not None:
        kept, shared = _trained(data, data.train, warn)
        if shared:
            warn(f"{data.train}: {shared:,} records share a sequence or a skeleton with evaluation and are left out")
        if not len(kept):
            raise UsageError(f"{data.train}: every sequence is held out for evaluation; nothing is left to train on")
        sources.append(DatasetTasks(kept, "train", config.seed, taken, data.order, data.levels))
    return sources[0] if len(sources) == 1 else MixedTasks(sources)


def evaluation_source(config: Sections, warn: Warn) -> TaskSource:
    """The evaluation file; else what is held out of the training file and of the families, of both where both train."""
    data, sources = config.data, list[TaskSource]()
    if data.eval is not None:
        records = _read(data.eval, data, warn)
        return DatasetTasks(records, "eval", config.seed, order=data.order, levels=data.levels)
    if data.train is None or data.families:
        trained = Records() if data.train is None else _trained(data, data.train, silent)[0]
        sources.append(family_tasks(config, "eval", Taken.of(trained)))
    if data.train is not None:
        _, held, _ = split(_read(data.train, data, warn))
        if not len(held):
            raise UsageError(f"{data.train}: too few sequences to hold some out; name a file with --eval-data")
        sources.append(DatasetTasks(held, "eval", config.seed, order=data.order, levels=data.levels))
    return sources[0] if len(sources) == 1 else MixedTasks(sources)


def trained_records(data: Data) -> Records:
    """What a run with these settings trains on of its file; nothing without one.

    Raises:
        UsageError: the file cannot be used.
    """
    return Records() if data.train is None else _trained(data, data.train, silent)[0]


def _trained(data: Data, name: str, warn: Warn) -> tuple[Records, int]:
    """What is trained on of a file, and how many records are left out of it for what they share with evaluation."""
    records = _read(name, data, warn)
    if data.eval is not None:
        return without(records, _evaluated(data))
    kept, _, shared = split(records)
    return kept, shared


def _evaluated(data: Data) -> Taken:
    """What evaluation has from a file."""
    if data.eval is not None:
        return Taken.of(_read(data.eval, data, silent))
    if data.train is not None:
        return Taken.of(split(_read(data.train, data, silent))[1])
    return Taken()


@dataclass(frozen=True)
class _Read:
    """A file as it was when it was read, and what there is to say of it, once."""

    records: Records
    unsaid: list[str]


def _read(name: str, data: Data, warn: Warn) -> Records:
    """The records of a file. Training and evaluation ask for the same one; it is read once while it does not change."""
    try:
        stat = os.stat(name)
        found = _read_once(name, data.strict, data.max_items, (stat.st_mtime_ns, stat.st_size, stat.st_ino))
    except FileNotFoundError:
        raise UsageError(
            f"{name}: no such file; `kolmo data slice` or `synth` makes one, --data names another"
        ) from None
    except OSError as error:
        raise UsageError(f"{name}: cannot be read: {error.strerror}") from None
    while warn is not silent and found.unsaid:
        warn(found.unsaid.pop(0))
    return found.records


@lru_cache(maxsize=2)
def _read_once(name: str, strict: bool, max_items: int, _version: tuple[int, ...]) -> _Read:
    unsaid: list[str] = []
    return _Read(read_records(name, unsaid.append, strict=strict, max_items=max_items), unsaid)


def silent(text: str) -> None:
    """Say nothing now: who reads the same file later says it."""
