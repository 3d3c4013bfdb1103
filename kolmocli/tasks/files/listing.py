"""Rows of a file as tasks, by their keys: sequences, code with tests, scripts with their output, and questions.

| keys | what it is | family without a name |
|---|---|---|
| `sequence` | a sequence to write a program for (`entries.py` has its other layouts) | its modality |
| `prompt`, `test`, `entry_point` | a function as HumanEval asks for it | code |
| `text` or `prompt`, `test_list` | a function as MBPP asks for it | code |
| `prompt`, `entry_point`, `canonical_solution`, `base_input`, `plus_input` | the same, as EvalPlus has it | code |
| `question` or `prompt`, `fn_name`, `inputs`, `outputs` | a function, called with lists of arguments | code |
| `question` or `prompt`, `inputs`, `outputs` | a script that reads stdin and prints | scripts |
| `target`, `nums` | a sum that makes a number of others | countdown |
| `question` or `prompt`, `answer` | a question | questions |

Each may have a `family`, a `level` or a `bucket` (`family/level`), and a `task_id`. Rows of other layouts are read as these
first (`layouts.py`, `foreign.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kolmocli.console import writable
from kolmocli.seeds import content_key
from kolmocli.tasks.answers.countdown import countdown
from kolmocli.tasks.answers.shapes import question
from kolmocli.tasks.base import Task
from kolmocli.tasks.code.shapes import calls, compared, human_eval, mbpp, script
from kolmocli.tasks.files.buckets import bucket_of, level_of
from kolmocli.tasks.files.entries import entry, label
from kolmocli.tasks.files.foreign import Reading, read_row
from kolmocli.tasks.files.guessed import ANSWERS, TESTS, named
from kolmocli.tasks.files.layouts import Columns
from kolmocli.tasks.files.problems import Problems
from kolmocli.tasks.files.records import MAX_ITEMS, Keys, Record, checked
from kolmocli.tasks.files.rows import Where, decoded, rows
from kolmocli.tasks.files.values import is_empty, value_at


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
    Shape(("base_input", "canonical_solution"), "code", compared),
    Shape(("test_list",), "code", mbpp),
    Shape(("test",), "code", human_eval),
    Shape(("fn_name", "inputs", "outputs"), "code", calls),
    Shape(("inputs", "outputs"), "scripts", script),
    Shape(("target", "nums"), "countdown", countdown),
    Shape(("answer",), "questions", question),
)
"""A row is of the first that fits, unless it is a sequence."""
_USUAL = (("test_list",), ("test",), ("inputs", "outputs"), ("answer",))
_EASIER = re.compile(
    r"(?:.*[._])?(?:pass(?:es|ed)?|solved?|success|correct(?:ness)?|accuracy)(?:[_@.]?(?:rate|at|[0-9])\w*)?\Z",
    re.IGNORECASE,
)
"""Keys that measure how often a task is done."""
_SEQUENCES = ("sequence", "sequence_input", "generation")


def stream_tasks(
    name: str,
    problems: Problems,
    *,
    max_items: int = MAX_ITEMS,
    level_key: str | None = None,
    columns: str | None = None,
) -> Iterator[tuple[Where, dict[str, Any], Item]]:
    """The good tasks of a file, each with the place where it begins and its row. Bad ones go to `problems`, and so does a second code task
    or question with the `task_id` of one before it. How the rows of a known set were read is said once, and what of them was
    not used is counted. `columns` are those that a user names: `prompt=problem,answer=solution`.

    Raises:
        UsageError: the file cannot be read, `columns` are no such thing, or, with `strict`, a part of a task is not used.
    """
    named_by_user = None if columns is None else named(columns)
    seen: dict[str, Where] = {}
    if level_key is not None and _EASIER.match(level_key):
        problems.note(f"levels by `{level_key}`: more of it is taken for harder; with -{level_key} more is easier")
    for where, data in rows(name, problems, columns=named_by_user):
        try:
            row = row_of(data)
            found, reading = item(row, columns=named_by_user, max_items=max_items, level_key=level_key)
            if isinstance(found, Listed) and (task_id := found.task_id) is not None:
                if task_id in seen and row.get("task_id") is None:  # a column of the set that names no task after all
                    found = replace(found, task=replace(found.task, task_id=None))
                elif task_id in seen:
                    raise ValueError(f"`task_id` {task_id} again, after {_said(seen[task_id])}")
                seen.setdefault(task_id, where)
        except ValueError as error:
            problems.bad(where, error)
            continue
        problems.note(reading.said)
        for key in reading.unused:
            problems.unused(where, key)
        yield where, row, found


def row_of(data: Any) -> dict[str, Any]:
    """The object that a row is, encoded once or twice. Raises ValueError where it is none."""
    if isinstance(data, str):
        data = decoded(data)
    if (
        isinstance(data, list) and len(data) > 1 and all(isinstance(each, dict) for each in data)
    ):  # turns of a conversation
        data = {str(number): each for number, each in enumerate(data)}
    if not isinstance(data, dict):
        raise ValueError("not an object")
    return data


def item(
    data: dict[str, Any], *, columns: Columns | None = None, max_items: int = MAX_ITEMS, level_key: str | None = None
) -> tuple[Item, Reading]:
    """The task of a row, and how the row was read. Raises ValueError for what is no task, with one line that says why."""
    is_sequence = any(key in data for key in _SEQUENCES)
    reading = Reading(data) if is_sequence else read_row(data, columns)
    read, shape = reading.row, None if is_sequence else _shape(reading.row)
    level = read.get("level")
    if level_key is not None:
        level = _difficulty(data, level_key)
    if shape is None:
        measured = (
            data if level_key is None else {**data, "level": None if level is None else int(level), "bucket": None}
        )
        return _sequenced(measured, max_items), reading
    family, bucket = label(data, "family"), label(data, "bucket")
    known = None if level is None else level_of(level)
    if bucket is not None and level_key is None:
        at = bucket_of(bucket)
        family, known = at.family, at.level
    return Listed(_readable(shape.build(read), label(read, "task_id")), family or shape.family, known), reading


def _readable(task: Task, task_id: str | None) -> Task:
    """The task with its name. Raises ValueError for text that no tokenizer reads."""
    asked = task.asked
    for what, said in {"prompt": asked.text + asked.system + asked.shortest, "reference": task.reference or ""}.items():
        if not writable(said):
            raise ValueError(f"its {what} holds half of a surrogate pair, which UTF-8 cannot write")
    return replace(task, task_id=task_id)


def _shape(data: Mapping[str, Any]) -> Shape | None:
    """None for what may be a sequence in one of its layouts.

    Raises:
        ValueError: it is nothing at all.
    """
    found = next((shape for shape in SHAPES if all(data.get(key) is not None for key in shape.keys)), None)
    if found is None and "text" not in data:
        if (
            empty := next((key for key in (*ANSWERS, *TESTS) if key in data and is_empty(data[key])), None)
        ) is not None:
            raise ValueError(f"`{empty}` is empty")
        known = ["sequence", *(" and ".join(shape.keys) for shape in SHAPES if shape.keys in _USUAL)]
        raise ValueError(
            f"no task in it: none of {', '.join(f'`{keys}`' for keys in known)}; --columns prompt=…,answer=… names others"
        )
    return found


def _difficulty(data: Mapping[str, Any], level_key: str) -> float | None:
    """How hard a task is by its key; more is easier where the key has a minus before it. Raises ValueError where there is none."""
    key = level_key if level_key in data else level_key.removeprefix("-")
    value = value_at(data, key)
    if value is None and key not in data:
        raise ValueError(f"no `{key}` in it (data.level_key)")
    if value is None:
        return None
    return level_of(value, key) if key == level_key else -level_of(value, key)


def _sequenced(data: dict[str, Any], max_items: int) -> Sequenced:
    found = entry(data)
    record, keys = checked(found, max_items)
    return Sequenced(record, keys, found.task_id)


def _said(where: Where) -> str:
    return f"line {where}" if isinstance(where, int) else where
