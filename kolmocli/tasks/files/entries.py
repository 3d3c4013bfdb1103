"""The entries in which sequences and programs are handed around, read as one kind of entry. Nothing is evaluated.

One JSON value per line:
- `{"sequence": [1, 2], "program": "…", "bucket": "ramps/1"}`; a string is its code points. `sequence_input`, as
  the KoLMogorov Test's post-processing writes it, is a sequence too, and `program` with it a model's answer.
- `{"text": "… following sequence: [1, 2] …"}`, an instruction; statements after the list are its program.
- a JSON string that holds an object with `prompt` and `generation`: predictions, encoded twice. `generation` may
  stand with `sequence` too, and `task_id` with any of them.
CSV with a header that names `sequence`, and perhaps `program`, quoted over several lines: the published generator's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kolmocli.console import unfit
from kolmocli.tasks.files.problems import Problems
from kolmocli.tasks.files.rows import Where, decoded, rows

_LIST = r"(\[[-\d,\s]*\])"
_AFTER_WORDS = re.compile(r"(?:following|input) sequence\s*:\s*" + _LIST, re.IGNORECASE)
_AFTER_COLON = re.compile(r":\s*" + _LIST)
_STATEMENT = re.compile(r"^[ \t]*(?:sequence_\d+ = [a-z_]+\(.*|output = sequence_\d+.*)$", re.M)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of data. `program` is the reference; `generation` is a model's answer, as it was given."""

    sequence: tuple[int, ...]
    program: str | None = None
    generation: str | None = None
    bucket: str | None = None
    modality: str | None = None
    task_id: str | None = None
    """In predictions, lines of one task and one sequence are samples of it."""


def read_entries(name: str, problems: Problems) -> Iterator[tuple[Where, Entry]]:
    """The good entries of a file with the places where they begin. Bad ones go to `problems`.

    Raises:
        UsageError: the file cannot be read.
    """
    for where, data in rows(name, problems):
        try:
            yield where, entry(data)
        except ValueError as error:
            problems.bad(where, error)


def entry(data: Any) -> Entry:
    """One decoded line. Raises ValueError for what is no entry."""
    if isinstance(data, str):
        data = decoded(data)
    if not isinstance(data, dict):
        raise ValueError("not an object")
    if data.get("sequence") is not None:
        return Entry(_sequence(data["sequence"]), _text(data, "program"), _text(data, "generation"), *_labels(data))
    if "sequence_input" in data:
        return Entry(_sequence(data["sequence_input"]), None, _text(data, "program"), *_labels(data))
    if "prompt" in data and "generation" in data:
        found = _found_list(_text(data, "prompt") or "")
        return Entry(_sequence(decoded(found[1])), None, _text(data, "generation"), *_labels(data))
    if isinstance(data.get("text"), str):
        found = _found_list(data["text"])
        statements = _STATEMENT.findall(data["text"], found.end())
        return Entry(_sequence(decoded(found[1])), "\n".join(statements) or None, None, *_labels(data))
    raise ValueError("no `sequence` in it")


def _found_list(text: str) -> re.Match[str]:
    found = _AFTER_WORDS.search(text) or _AFTER_COLON.search(text)
    if found is None:
        raise ValueError('text without "following sequence:" and a list of integers')
    return found


def _sequence(value: Any) -> tuple[int, ...]:
    if isinstance(value, str):
        value = [ord(c) for c in value]
    if not isinstance(value, list) or not value:
        raise ValueError("`sequence` must be a list of integers that is not empty, or a string")
    if any(type(x) is not int for x in value):
        place, wrong = next((i, x) for i, x in enumerate(value, start=1) if type(x) is not int)
        raise ValueError(f"`sequence` must be a list of integers; item {place} is {json.dumps(wrong)[:40]}")
    return tuple(value)


def _text(data: dict[str, Any], key: str) -> str | None:
    value = data.get(key)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"`{key}` must be a string")
    return value


def label(data: dict[str, Any], key: str) -> str | None:
    """A name, which may be a whole number."""
    value = data.get(key)
    name = str(value) if type(value) is int else _text(data, key)
    if name is not None and (wrong := unfit(name)):
        raise ValueError(f"`{key}` {wrong}")
    return name


def _labels(data: dict[str, Any]) -> tuple[str | None, str | None, str | None]:
    """(bucket, modality, task_id). `family` and `level` are a bucket too."""
    bucket, modality = label(data, "bucket"), label(data, "modality")
    level = data.get("level")
    if bucket is None and (family := label(data, "family") or (None if level is None else modality or "sequences")):
        bucket = family if level is None else f"{family}/{_whole(level)}"
    return bucket, modality, label(data, "task_id")


def _whole(level: Any) -> int:
    if (type(level) is int and level >= 0) or (isinstance(level, str) and level.isdecimal()):
        return int(level)
    raise ValueError("`level` of a sequence must be a whole number")
