"""Predictions for the tasks of a file: which task each is for, what they come to, and what is said of the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kolmocli.cli.eval_table import render
from kolmocli.errors import UsageError
from kolmocli.evaluation.foreign import Programs
from kolmocli.evaluation.joined import evaluate_joined
from kolmocli.evaluation.report import Reporting
from tests.tasks.files.test_listing import HUMAN_EVAL, MBPP, QUESTION, SCRIPT, SEQUENCE

EMBEDDED = Programs("python", 0.5, "embedded")
DATA = [HUMAN_EVAL, MBPP, SCRIPT, QUESTION, SEQUENCE]
RIGHT = [
    {"task_id": "HumanEval/0", "completion": "    return x + x\n"},
    {"task_id": 11, "solution": "```python\ndef double(x):\n    return x + x\n```"},
    {"task_id": "double", "generation": "print(2 * int(input()))"},
    {"task_id": "q/1", "completion": "3 and 3 are 6.\n[ANSWER] 6"},
    {"task_id": "s/1", "completion": "output = [1, 2, 3]"},
]
WRONG = [
    {"task_id": "HumanEval/0", "completion": "    return x\n"},
    {"task_id": "11", "completion": "def double(x):\n    return 6"},
    {"task_id": "double", "completion": "print(input() + ' ')"},
    {"task_id": "q/1", "completion": "[ANSWER] 7"},
    {"task_id": "s/1", "completion": "output = [1, 2]"},
]


def write(path: Path, rows: list[Any]) -> str:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return str(path)


def joined(
    tmp_path: Path, data: list[Any], predictions: list[Any], *, strict: bool = False, programs: Programs = EMBEDDED
) -> dict[str, Any]:
    names = write(tmp_path / "d.jsonl", data), write(tmp_path / "p.jsonl", predictions)
    return evaluate_joined(*names, programs, strict=strict)


@pytest.mark.parametrize("place", range(5))
def test_every_shape_is_judged(tmp_path: Path, place: int) -> None:
    for predictions, accuracy in ((RIGHT, 1.0), (WRONG, 0.0)):
        found = joined(tmp_path, [DATA[place]], [predictions[place]], strict=True)
        assert (found["n"], found["accuracy"], found["masked"]) == (1, accuracy, 0)
        assert (found["unanswered"], found["unknown"], found["failing_references"]) == (0, 0, 0)
        render(found)
        json.dumps(found, allow_nan=False)


def test_a_mixed_file_per_family(tmp_path: Path) -> None:
    found = joined(tmp_path, DATA, [*RIGHT[:2], WRONG[2], *RIGHT[3:]])
    assert found["accuracy"] == 0.8
    assert {name: (part["n"], part["accuracy"]) for name, part in found["families"].items()} == {
        "code": (2, 1.0), "questions": (1, 1.0), "scripts": (1, 0.0), "sequences": (1, 1.0),
    }  # fmt: skip
    assert list(found["buckets"]) == ["code/1", "questions/1", "scripts/1", "sequences/1"]
    assert found["language"] == "python"
    assert found["accuracy_lenient"] == 1.0


@pytest.mark.docker
def test_a_mixed_file_in_docker(tmp_path: Path) -> None:
    found = joined(tmp_path, DATA, [*RIGHT, *WRONG], programs=Programs("python", 2.0, "docker"))
    assert (found["accuracy"], found["pass_at_k"], found["masked"]) == (0.5, {"1": 0.5, "2": 1.0}, 0)


def questions(count: int) -> list[dict[str, Any]]:
    return [
        {"task_id": n, "question": f"{n}?", "answer": str(n), "family": "odd" if n % 2 else "even"}
        for n in range(count)
    ]


def answer(task: object, right: bool) -> dict[str, Any]:
    return {"task_id": task, "completion": f"[ANSWER] {task if right else 'no'}"}


def test_every_sample_counts(tmp_path: Path) -> None:
    """Of four samples each one, two and no right answers: pass@1 is the mean share, pass@2 is 1 − C(4−c, 2)/C(4, 2)."""
    samples = [answer(n, i < right) for i in range(4) for n, right in enumerate((1, 2, 0))]
    found = joined(tmp_path, questions(3), samples)
    assert found["samples"] == 4
    assert found["accuracy"] == pytest.approx((1 / 4 + 2 / 4) / 3)
    assert found["pass_at_k"] == {
        "1": pytest.approx(0.25), "2": pytest.approx((1 / 2 + 5 / 6) / 3), "4": pytest.approx(2 / 3),
    }  # fmt: skip
    for k, value in found["pass_at_k"].items():
        low, high = found["pass_at_k_ci"][k]
        assert 0 <= low < value < high <= 1
    assert found["accuracy_ci"] == found["pass_at_k_ci"]["1"]
    assert found["families"]["odd"]["accuracy"] == 0.5
    assert found["families"]["even"]["pass_at_k"]["4"] == 0.5


def test_k_goes_up_to_the_fewest_samples_that_a_task_has(tmp_path: Path) -> None:
    samples = [answer(0, True)] * 12 + [answer(1, False)] * 10
    found = joined(tmp_path, questions(2), samples)
    assert list(found["pass_at_k"]) == ["1", "2", "4", "8", "10"]
    assert (found["accuracy"], found["samples"]) == (0.5, 12)


def test_what_has_no_partner_is_named_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [answer(0, True), answer("q/9", True), {"task_id": 1}, {"completion": "x"}, "{", answer(1, False)]
    found = joined(tmp_path, questions(4), rows)
    assert (found["n"], found["accuracy"], found["unknown"], found["unanswered"]) == (2, 0.5, 1, 2)
    said = [line.replace(f"{tmp_path}/", "") for line in capsys.readouterr().err.splitlines()]
    assert said == [
        "p.jsonl:2: skipped: no task q/9 in the data",
        "p.jsonl:3: skipped: none of `completion`, `solution`, `generation` in it",
        "p.jsonl:4: skipped: no `task_id` in it",
        "p.jsonl: 6 bad place(s), predictions for 2 of 4 tasks kept",
    ]


def test_with_strict_it_ends(tmp_path: Path) -> None:
    good = [answer(n, True) for n in range(4)]
    assert joined(tmp_path, questions(4), good, strict=True)["accuracy"] == 1.0
    with pytest.raises(UsageError, match=r"p\.jsonl:5: no task q/9 in the data"):
        joined(tmp_path, questions(4), [*good, answer("q/9", True)], strict=True)
    with pytest.raises(UsageError, match=r"p\.jsonl: task 3: no prediction for it"):
        joined(tmp_path, questions(4), good[:3], strict=True)
    with pytest.raises(UsageError, match=r"d\.jsonl:5: `task_id` 0 again"):
        joined(tmp_path, questions(4) + questions(1), good, strict=True)


def test_nothing_to_judge(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"no prediction in it for a task of .*d\.jsonl; the two are joined by `task_id`"
    ):
        joined(tmp_path, questions(2), [answer(7, True)])
    with pytest.raises(UsageError, match="no task with a `task_id` in it"):
        joined(tmp_path, [{"sequence": [1]}], [answer(7, True)])


def test_figures_of_sequences_are_refused_where_there_are_none(tmp_path: Path) -> None:
    names = write(tmp_path / "d.jsonl", questions(2)), write(tmp_path / "p.jsonl", [answer(0, True)])
    with pytest.raises(UsageError, match=r"--kt-compatible and --search are for sequences, and .*d\.jsonl has none"):
        evaluate_joined(*names, EMBEDDED, strict=False, reporting=Reporting(search=0.1))


def test_two_sequences_of_one_id_are_one_too_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = joined(tmp_path, [SEQUENCE, {"task_id": "s/1", "sequence": [9]}], [RIGHT[4]])
    assert found["accuracy"] == 1.0
    assert "d.jsonl:2: skipped: `task_id` s/1 again" in capsys.readouterr().err


def test_programs_of_the_small_language(tmp_path: Path) -> None:
    row = {"task_id": "s/1", "completion": "sequence_1 = range_func_up(1, 3)\n"}
    found = joined(tmp_path, [SEQUENCE], [row], programs=Programs("dsl", 0.5, "embedded"))
    assert (found["accuracy"], found["language"]) == (1.0, "dsl")
    assert found["rate_archive"] is not None


def test_a_reference_that_fails_its_own_tests_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = {**MBPP, "code": "def double(x):\n    return x"}
    found = joined(tmp_path, [HUMAN_EVAL, wrong], RIGHT[:2])
    assert (found["accuracy"], found["failing_references"]) == (1.0, 1)
    said = capsys.readouterr().err
    assert "d.jsonl: task 11: its reference passes 50% of its tests" in said
    with pytest.raises(UsageError, match=r"d\.jsonl: task 11: its reference passes 50% of its tests"):
        joined(tmp_path, [HUMAN_EVAL, wrong], RIGHT[:2], strict=True)
