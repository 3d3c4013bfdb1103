"""Rows of a file as tasks, by their keys: sequences, code with tests, scripts with their output, and questions.

| keys | what it is | family without a name |
|---|---|---|
| `sequence` | a sequence to write a program for (`layouts.py` has its other layouts) | its modality |
| `prompt`, `test`, `entry_point` | a function as HumanEval asks for it | code |
| `text` or `prompt`, `test_list` | a function as MBPP asks for it | code |
| `question` or `prompt`, `inputs`, `outputs` | a script that reads stdin and prints | scripts |
| `question` or `prompt`, `answer` | a question | questions |

Each may have a `family`, a `level` or a `bucket` (`family/level`), and a `task_id`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kolmocli.seeds import content_key
from kolmocli.tasks.answers.shapes import question
from kolmocli.tasks.base import Task
from kolmocli.tasks.code.shapes import human_eval, mbpp, script
from kolmocli.tasks.files.buckets import bucket_of, level_of
from kolmocli.tasks.files.layouts import entry, label
from kolmocli.tasks.files.problems import Problems
from kolmocli.tasks.files.records import MAX_ITEMS, Keys, Record, checked
from kolmocli.tasks.files.rows import Where, decoded, rows


@dataclass(frozen=True, slots=True)
class Listed:
    """A code task or a question, and what the file says of it. Its bucket is not known before the whole file is."""

    task: Task
    family: str
    level: float | None = None

    @property
    def task_id(self) -> str | None:
        return self.task.task_id

    @property
    def key(self) -> int:
        """A digest of what is asked, by its words: the same question is the same task, however it is laid out."""
        return content_key(" ".join(self.task.asked.text.split()))


@dataclass(frozen=True, slots=True)
class Sequenced:
    """A sequence of a file."""

    record: Record
    keys: Keys
    task_id: str | None = None


Item = Listed | Sequenced


@dataclass(frozen=True, slots=True)
class Shape:
    """A kind of row: it has all of these keys. `family` is that of a row which names none."""

    keys: tuple[str, ...]
    family: str
    build: Callable[[Mapping[str, Any]], Task]


SHAPES = (
    Shape(("test_list",), "code", mbpp),
    Shape(("test",), "code", human_eval),
    Shape(("inputs", "outputs"), "scripts", script),
    Shape(("answer",), "questions", question),
)
"""A row is of the first that fits, unless it is a sequence."""
_SEQUENCES = ("sequence", "sequence_input", "generation")


def stream_tasks(
    name: str, problems: Problems, *, max_items: int = MAX_ITEMS, level_key: str | None = None
) -> Iterator[tuple[Where, dict[str, Any], Item]]:
    """The good tasks of a file, each with the place where it begins and its row. Bad ones go to `problems`, and so does a second code task
    or question with the `task_id` of one before it.

    Raises:
        UsageError: the file cannot be read.
    """
    seen: dict[str, Where] = {}
    for where, data in rows(name, problems):
        try:
            row = row_of(data)
            found = item(row, max_items=max_items, level_key=level_key)
            if isinstance(found, Listed) and found.task_id is not None:
                if found.task_id in seen:
                    raise ValueError(f"`task_id` {found.task_id} again, after {_said(seen[found.task_id])}")
                seen[found.task_id] = where
        except ValueError as error:
            problems.bad(where, error)
            continue
        yield where, row, found


def row_of(data: Any) -> dict[str, Any]:
    """The object that a row is, encoded once or twice. Raises ValueError where it is none."""
    if isinstance(data, str):
        data = decoded(data)
    if not isinstance(data, dict):
        raise ValueError("not an object")
    return data


def item(data: dict[str, Any], *, max_items: int = MAX_ITEMS, level_key: str | None = None) -> Item:
    """The task of a row. Raises ValueError for what is none, with one line that says why."""
    shape = None if any(key in data for key in _SEQUENCES) else _shape(data)
    if level_key is not None and level_key not in data:
        raise ValueError(f"no `{level_key}` in it (data.level_key)")
    level = data.get(level_key or "level")
    if shape is None:
        return _sequenced(data, max_items, level_key)
    family, bucket = label(data, "family"), label(data, "bucket")
    known = None if level is None else level_of(level, level_key or "level")
    if bucket is not None and level_key is None:
        named = bucket_of(bucket)
        family, known = named.family, named.level
    return Listed(replace(shape.build(data), task_id=label(data, "task_id")), family or shape.family, known)


def _shape(data: Mapping[str, Any]) -> Shape | None:
    """None for what may be a sequence in one of its layouts.

    Raises:
        ValueError: it is nothing at all.
    """
    found = next((shape for shape in SHAPES if all(data.get(key) is not None for key in shape.keys)), None)
    if found is None and "text" not in data:
        known = ["sequence", *(" and ".join(shape.keys) for shape in SHAPES)]
        raise ValueError(f"no task in it: none of {', '.join(f'`{keys}`' for keys in known)}")
    return found


def _sequenced(data: dict[str, Any], max_items: int, level_key: str | None) -> Sequenced:
    if level_key is not None:
        data = {**data, "level": int(level_of(data[level_key], level_key)), "bucket": None}
    found = entry(data)
    record, keys = checked(found, max_items)
    return Sequenced(record, keys, found.task_id)


def _said(where: Where) -> str:
    return f"line {where}" if isinstance(where, int) else where
