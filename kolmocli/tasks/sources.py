"""Tasks of a configuration for training and for evaluation. The two share no sequence, no skeleton and no prompt of a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from kolmocli.errors import KolmoError, UsageError
from kolmocli.tasks.answers.settings import Answers
from kolmocli.tasks.base import Language, Split, Task, TaskSource
from kolmocli.tasks.code.settings import Outputs
from kolmocli.tasks.family import open_families
from kolmocli.tasks.files.separation import Taken
from kolmocli.tasks.files.settings import Data
from kolmocli.tasks.files.tables import is_data_set
from kolmocli.tasks.files.taskfile import TaskFile, read_tasks
from kolmocli.tasks.files.tasks import DatasetTasks, ListedTasks
from kolmocli.tasks.judged import judged
from kolmocli.tasks.mixed import MixedTasks
from kolmocli.tasks.sequences.task import SequenceTask
from kolmocli.tasks.settings import FamilySettings

Warn = Callable[[str], None]


class Sections(Protocol):
    """The parts of a configuration that decide the tasks."""

    @property
    def families(self) -> Mapping[str, FamilySettings]: ...

    @property
    def data(self) -> Data: ...

    @property
    def answers(self) -> Answers: ...

    @property
    def outputs(self) -> Outputs: ...

    @property
    def seed(self) -> int: ...


def family_tasks(config: Sections, split: Split, taken: Taken | None = None) -> TaskSource:
    """The tasks of the families, without those `taken` by the other split from a file."""
    return judged(open_families(config.families, split, config.seed, taken), config.answers.judge, config.outputs.asked)


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
            what = "a sequence, a skeleton or a prompt" if kept.listed else "a sequence or a skeleton"
            warn(f"{data.train}: {shared:,} records share {what} with evaluation and are left out")
        if not len(kept):
            raise UsageError(f"{data.train}: every task is held out for evaluation; nothing is left to train on")
        sources += file_sources(kept, "train", config, taken)
    return mixed(sources)


def evaluation_source(config: Sections, warn: Warn) -> TaskSource:
    """The evaluation file; else what is held out of the training file and of the families, of both where both train."""
    data, sources = config.data, list[TaskSource]()
    if data.eval is not None:
        return mixed(file_sources(read_file(data.eval, data, warn), "eval", config))
    if data.train is None or data.families:
        sources.append(family_tasks(config, "eval", trained_file(data).taken))
    if data.train is not None:
        _, held, _ = read_file(data.train, data, warn).split()
        if not len(held):
            raise UsageError(f"{data.train}: too few tasks to hold some out; name a file with --eval-data")
        sources += file_sources(held, "eval", config)
    return mixed(sources)


def file_sources(file: TaskFile, split: Split, config: Sections, taken: Taken | None = None) -> list[TaskSource]:
    """A source for each sort of task that is in a file. `taken` is what the other side has.

    Evaluation never has a bucket for every task: it spreads what it takes over all of them.
    """
    data, found = config.data, list[TaskSource]()
    per_task = data.per_task and split == "train"
    if len(file.records):
        order, levels = data.order, data.levels
        found.append(DatasetTasks(file.records, split, config.seed, taken, order, levels, per_task=per_task))
    if file.listed:
        listed = ListedTasks(file.listed, split, config.seed, data.levels, per_task=per_task)
        found.append(judged(listed, config.answers.judge, config.outputs.asked))
    return found


def mixed(sources: Sequence[TaskSource]) -> TaskSource:
    return sources[0] if len(sources) == 1 else MixedTasks(sources)


def trained_file(data: Data) -> TaskFile:
    """Tasks of the file that a run with these settings trains on; none without one.

    Raises:
        UsageError: the file cannot be used.
    """
    return TaskFile() if data.train is None else _trained(data, data.train, silent)[0]


def languages_of(data: Data) -> set[Language]:
    """Languages of the answers to these files' tasks. A missing or broken file is taken for one of sequences: its reader
    reports the fault."""
    found = set[Language]()
    for name in (data.train, data.eval):
        if name is not None:
            try:
                found |= read_file(name, data, silent).languages
            except KolmoError:
                found.add("dsl")
    return found


def tasks_of_files(data: Data) -> list[Task]:
    """The tasks of these files that are no sequences; none of a file that is not here, or not good, as above."""
    found: list[Task] = []
    for name in dict.fromkeys((data.train, data.eval)):
        if name is not None:
            with suppress(KolmoError):
                found += [each.task for each in read_file(name, data, silent).listed]
    return found


def _trained(data: Data, name: str, warn: Warn) -> tuple[TaskFile, int]:
    """Tasks of a file to train on, and the number of those left out because evaluation shares them."""
    file = read_file(name, data, warn)
    if data.eval is not None:
        return file.without(_evaluated(data))
    kept, _, shared = file.split()
    return kept, shared


def _evaluated(data: Data) -> Taken:
    """The evaluation's tasks of a file."""
    if data.eval is not None:
        return read_file(data.eval, data, silent).taken
    if data.train is not None:
        return read_file(data.train, data, silent).split()[1].taken
    return Taken()


@dataclass(frozen=True)
class _Read:
    """A file as it was when it was read, and what there is to say of it, once."""

    file: TaskFile
    unsaid: list[str]


def read_file(name: str, data: Data, warn: Warn) -> TaskFile:
    """The tasks of a file. Training and evaluation ask for the same one; it is read once while it does not change.

    Raises:
        UsageError: it cannot be used.
        EnvironmentMissing: what reads its format is not installed.
    """
    try:
        stat = None if is_data_set(name) else os.stat(name)
        version = () if stat is None else (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        found = _read_once(name, data.strict, data.max_items, data.level_key, data.columns, version)
    except FileNotFoundError:
        raise UsageError(
            f"{name}: no such file; `kolmo data slice` or `synth` makes one, --data names another"
        ) from None
    except OSError as error:
        raise UsageError(f"{name}: cannot be read: {error.strerror}") from None
    while warn is not silent and found.unsaid:
        warn(found.unsaid.pop(0))
    return found.file


@lru_cache(maxsize=2)
def _read_once(
    name: str, strict: bool, max_items: int, level_key: str | None, columns: str | None, _version: tuple[int, ...]
) -> _Read:
    unsaid: list[str] = []
    file = read_tasks(
        name, unsaid.append, strict=strict, max_items=max_items, level_key=level_key, columns=columns
    )  # fmt: skip
    return _Read(file, unsaid)


def silent(text: str) -> None:
    """Say nothing now: who reads the same file later says it."""
