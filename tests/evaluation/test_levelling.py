"""Levels for a file from a model's own pass rate: what is written, and that nothing is lost or written over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kolmocli.curriculum.base import Bucket
from kolmocli.errors import KolmoError, UsageError
from kolmocli.evaluation.intervals import wilson
from kolmocli.evaluation.levelling import _Measured, _rows, _set_levels, level_file
from kolmocli.evaluation.selection import Wanted, config_for
from kolmocli.sandbox.base import Status
from kolmocli.tasks.answers.task import AnswerTask
from kolmocli.tasks.base import Task
from kolmocli.tasks.files.taskfile import read_tasks
from kolmocli.tasks.files.tasks import DatasetTasks, ListedTasks
from kolmocli.tasks.outcome import Outcome
from tests.tasks.files.test_listing import HUMAN_EVAL, QUESTION, SEQUENCE, write

PASSED, FAILED = Outcome("", 1, True, Status.OK, 1.0), Outcome("", 1, False, Status.OK, 0.0)
LOST = Outcome("", 1, False, Status.INFRA, None)


def measured(*outcomes: Outcome, **row: Any) -> _Measured:
    return _Measured(row, Task(prompt="?", check=bool, bucket=Bucket("a", 1)), list(outcomes))


def test_levels_hold_equally_many_tasks_and_those_that_pass_most_come_first() -> None:
    family = [measured(*[PASSED] * k, *[FAILED] * (4 - k)) for k in (0, 4, 1, 3, 2, 4)]
    _set_levels(family, 3)
    assert [each.level for each in family] == [3, 1, 3, 2, 2, 1]


def test_tasks_that_pass_alike_are_of_one_level() -> None:
    family = [measured(FAILED, FAILED) for _ in range(5)] + [measured(PASSED, FAILED)]
    _set_levels(family, 4)
    assert [each.level for each in family] == [2] * 5 + [1]


def test_what_the_sandbox_lost_is_not_counted_and_a_task_that_it_lost_comes_last() -> None:
    family = [measured(LOST, LOST), measured(FAILED, LOST), measured(PASSED, LOST)]
    _set_levels(family, 3)
    assert [each.level for each in family] == [3, 2, 1]
    assert [json.loads(each.written())["pass_rate"] for each in family] == [None, 0.0, 1.0]


def test_a_row_keeps_what_it_says_and_gets_its_rate_with_an_interval() -> None:
    one = measured(PASSED, FAILED, FAILED, FAILED, question="é?", bucket="a/7", note=[1])
    one.level = 2
    assert json.loads(one.written()) == {
        "question": "é?", "note": [1], "family": "a",
        "pass_rate": 0.25, "pass_rate_ci": list(wilson(1, 4)), "level": 2,
    }  # fmt: skip


def level(data: str, output: Path, **options: Any) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "samples": 2, "levels": 4, "seed": None, "device": "cpu", "sandbox": "embedded", "force": False, "warn": print,
    }  # fmt: skip
    return level_file("tiny", Wanted(data=data), str(output), **{**settings, **options})


def test_a_file_is_written_again_and_read_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An untrained model passes nothing: one level of each family, with an interval that says how little is known."""
    data = write(tmp_path / "d.jsonl", QUESTION, "{", HUMAN_EVAL, {**SEQUENCE, "bucket": "ramps/3"})
    report = level(data, tmp_path / "o.jsonl")
    assert (report["tasks"], report["rollouts"], report["masked"]) == (3, 6, 0)
    assert {name: family["state"] for name, family in report["families"].items()} == {
        "questions": "below", "code": "below", "ramps": "below",
    }  # fmt: skip
    assert "d.jsonl:2: skipped: broken JSON" in capsys.readouterr().out
    written = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    assert [{key: row[key] for key in ("pass_rate", "level")} for row in written] == [
        {"pass_rate": 0.0, "level": 1}
    ] * 3
    assert written[0] == {**QUESTION, "pass_rate": 0.0, "pass_rate_ci": list(wilson(0, 2)), "level": 1}
    again = read_tasks(str(tmp_path / "o.jsonl"), pytest.fail)
    assert ListedTasks(again.listed, "train", 0).buckets() == [Bucket("code", 1), Bucket("questions", 1)]
    assert DatasetTasks(again.records, "train", 0).buckets() == [Bucket("ramps", 1)]


def test_a_file_is_asked_as_a_curriculum_says(tmp_path: Path) -> None:
    """Without it the columns are unknown, and with them the judge would be the usual one."""
    data = write(tmp_path / "d.jsonl", {"frage": "What is 1 + 1?", "antwort": "2"})
    mine = tmp_path / "mine.yaml"
    mine.write_text("data: {train: absent.jsonl, columns: 'prompt=frage,answer=antwort'}\nanswers: {judge: text}\n")
    wanted = Wanted(str(mine), data)
    level_file(
        "tiny", wanted, str(tmp_path / "o.jsonl"), samples=2, levels=4, seed=None, device="cpu", sandbox="embedded",
        force=False, warn=print,
    )  # fmt: skip
    assert json.loads((tmp_path / "o.jsonl").read_text())["frage"] == "What is 1 + 1?"
    (row,) = _rows(data, config_for("tiny", wanted), print)
    assert isinstance(row.task, AnswerTask)
    assert row.task.judge == "text"
    with pytest.raises(UsageError, match="no task in it"):
        level(data, tmp_path / "p.jsonl")


def test_nothing_is_written_over(tmp_path: Path) -> None:
    data, other = write(tmp_path / "d.jsonl", QUESTION), write(tmp_path / "o.jsonl", "mine")
    with pytest.raises(UsageError, match=r"d\.jsonl: is the input; name another output with -o"):
        level(data, tmp_path / "d.jsonl", force=True)
    with pytest.raises(KolmoError, match=r"o\.jsonl: exists already; use -f to overwrite it"):
        level(data, Path(other))
    with pytest.raises(UsageError, match="model 'none/such'"):
        level_file("none/such", Wanted(data=data), f"{tmp_path}/n.jsonl", samples=2, levels=4, seed=None, device="cpu",
                   sandbox="embedded", force=False, warn=print)  # fmt: skip
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.jsonl", "o.jsonl"]
    assert Path(other).read_text() == "mine\n"


def test_a_file_without_a_task_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no task in it"):
        level(write(tmp_path / "d.jsonl", "{"), tmp_path / "o.jsonl")
