"""A row of anybody's file with the keys that this project's own files have, and what is to be said of how it was read."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from kolmocli.tasks.answers.boxes import last_answer
from kolmocli.tasks.answers.places import STATED
from kolmocli.tasks.files import cases, choices
from kolmocli.tasks.files.buckets import level_of
from kolmocli.tasks.files.guessed import EVIDENCE, NATIVE, guessed, is_native
from kolmocli.tasks.files.layouts import Columns, layout_of
from kolmocli.tasks.files.values import answers, conversation, is_empty, megabytes, seconds, structured, value_at

_ROUTES = ("test_list", "test", "inputs", "outputs", "answer", "fn_name", "base_input", "plus_input", "target", "nums")
"""Keys by which a row is known; those that another set uses for something else are taken out of it."""
_MORE = frozenset({"test_imports", "test_setup_code", "atol"})
"""Keys that are read in addition to the tests."""
_DEFINED = re.compile(r"\bdef\s+(\w+)\s*\(")
_UNIT = re.compile(r"\s*(.*\S)\s*\([^()]*\)\s*")
"""ASDiv's `4 (fruits)`."""
_MIXED = re.compile(r"\A([0-9]+)\(([0-9]+/[0-9]+)\)\Z")
"""Math23K's `3(1/2)`."""
_PYTHON_3 = (3, "3", "PYTHON3", "python3", "python")


@dataclass(frozen=True, slots=True)
class Reading:
    """`said` is how the row was read, where that is not plain; `unused` are the columns that hold a part of the task and that
    nothing was made of."""

    row: dict[str, Any]
    said: str = ""
    unused: tuple[str, ...] = ()


def read_row(row: dict[str, Any], named: Columns | None = None) -> Reading:
    """The row with our own keys; `named` are the columns that a user names.

    Raises:
        ValueError: a column holds something else than it should.
    """
    if named is None and "code_context" in row and "reference_code" in row:
        raise ValueError(
            "a row of DS-1000: its tests are code around the answer, and compare objects of pandas and others"
        )
    if named is None and (why := _beyond_a_check(row)):
        raise ValueError(why)
    layout = None if named is not None else layout_of(row)
    columns = named or (layout.columns if layout is not None else guessed(row))
    if (not columns.tests and not columns.answer) or not columns.prompt:
        return Reading(row)
    unknown = named is not None and [name for name in sorted(columns.used()) if value_at(row, name) is None]
    if unknown:
        raise ValueError(f"no `{unknown[0]}` in it, which --columns names; it has {', '.join(map(str, row))}"[:300])
    native = layout is None and named is None and is_native(columns)
    made = _assembled(row, columns, native)
    used = columns.used() | _MORE
    unused = tuple(sorted(key for key in row if key.lower() in EVIDENCE and key not in used and not is_empty(row[key])))
    if native:
        return Reading(made, "", unused)
    return Reading(made, _said(layout.name if layout else "", columns, row), unused)


def _beyond_a_check(row: Mapping[str, Any]) -> str:
    """Why rows of NuminaMath, CodeContests or Codeforces cannot be judged by what they hold; empty where they can."""
    if "problem_type" in row and str(row.get("answer")).strip().lower() in ("proof", "notfound"):
        return f"`answer` is {row['answer']!r}: there is none to compare with"
    if row.get("input_mode") == "file" or ("public_tests" in row and not is_empty(row.get("input_file"))):
        return "its programs read a file; only what is read from standard input is judged"
    return "its programs talk with a judge" if not is_empty(row.get("interaction_format")) else ""


def _said(name: str, columns: Columns, row: Mapping[str, Any]) -> str:
    """`read as MATH-500: `problem`, `answer`, level from `level``"""
    parts = [*(part.strip() for part in columns.prompt.split("+")), columns.starter, *_apart(row, columns.choices)]
    parts += [*(part.strip() for path in columns.tests for part in path.split("+")), columns.answer]
    held = [f"`{part}`" for part in parts if part and value_at(row, part) is not None]
    also = {"reference": columns.reference, "level": columns.level, "task_id": columns.task_id}
    held += [
        f"{what} from `{path}`" for what, path in also.items()
        if path and value_at(row, path) is not None and not (what == "task_id" and row.get("task_id") is not None)
    ]  # fmt: skip
    return f"read as {name}: {', '.join(held)}" if name else f"read by the names of its columns: {', '.join(held)}"


def _assembled(row: Mapping[str, Any], columns: Columns, native: bool) -> dict[str, Any]:
    (asked, system), held = _prompt(row, columns), _tests(row, columns)
    made = {key: value for key, value in row.items() if key not in _ROUTES} | held
    if asked is not None:
        made = {key: value for key, value in made.items() if key not in NATIVE} | {"prompt": asked}
    if system:
        made["system"] = system
    if "answer" in held or columns.answer:
        _answer(made, row, columns, held.get("answer"))
    _reference(made, row, columns)
    _labels(made, row, columns, native)
    return made


def _prompt(row: Mapping[str, Any], columns: Columns) -> tuple[str | None, str]:
    """The question, with the code that it begins with and the choices; and the system prompt."""
    parts, system = list[str](), ""
    for path in columns.prompt.split("+"):
        value = value_at(row, path.strip())
        talk = conversation(structured(value) if isinstance(value, str) and value.lstrip()[:2] == "[{" else value)
        if talk is not None:
            value, system = talk
        if isinstance(value, str):
            parts.append(value if columns.prompt == path else value.strip())
        elif value is not None:
            raise ValueError(f"`{path.strip()}` is neither text nor messages")
    if not parts:
        return None, system
    if columns.call:
        parts.append(
            f"What does `f({value_at(row, columns.call) or ''})` return? Answer with the value as Python writes it."
        )
    starter = value_at(row, columns.starter) if columns.starter else None
    if isinstance(starter, str) and starter.strip():
        parts.append(starter.rstrip())
    return "\n\n".join(parts) if len(parts) > 1 else parts[0], system


def _tests(row: Mapping[str, Any], columns: Columns) -> dict[str, Any]:
    if not columns.tests:
        return {}
    if columns.tests == ("base_input", "plus_input"):
        return {key: row[key] for key in columns.tests if row.get(key) is not None}
    if columns.tests[0] == "target":
        return {key: value_at(row, path) for key, path in zip(("target", "nums"), columns.tests, strict=True)}
    name = value_at(row, columns.fn_name) if columns.fn_name else None
    if name is None and columns.starter and isinstance(starter := value_at(row, columns.starter), str):
        found = _DEFINED.findall(starter)
        name = found[-1] if found else None
    if columns.tests == ("inputs", "outputs"):
        given = {"inputs": row["inputs"], "outputs": row["outputs"], "fn_name": name}
        return _of("inputs", lambda: cases.read_cases(given))
    if "+" in columns.tests[0]:  # code that stands in several columns, or in the lines of one
        values = [value_at(row, path.strip()) or [] for path in columns.tests[0].split("+")]
        return {"test": "\n".join("\n".join(each) if isinstance(each, list) else each for each in values)}
    if columns.tests in (("test",), ("tests",)):
        value = value_at(row, columns.tests[0])
        if isinstance(value, str) and structured(value) is None:
            return {"test": value}
    return cases.joined_cases([_of(path, partial(_one, value_at(row, path), name, path)) for path in columns.tests])


def _one(value: Any, name: Any, path: str) -> dict[str, Any]:
    if path == "reward_model.ground_truth":  # an answer, unless it is tests
        inner = structured(value) if isinstance(value, str) else value
        if isinstance(inner, Mapping) and "target" in inner:
            nums = inner.get("numbers", inner.get("nums"))
            return {"answer": inner["target"]} if nums is None else {"target": inner["target"], "nums": nums}
        if not isinstance(inner, Mapping) and not (isinstance(inner, list) and inner and isinstance(inner[0], Mapping)):
            if isinstance(value, str) and ("assert " in value or "def check" in value):
                return {"test": value}
            if isinstance(inner, list) and all(isinstance(each, str) and each.startswith("assert") for each in inner):
                return {"test_list": inner}
            return {} if value is None else {"answer": inner if _are_texts(inner) else value}
    if (
        isinstance(name, str)
        and isinstance(value, str)
        and "stdin" in value[:2000]
        and "functional" not in value[:2000]
    ):
        name = None
    return cases.read_cases(value, None if name is None else str(name))


def _are_texts(value: Any) -> bool:
    """Whether these are accepted answers. `[-1, 5]` is one: an interval, a vector."""
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _of(path: str, read: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return read()
    except ValueError as error:
        raise ValueError(f"`{path}`: {error}") from None


def _answer(made: dict[str, Any], row: Mapping[str, Any], columns: Columns, held: Any) -> None:
    path = columns.answer or columns.tests[0]
    value = value_at(row, path) if held is None else held
    if value is None:
        value = row.get(path)
    if columns.boxed:
        box, said = last_answer(str(value)), STATED.search(str(value))
        if box is None and said is None:
            raise ValueError(f"`{path}` has no \\boxed{{}} with an answer")
        made["answer"], made["solution"] = said[1] if box is None and said else box.held if box else "", str(value)
        return
    offers = [value_at(row, name) for name in _apart(row, columns.choices)] if columns.choices else [None]
    if offers[0] is not None:
        offered = _offered(columns.choices, offers if len(offers) > 1 else offers[0])
        made["prompt"] = f"{made['prompt'].rstrip()}\n\n{choices.shown(offered)}"
        made["answer"] = choices.right_answers(offered, value, columns.first)
        return
    if columns.wrong:
        others = [str(value_at(row, name)) for name in columns.wrong if value_at(row, name) is not None]
        offered = choices.read_choices(choices.mixed(str(value).strip(), [other.strip() for other in others]))
        made["prompt"] = f"{made['prompt'].rstrip()}\n\n{choices.shown(offered)}"
        at = [text for _, text in offered].index(str(value).strip())
        made["answer"] = choices.right_answers(offered, at)
        return
    if isinstance(value, str) and path.lower().endswith("answers") and _are_texts(inner := structured(value)):
        value = inner
    try:
        found = answers(value)
    except ValueError as error:
        raise ValueError(f"`{path}` is {error}") from None
    if row.get("is_multiple_answer") is True or columns.answer in ("lSolutions", "answers_spans.spans"):
        found = [", ".join(found)]
    if "body" in columns.prompt.lower() and (unit := _UNIT.fullmatch(found[0])) is not None:
        found = [unit[1]]
    if columns.prompt == "original_text":
        found = [_MIXED.sub(r"\1 \2", found[0])]
    made["answer"] = found if len(found) > 1 else found[0]


def _apart(row: Mapping[str, Any], path: str) -> list[str]:
    """The columns of choices, and those that go on from them: E behind A, B, C and D."""
    names = [name.strip() for name in path.split("+")]
    while len(names) > 1 and value_at(row, after := names[-1][:-1] + chr(ord(names[-1][-1]) + 1)) is not None:
        names.append(after)
    return names


def _offered(path: str, value: Any) -> list[tuple[str, str]]:
    try:
        return choices.read_choices(value)
    except ValueError as error:
        raise ValueError(f"`{path}` is {error}") from None


def _reference(made: dict[str, Any], row: Mapping[str, Any], columns: Columns) -> None:
    """The reference program, or the working of an answer."""
    value = value_at(row, columns.reference) if columns.reference else None
    if value is None or columns.boxed:
        return
    code = _program(value)
    for key in ("canonical_solution", "code", "program", "solution"):
        made.pop(key, None)
    if isinstance(code, str) and code.strip():
        made["solution" if "answer" in made else "canonical_solution"] = code


def _program(value: Any) -> Any:
    """The first of several solutions; of CodeContests' the first in Python 3."""
    if isinstance(value, str):
        inner = structured(value)
        value = value if inner is None else inner
    if isinstance(value, Mapping):
        texts, languages = value.get("solution") or [], value.get("language") or []
        return next((text for text, language in zip(texts, languages, strict=False) if language in _PYTHON_3), None)
    if isinstance(value, list):
        value = next((each for each in value if isinstance(each, str)), None)
    return value


def _labels(made: dict[str, Any], row: Mapping[str, Any], columns: Columns, native: bool) -> None:
    for key in ("entry_point", "opening"):
        path = getattr(columns, key)
        if not native:
            made.pop(key, None)
        if path and isinstance(value := value_at(row, path), str):
            made[key] = value
    if not native:
        made.pop("level", None)
        with contextlib.suppress(ValueError):  # of a set that knows it only of some rows
            if columns.level:
                made["level"] = level_of(value_at(row, columns.level), columns.level)
    if row.get("task_id") is None and columns.task_id:
        value = value_at(row, columns.task_id)
        if type(value) in (int, str):
            made["task_id"] = value
    for key, read in (("time_limit", seconds), ("memory_limit", megabytes)):
        path = getattr(columns, key)
        made.pop(key, None)
        if path and (limit := read(value_at(row, path))) is not None:
            made[key] = limit
