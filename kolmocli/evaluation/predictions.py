"""Programs that a model has written, from a file; and the file of what a prompted model answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from kolmocli.curriculum.base import Bucket
from kolmocli.errors import KolmoError, UsageError
from kolmocli.evaluation.rescoring import MAX_ITEMS, Candidate, Language
from kolmocli.language.answers import program_of
from kolmocli.tasks.base import Task
from kolmocli.tasks.files.buckets import bucket_of
from kolmocli.tasks.files.entries import Entry, read_entries
from kolmocli.tasks.files.problems import Problems
from kolmocli.tasks.sequences.task import SequenceTask, sequence_task

Cut = Callable[[str], str]
"""From an answer to the program in it."""


def read_predictions(
    name: str, warn: Callable[[str], None], *, language: Language = "python", strict: bool, cut: Cut = program_of
) -> Iterator[Candidate]:
    """The candidates of a file, in any of the layouts of `tasks/files/entries.py`; nothing of them is run here.

    A line that names no bucket is in that of its modality. Lines with the same `task_id` and sequence are samples of
    one task, and have its index; a line without `task_id` is a task of its own.

    Raises:
        UsageError: the file cannot be read, no line of it is good, or, with `strict`, one is bad.
    """
    problems, found = Problems(name, warn, strict), 0
    places: dict[tuple[object, tuple[int, ...]], int] = {}
    for number, entry in read_entries(name, problems):
        answer = entry.generation if entry.generation is not None else entry.program
        if answer is None:
            problems.bad(number, "no `generation` or `program` in it")
        elif len(entry.sequence) > MAX_ITEMS:
            problems.bad(number, f"{len(entry.sequence):,} items; at most {MAX_ITEMS:,} are taken")
        else:
            found += 1
            place = (f"line {number}" if entry.task_id is None else ("task", entry.task_id), entry.sequence)
            yield Candidate(_task(entry, places.setdefault(place, len(places)), language), cut(answer))
    problems.close(f"{found:,}")
    if not found:
        raise UsageError(f"{name}: no prediction in it; every line needs a sequence and a `generation` or `program`")


def _task(entry: Entry, index: int, language: Language) -> SequenceTask:
    bucket = bucket_of(entry.bucket) if entry.bucket else Bucket(entry.modality or "sequences", 1)
    return sequence_task(bucket, index, entry.sequence, language=language, modality=entry.modality)


class PredictionWriter:
    """Predictions as lines, written as they come: answers may have cost money. `read_predictions` reads those for sequences;
    those for other tasks of a file are joined with it by `task_id`."""

    def __init__(self, name: str) -> None:
        self._name = name
        try:
            self._file = open(name, "x", encoding="utf-8")  # noqa: SIM115 - closed by `close`
        except FileExistsError:
            raise KolmoError(f"{name}: exists already; name another file, or remove it") from None
        except OSError as error:
            raise KolmoError(f"{name}: cannot be written: {error.strerror}") from None

    def write(self, task: Task, answer: str) -> None:
        bucket = str(task.bucket)
        if isinstance(task, SequenceTask):
            known = {"bucket": bucket, "modality": task.modality}
            line = {"task_id": task.index, "sequence": task.target, "generation": answer, **known}
        else:
            line = {"task_id": task.task_id, "completion": answer, "bucket": bucket}
        try:
            self._file.write(json.dumps(line) + "\n")
            self._file.flush()
        except OSError as error:
            raise KolmoError(f"{self._name}: cannot be written: {error.strerror}") from None

    def close(self) -> None:
        self._file.close()
