"""Questions and code tasks of a file as tasks: their buckets, their order, and training apart from evaluation."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kolmocli.config import Config
from kolmocli.config.file import load_config
from kolmocli.curriculum.base import Bucket
from kolmocli.errors import UsageError
from kolmocli.evaluation.heldout import held_out_tasks
from kolmocli.paths import find_curriculum
from kolmocli.tasks.base import TaskSource
from kolmocli.tasks.files.listing import Listed, item
from kolmocli.tasks.files.tasks import DatasetTasks, ListedTasks
from kolmocli.tasks.mixed import MixedTasks
from kolmocli.tasks.sources import evaluation_source, training_source


def question(number: int, **said: Any) -> dict[str, Any]:
    return {"question": f"What is {number} doubled?", "answer": str(2 * number), **said}


def listed(*rows: dict[str, Any]) -> list[Listed]:
    found = [item(row)[0] for row in rows]
    return [each for each in found if isinstance(each, Listed)]


def levels(rows: list[dict[str, Any]], count: int = 4, **options: Any) -> dict[str, list[str]]:
    """The answers of each bucket."""
    tasks = ListedTasks(listed(*rows), "train", 0, count, **options)
    return {
        str(b): sorted((tasks.task(b, i).answer for i in range(tasks.size(b) or 0)), key=int)  # type: ignore[attr-defined]
        for b in tasks.buckets()
    }


def test_levels_of_the_file_are_closed_up() -> None:
    found = levels([question(1, level=7), question(2, family="b"), question(3, level=2), question(4, level="Level 2")])
    assert found == {"b/1": ["4"], "questions/1": ["6", "8"], "questions/2": ["2"]}


def test_without_levels_the_length_of_the_reference_decides() -> None:
    rows = [question(10**n) for n in range(8)]
    assert levels(rows, 2) == {
        "questions/1": [str(2 * 10**n) for n in range(4)],
        "questions/2": [str(2 * 10**n) for n in range(4, 8)],
    }


def test_without_references_the_length_of_the_prompt_does() -> None:
    scripts = [{"prompt": "x" * n, "inputs": [""], "outputs": [str(n)]} for n in (9, 1, 5, 3)]
    tasks = ListedTasks(listed(*scripts), "train", 0, 2)
    assert [sorted(len(tasks.task(b, i).asked.text) for i in range(2)) for b in tasks.buckets()] == [[1, 3], [5, 9]]


def test_one_task_without_a_level_leaves_its_family_without() -> None:
    found = levels([question(1, level=1), question(22, level=1), question(333)], 3)
    assert found == {"questions/1": ["2"], "questions/2": ["44"], "questions/3": ["666"]}


def test_a_measure_is_split_into_levels_of_equal_size() -> None:
    rows = [question(n, level=n / 8) for n in range(8)]
    assert levels(rows, 2) == {"questions/1": ["0", "2", "4", "6"], "questions/2": ["8", "10", "12", "14"]}


def test_every_task_may_be_a_level_of_its_own_in_their_order() -> None:
    rows = [question(n, level=level) for n, level in ((5, 2), (6, 1), (7, 2))]
    assert levels(rows, per_task=True) == {"questions/1": ["12"], "questions/2": ["10"], "questions/3": ["14"]}


def test_tasks_come_again_in_another_order_with_the_next_pass() -> None:
    tasks = ListedTasks(listed(*(question(n, level=1) for n in range(30))), "train", 0)
    bucket = Bucket("questions", 1)
    passes = [[tasks.task(bucket, 30 * epoch + i) for i in range(30)] for epoch in range(2)]
    texts = [[task.asked.text for task in one] for one in passes]
    assert Counter(texts[0]) == Counter(texts[1]) and len(set(texts[0])) == 30
    assert texts[0] != texts[1]
    assert [task.index for task in passes[1]] == list(range(30, 60))
    assert {task.bucket for task in passes[1]} == {bucket}
    assert ListedTasks(tasks.listed, "train", 1).task(bucket, 0) != tasks.task(bucket, 0)


def config(**settings: object) -> Config:
    return load_config(find_curriculum("quickstart"), settings)


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def prompts(source: TaskSource) -> set[str]:
    buckets = source.buckets()
    return {source.task(b, i).asked.text for b in buckets for i in range(source.size(b) or 0)}


def test_a_tenth_is_held_out_and_the_same_question_is_on_one_side(tmp_path: Path) -> None:
    rows = [question(n) for n in range(400)]
    again = [{**row, "question": row["question"].replace(" ", "  "), "answer": "0"} for row in rows]
    file = write(tmp_path / "d.jsonl", rows + again)
    chosen = config(**{"data.train": file})
    sides = [{" ".join(text.split()) for text in prompts(s)} for s in
             (training_source(chosen, pytest.fail), evaluation_source(chosen, pytest.fail))]  # fmt: skip
    assert not sides[0] & sides[1]
    assert len(sides[0] | sides[1]) == 400
    assert 20 <= len(sides[1]) <= 60


def test_what_the_evaluation_file_asks_is_not_trained_on(tmp_path: Path) -> None:
    train = write(tmp_path / "t.jsonl", [question(n) for n in range(20)])
    held = write(tmp_path / "e.jsonl", [question(n) for n in range(15, 30)])
    chosen, warnings = config(**{"data.train": train, "data.eval": held}), list[str]()
    assert len(prompts(training_source(chosen, warnings.append))) == 15
    assert warnings == [f"{train}: 5 records share a sequence, a skeleton or a prompt with evaluation and are left out"]


def test_evaluation_takes_no_bucket_for_every_task(tmp_path: Path) -> None:
    train = write(tmp_path / "t.jsonl", [question(n) for n in range(300)])
    chosen = config(**{"data.train": train, "data.per_task": True})
    assert len(training_source(chosen, print).buckets()) > 250
    source = evaluation_source(chosen, print)
    assert 1 < len(source.buckets()) <= 4
    assert len(held_out_tasks(source, 8)) <= 8 + len(source.buckets())


def test_sequences_of_a_file_may_be_levels_of_their_own_too(tmp_path: Path) -> None:
    train = write(tmp_path / "t.jsonl", [{"sequence": [n] * (1 + n % 7)} for n in range(100)])
    source = training_source(config(**{"data.train": train, "data.per_task": True}), print)
    assert all(source.size(bucket) == 1 for bucket in source.buckets())
    sizes = [source.task(bucket, 0).length for bucket in source.buckets()]
    assert sizes == sorted(sizes) or len(set(sizes)) == 7


def test_a_mixed_file_beside_families(tmp_path: Path) -> None:
    rows = [question(n) for n in range(100)] + [{"sequence": [n, 5], "bucket": "pairs/1"} for n in range(100)]
    chosen = config(**{"data.train": write(tmp_path / "d.jsonl", rows), "data.families": True})
    source = training_source(chosen, pytest.fail)
    assert isinstance(source, MixedTasks)
    assert {"questions", "pairs", *chosen.families} == {bucket.family for bucket in source.buckets()}
    assert chosen.languages == {"dsl", "text"} and chosen.alphabet == "characters"


def test_sequences_and_questions_of_one_name_are_refused(tmp_path: Path) -> None:
    rows = [question(n, family="pairs") for n in range(100)] + [
        {"sequence": [n, 5], "bucket": "pairs"} for n in range(100)
    ]
    with pytest.raises(UsageError, match="buckets of the family 'pairs'"):
        training_source(config(**{"data.train": write(tmp_path / "d.jsonl", rows)}), print)


def test_a_configuration_knows_what_its_file_holds(tmp_path: Path) -> None:
    """Nothing is run for questions alone; the small language's tokens are for sequences alone."""
    asked = write(tmp_path / "q.jsonl", [question(n) for n in range(40)])
    made = write(tmp_path / "s.jsonl", [{"sequence": [n, 5]} for n in range(40)])
    only = config(**{"data.train": asked})
    assert (only.languages, only.runs_programs, only.alphabet) == ({"text"}, False, "characters")
    sequences = config(**{"data.train": made})
    assert (sequences.languages, sequences.runs_programs, sequences.alphabet) == ({"dsl"}, True, "programs")
    both = config(**{"data.train": asked, "data.eval": made})
    assert (both.languages, both.runs_programs, both.alphabet) == ({"dsl", "text"}, True, "characters")
    assert isinstance(training_source(sequences, print), DatasetTasks)


@pytest.mark.parametrize(
    ("key", "order", "notes"),
    [("pass_rate", "462", 1), ("-pass_rate", "264", 0), ("level", "246", 0), ("-level", "642", 0)],
)
def test_more_is_easier_by_a_key_with_a_minus(tmp_path: Path, key: str, order: str, notes: int) -> None:
    rows = [question(n, pass_rate=rate, level=n) for n, rate in ((1, 0.9), (2, 0.1), (3, 0.5))]
    chosen = config(**{"data.train": write(tmp_path / "d.jsonl", rows), "data.level_key": key, "data.eval": None})
    said: list[str] = []
    source = training_source(chosen, said.append)
    assert len(said) == notes
    assert [source.task(b, 0).answer for b in source.buckets()] == [*order]  # type: ignore[attr-defined]
