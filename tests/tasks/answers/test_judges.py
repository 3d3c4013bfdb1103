"""What each judge takes for the same answer, where it is chosen, and that a report names it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kolmocli.config.file import load_config
from kolmocli.errors import UsageError
from kolmocli.evaluation.foreign import Programs
from kolmocli.evaluation.joined import evaluate_joined
from kolmocli.paths import find_curriculum
from kolmocli.tasks.answers.formulas import described, installed, judge_of, version
from kolmocli.tasks.answers.judges import NAMES, RULES, JudgeName
from kolmocli.tasks.answers.shapes import question
from kolmocli.tasks.answers.task import AnswerTask
from kolmocli.tasks.sources import training_source
from tests.conftest import NO_ENGINE, Run

needs_math = pytest.mark.skipif(not installed(), reason="math-verify is not installed")
SAME: list[tuple[str, str, set[str]]] = [
    # right answer, answer, who takes them for one
    ("5", "5", {*NAMES}),
    ("5", "5.0", {"auto", "strict", "math"}),
    ("5", "6", set()),
    ("1/2", "0.5", {"auto", "strict", "math"}),
    ("1,2", "2,1", {"auto", "strict", "math"}),
    ("x^2+1", "x^2 + 1", {"auto", "strict", "math", "text"}),
    ("x^2+1", "1+x^2", {"auto", "math"}),
    ("x^2+1", "x^2+2", set()),
    ("Paris", "paris", {"auto", "strict", "math", "text"}),
    ("Paris", "London", set()),
    ("R", "r", {"text"}),
    ("A", "A", {"auto", "strict", "math", "text", "choice"}),
    ("A", "a", {"auto", "strict", "text", "choice"}),
    ("A", "(A) 5 km", {"auto", "strict", "choice"}),
    ("A", "B", set()),
    ("A,C", "C and A", {"auto", "strict", "math", "choice"}),
    ("a", "(A)", {"text", "choice"}),
    ("12", "12.", {"auto", "strict", "math", "text"}),
]  # fmt: skip


@needs_math
@pytest.mark.parametrize("judge", NAMES)
@pytest.mark.parametrize(("right", "given", "who"), SAME)
def test_what_a_judge_takes_for_the_same(right: str, given: str, who: set[str], judge: str) -> None:
    task = question({"question": "?", "answer": right, "judge": judge})
    assert task.read(f"\\boxed{{{given}}}").strict == (judge in who)


def test_a_judge_by_name_and_version() -> None:
    assert described("strict") == f"strict (rules {RULES})"
    assert described("text") == f"text (rules {RULES})"
    assert described("choice") == f"choice (rules {RULES})"
    assert described("auto") == f"auto (rules {RULES}, {version() or 'formulas as they are written'})"


@pytest.mark.parametrize("judge", ["strict", "text", "choice"])
def test_only_two_judges_ask_for_formulas(judge: JudgeName) -> None:
    assert not judge_of(judge).works


@pytest.mark.parametrize("value", ["exact", "Math", "", None, 3, True, ["math"], {"math": 1}])
def test_a_line_with_no_such_judge_is_refused_in_one_line(value: object) -> None:
    with pytest.raises(ValueError, match=r"`judge` .* is none; ") as caught:
        question({"question": "?", "answer": "7", "judge": value})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", ["exact", "Math", "", 3, True, ["math"], {"math": 1}])
def test_a_curriculum_with_no_such_judge_is_refused_in_one_line(value: object) -> None:
    with pytest.raises(UsageError, match=r"answers\.judge: ") as caught:
        load_config(find_curriculum("quickstart"), {"answers.judge": value})
    assert "\n" not in str(caught.value)


def test_a_curriculum_chooses_for_all_questions_that_do_not_choose_themselves(tmp_path: Path) -> None:
    data = tmp_path / "q.jsonl"
    rows = [{"question": f"{n}?", "answer": str(n)} for n in range(20)]
    rows += [{"question": f"{n}?", "answer": "A", "judge": "choice"} for n in range(20, 40)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = load_config(find_curriculum("quickstart"), {"data.train": str(data), "answers.judge": "strict"})
    source = training_source(config, pytest.fail)
    tasks = [source.task(bucket, index) for bucket in source.buckets() for index in range(40)]
    assert {(str(task.answer) == "A", task.judge) for task in tasks if isinstance(task, AnswerTask)} == {
        (False, "strict"), (True, "choice"),
    }  # fmt: skip


@needs_math
def test_a_report_names_its_judges(tmp_path: Path) -> None:
    rows = [
        {"task_id": "f", "question": "?", "answer": "x^2+1"},
        {"task_id": "t", "question": "?", "answer": "Paris", "judge": "text"},
    ]
    said = [{"task_id": "f", "completion": "\\boxed{1+x^2}"}, {"task_id": "t", "completion": "[ANSWER] paris"}]
    for name, lines in (("d", rows), ("p", said)):
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    report = evaluate_joined(str(tmp_path / "d"), str(tmp_path / "p"), Programs("python", 0.5, "embedded"), strict=True)
    assert report["accuracy"] == 1.0
    assert report["answer_judge"] == f"auto (rules {RULES}, {version()}); text (rules {RULES})"


def test_a_run_names_its_judge_and_an_unknown_one_ends_it(kolmo: Run, tmp_path: Path) -> None:
    data = tmp_path / "q.jsonl"
    data.write_text("".join(json.dumps({"question": f"{n}?", "answer": str(n)}) + "\n" for n in range(40)))
    small = ("model.name=tiny", "warmup.max_steps=1", "warmup.batch_size=4", "training.batch_size=4", "training.group_size=2",
             "training.max_new_tokens=8", "evaluation.tasks=4", "report=false")  # fmt: skip
    options = [option for setting in small for option in ("--set", setting)]
    train = ("train", "quickstart", "--data", data, "--steps", 1, "--run-dir", tmp_path / "run", *options)
    done = kolmo(*train, "--set", "answers.judge=strict", env=NO_ENGINE)
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["eval"]["after"]["answer_judge"] == f"strict (rules {RULES})"
    done = kolmo(*train, "--set", "answers.judge=exact", env=NO_ENGINE)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "answers.judge: " in done.stderr and len(done.stderr.strip().splitlines()) == 1
