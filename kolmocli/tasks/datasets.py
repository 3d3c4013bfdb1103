"""Tasks from a JSONL file: one object per line with `sequence`, and optionally `program` and `bucket`.

`sequence` is a list of integers or a string (its code points); a line may instead have `text`, an
instruction that holds "following sequence:" and a list. A bad line is named, skipped and counted.
"""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kolmocli.errors import UsageError
from kolmocli.language.program import Program, ProgramError, parse
from kolmocli.tasks.base import Bucket, Split, Task

_LEVELS = 4
"""Without buckets in the file, sequences are split by length into this many levels of equal size."""
_INSTRUCTION = re.compile(r"following sequence:\s*(\[[^\]]*\])")


@dataclass(frozen=True, slots=True)
class Record:
    sequence: tuple[int, ...]
    program: Program | None
    bucket: str | None


class DatasetTasks:
    """The records of a file as tasks, shuffled by the seed once per pass over them."""

    def __init__(
        self, records: list[Record], split: Split, seed: int, others: frozenset[tuple[int, ...]] = frozenset()
    ) -> None:
        self.split: Split = split
        self.seed = seed
        self._others = others  # sequences of the other split
        self._records = _by_bucket(records)

    def buckets(self) -> list[Bucket]:
        return sorted(self._records)

    def task(self, bucket: Bucket, index: int) -> Task:
        records = self._records[bucket]
        epoch, place = divmod(index, len(records))
        order = random.Random(f"{self.seed}/{self.split}/{bucket}/{epoch}").sample(range(len(records)), len(records))
        record = records[order[place]]
        return Task(bucket, index, record.sequence, record.program)

    def size(self, bucket: Bucket) -> int | None:
        return len(self._records[bucket])

    def admits(self, program: Program, sequence: tuple[int, ...]) -> bool:
        return sequence not in self._others


def read_records(path: Path, warn: Callable[[str], None]) -> list[Record]:
    """All good records of a file.

    Raises:
        UsageError: the file cannot be read, or no line of it is good.
    """
    records, bad = [], 0
    try:
        for number, line in _lines(path):
            try:
                records.append(_record(json.loads(line)))
            except (ValueError, TypeError, RecursionError) as error:
                bad += 1
                if bad <= 3:
                    warn(f"{path}:{number}: skipped: {error}")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"not UTF-8 ({error.reason})"
        raise UsageError(f"{path}: cannot be read: {reason}") from None
    if bad:
        warn(f"{path}: {bad} bad line(s) skipped, {len(records)} kept")
    if not records:
        raise UsageError(f"{path}: no sequence in it; every line needs an object with `sequence`, a list of integers")
    return records


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers."""
    with path.open(encoding="utf-8") as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield number, line


def _record(data: Any) -> Record:
    if not isinstance(data, dict):
        raise ValueError("not an object")
    sequence = data.get("sequence")
    if sequence is None and isinstance(data.get("text"), str):
        found = _INSTRUCTION.search(data["text"])
        if found is None:
            raise ValueError('text without "following sequence:" and a list')
        sequence = json.loads(found[1])
    if isinstance(sequence, str):
        sequence = [ord(c) for c in sequence]
    if not isinstance(sequence, list) or not sequence or any(type(x) is not int for x in sequence):
        raise ValueError("`sequence` must be a list of integers that is not empty, or a string")
    bucket = data.get("bucket")
    if bucket is not None and not isinstance(bucket, str):
        raise ValueError("`bucket` must be a string")
    return Record(tuple(sequence), _program(data.get("program")), bucket)


def _program(text: Any) -> Program | None:
    if text is None:
        return None
    if not isinstance(text, str):
        raise ValueError("`program` must be a string")
    try:
        return parse(text)
    except ProgramError as error:
        raise ValueError(f"`program`: {error}") from None


def _by_bucket(records: list[Record]) -> dict[Bucket, list[Record]]:
    """A bucket named `family/3` is a level of that family; any other name is a family of one level.

    Levels without a record are closed up, so that they count from 1 without a gap.
    """
    grouped: dict[Bucket, list[Record]] = defaultdict(list)
    unnamed = sorted((r for r in records if r.bucket is None), key=lambda r: (len(r.sequence), r.sequence))
    for place, record in enumerate(unnamed):
        grouped[Bucket("length", 1 + place * _LEVELS // len(unnamed))].append(record)
    for record in records:
        if record.bucket is not None:
            family, _, level = record.bucket.rpartition("/")
            named = Bucket(family, int(level)) if family and level.isdecimal() else Bucket(record.bucket, 1)
            grouped[named].append(record)
    levels: dict[str, int] = defaultdict(int)
    closed = {}
    for bucket in sorted(grouped):
        levels[bucket.family] += 1
        closed[Bucket(bucket.family, levels[bucket.family])] = grouped[bucket]
    return closed
