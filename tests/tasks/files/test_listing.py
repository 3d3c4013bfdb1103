"""What the rows of a file are taken for, and what a bad one is called."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kolmocli.errors import UsageError
from kolmocli.tasks.answers.task import AnswerTask
from kolmocli.tasks.code.task import CodeTask
from kolmocli.tasks.files.listing import Listed, Sequenced, item
from kolmocli.tasks.files.taskfile import TaskFile, read_tasks

HUMAN_EVAL = {
    "task_id": "HumanEval/0",
    "prompt": 'def double(x: int) -> int:\n    """Twice x."""\n',
    "canonical_solution": "    return 2 * x\n",
    "test": "def check(candidate):\n    assert candidate(3) == 6\n    assert candidate(0) == 0\n",
    "entry_point": "double",
}
MBPP = {
    "task_id": 11,
    "text": "Write a function to double a number.",
    "code": "def double(x):\n    return 2 * x",
    "test_list": ["assert double(3) == 6", "assert double(0) == 0"],
    "test_setup_code": "",
}
SCRIPT = {"task_id": "double", "question": "Double the number on stdin.", "inputs": ["3\n"], "outputs": ["6\n"]}
QUESTION = {"task_id": "q/1", "question": "Twice three?", "answer": "2 * 3 = <<2*3=6>>6\n#### 6"}
SEQUENCE = {"task_id": "s/1", "sequence": [1, 2, 3], "program": "range_func_up(1, 3)"}


def write(path: Path, *rows: Any) -> str:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return str(path)


def listed(row: dict[str, Any], level_key: str | None = None) -> Listed:
    found, _ = item(row, level_key=level_key)
    assert isinstance(found, Listed)
    return found


@pytest.mark.parametrize(
    ("row", "kind", "family", "task_id"),
    [
        (HUMAN_EVAL, CodeTask, "code", "HumanEval/0"), (MBPP, CodeTask, "code", "11"),
        (SCRIPT, CodeTask, "scripts", "double"), (QUESTION, AnswerTask, "questions", "q/1"),
    ],
)  # fmt: skip
def test_a_row_is_known_by_its_keys(row: dict[str, Any], kind: type, family: str, task_id: str) -> None:
    found = listed(row)
    assert isinstance(found.task, kind)
    assert (found.family, found.level, found.task_id) == (family, None, task_id)


def test_a_file_may_mix_all_shapes(tmp_path: Path) -> None:
    file = read_tasks(write(tmp_path / "d.jsonl", HUMAN_EVAL, SEQUENCE, MBPP, QUESTION, SCRIPT), pytest.fail)
    assert [r.sequence for r in file.records] == [(1, 2, 3)]
    assert [each.task_id for each in file.listed] == ["HumanEval/0", "11", "q/1", "double"]
    assert file.languages == {"dsl", "python", "text"}
    assert TaskFile().languages == set()


@pytest.mark.parametrize(
    ("said", "family", "level"),
    [
        ({"family": "sums", "level": 3}, "sums", 3), ({"family": "sums"}, "sums", None), ({"level": 2}, "questions", 2),
        ({"bucket": "sums/4"}, "sums", 4), ({"bucket": "sums"}, "sums", 1), ({"level": "Level 5"}, "questions", 5),
        ({"level": "hard"}, "questions", 3), ({"level": 0.25}, "questions", 0.25),
    ],
)  # fmt: skip
def test_where_a_task_belongs(said: dict[str, Any], family: str, level: float | None) -> None:
    found = listed({**QUESTION, **said})
    assert (found.family, found.level) == (family, level)


def test_another_key_may_say_how_hard_a_task_is() -> None:
    row = {**QUESTION, "bucket": "a/9", "level": 7, "difficulty": "medium"}
    assert (listed(row, "difficulty").level, listed(row).family) == (2, "a")
    assert listed({**QUESTION, "metadata": '{"difficulty": "hard"}'}, "metadata.difficulty").level == 3
    assert [listed({**QUESTION, "pass_rate": rate}, "-pass_rate").level for rate in (0.25, "0.5")] == [-0.25, -0.5]
    assert listed({**QUESTION, "-n": 2}, "-n").level == 2
    with pytest.raises(ValueError, match="level"):
        item({**SEQUENCE, "hops": 3}, level_key="-hops")
    found, _ = item({**SEQUENCE, "hops": 3, "family": "runs"}, level_key="hops")
    assert isinstance(found, Sequenced)
    assert found.record.bucket == "runs/3"


@pytest.mark.parametrize(
    ("row", "bucket"),
    [
        ({"family": "ramps", "level": 2}, "ramps/2"), ({"family": "ramps"}, "ramps"), ({"level": 2}, "sequences/2"),
        ({"level": 2, "modality": "dna"}, "dna/2"), ({"bucket": "a/1", "family": "b"}, "a/1"), ({}, None),
    ],
)  # fmt: skip
def test_sequences_have_families_and_levels_too(row: dict[str, Any], bucket: str | None) -> None:
    found, _ = item({"sequence": [1], **row})
    assert isinstance(found, Sequenced)
    assert found.record.bucket == bucket


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("7", "not an object"),
        ({"prompt": "?"}, "no task in it: none of `sequence`, `test_list`, `test`, `inputs and outputs`, `answer`"),
        ({"question": "?", "inputs": [""]}, "no task in it"),
        ({**QUESTION, "answer": ""}, "`answer` is empty"),
        ({**QUESTION, "level": "much"}, "`level` must be a number, text that ends in one, or easy, medium or hard"),
        ({**QUESTION, "level": True}, "`level` must be a number"),
        ({"sequence": [1], "level": 1.5}, "`level` of a sequence must be a whole number"),
        ({**QUESTION, "family": ["a"]}, "`family` must be a string"),
        ({**MBPP, "test_list": []}, "test"),
        ({**HUMAN_EVAL, "test": "def check(candidate):\n    assert candidate(3) = 6\n"}, "test"),
        ({**HUMAN_EVAL, "entry_point": "triple"}, "triple"),
    ],
)
def test_a_bad_row_is_one_line(tmp_path: Path, row: Any, said: str) -> None:
    name, warnings = write(tmp_path / "d.jsonl", QUESTION, row), list[str]()
    assert len(read_tasks(name, warnings.append)) == 1
    assert warnings[0].startswith(f"{name}:2: skipped: ") and said in warnings[0]
    assert "\n" not in warnings[0]
    assert warnings[1:] == [f"{name}: 1 bad line(s) skipped, 1 kept"]
    with pytest.raises(UsageError, match=r"d\.jsonl:2: "):
        read_tasks(name, pytest.fail, strict=True)


def test_a_task_id_stands_for_one_task(tmp_path: Path) -> None:
    name, warnings = write(tmp_path / "d.jsonl", QUESTION, {**SCRIPT, "task_id": "q/1"}, SCRIPT), list[str]()
    assert [each.task_id for each in read_tasks(name, warnings.append).listed] == ["q/1", "double"]
    assert warnings[0] == f"{name}:2: skipped: `task_id` q/1 again, after line 1"


def test_a_file_without_a_task_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no task in it; every line needs the keys of one"):
        read_tasks(write(tmp_path / "d.jsonl"), pytest.fail)
