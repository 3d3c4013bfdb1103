"""Functions from their examples: the tasks are right, told apart by their examples, and other ones in evaluation."""

from __future__ import annotations

import functools
import pickle
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

from kolmocli.curriculum.base import Bucket
from kolmocli.sandbox import Sandbox, open_sandbox
from kolmocli.tasks.chat import judged_text
from kolmocli.tasks.code.checks import Check, Checks
from kolmocli.tasks.code.task import CodeTask
from kolmocli.tasks.examples.family import EXAMPLES
from kolmocli.tasks.examples.shapes import draw
from kolmocli.tasks.examples.subjects import SUBJECTS, Subject
from kolmocli.tasks.examples.task import example_task, is_fair, is_held_out
from kolmocli.tasks.family import FamilyTasks, open_families
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Binary

SECTIONS = {name: EXAMPLES.settings(task="examples", of=name) for name in SUBJECTS}
TRAIN, EVAL = open_families(SECTIONS, "train", 0), open_families(SECTIONS, "eval", 0)
TERMS = Terms(Binary())
EACH = 20


def some(source: FamilyTasks) -> list[CodeTask]:
    return [source.task(bucket, index) for bucket in source.buckets() for index in range(EACH)]  # type: ignore[misc]


@functools.cache
def tasks_of(split: str) -> list[CodeTask]:
    return some({"train": TRAIN, "eval": EVAL}[split])


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with open_sandbox("embedded", workers=2) as sandbox:
        yield sandbox


def checks_of(task: CodeTask) -> tuple[Check, ...]:
    assert isinstance(task.tests, Checks)
    return task.tests.checks


def shown(task: CodeTask) -> int:
    return len(task.asked.text.splitlines())


def behaviour_of(task: CodeTask) -> tuple[Any, ...]:
    kept = checks_of(task)[shown(task) :]
    return tuple(check.expected for check in kept[: len(subject_of(task).landmarks)])


def subject_of(task: CodeTask) -> Subject:
    return dict[str, Subject](SUBJECTS)[task.bucket.family]


def test_every_shape_returns_in_a_sandbox_what_it_returns_here(box: Sandbox) -> None:
    rng = random.Random(0)
    tasks = [
        example_task(subject, draw([[shape]], 1, rng, 1.0), rng, Bucket(name, 1), 0)
        for name, subject in SUBJECTS.items()
        for rung in subject.ladder
        for shape in rung
        for _ in range(3)
    ]
    assert all(t.reference is not None and t.reference.startswith(t.prefix) for t in tasks)
    outcomes = judge(tasks, [str(t.reference) for t in tasks], box, TERMS)
    assert [t.reference for t, o in zip(tasks, outcomes, strict=True) if not o.passed] == []


def test_a_task_is_the_same_again_and_another_with_another_seed() -> None:
    bucket = Bucket("folds", 3)
    assert open_families(SECTIONS, "train", 0).task(bucket, 7) == TRAIN.task(bucket, 7)
    assert open_families(SECTIONS, "train", 1).task(bucket, 7) != TRAIN.task(bucket, 7)
    assert pickle.loads(pickle.dumps(TRAIN.task(bucket, 7))) == TRAIN.task(bucket, 7)


def test_evaluation_has_other_functions_whatever_the_seed() -> None:
    """Told apart by what they return, not by how they are written, at inputs that every task has."""
    other = some(open_families(SECTIONS, "eval", 3))
    trained = {(t.bucket.family, repr(behaviour_of(t))) for t in tasks_of("train")}
    assert not trained & {(t.bucket.family, repr(behaviour_of(t))) for t in [*tasks_of("eval"), *other]}
    assert not {t.reference for t in tasks_of("train")} & {t.reference for t in [*tasks_of("eval"), *other]}
    for split in ("train", "eval"):
        assert all(is_held_out(subject_of(t), behaviour_of(t)) == (split == "eval") for t in tasks_of(split))


def test_every_bucket_has_many_functions() -> None:
    for bucket in TRAIN.buckets():
        trained = {TRAIN.task(bucket, index).reference for index in range(80)}
        assert len(trained) > 50, bucket
        assert len({EVAL.task(bucket, index).reference for index in range(80)}) > 30, bucket


def test_landmarks_tell_functions_apart_that_are_written_differently() -> None:
    """So that nothing is held out of one that is taught as another."""
    for name, subject in SUBJECTS.items():
        seen: dict[str, str] = {}
        for task in (t for t in [*tasks_of("train"), *tasks_of("eval")] if t.bucket.family == name):
            first = seen.setdefault(repr(behaviour_of(task)), str(task.reference))
            assert first == task.reference
        assert len(seen) > 100
        assert len(subject.ladder) == 5


def test_hard_shapes_come_more_often_at_higher_levels() -> None:
    def share(level: int) -> float:
        tasks = [TRAIN.task(Bucket("numbers", level), index) for index in range(150)]
        return sum("x*x*" in str(t.reference) for t in tasks) / len(tasks)

    assert 0 < share(1) < share(3) < share(5)


def test_what_a_policy_is_shown() -> None:
    task = next(t for t in tasks_of("train") if t.bucket.family == "maps")
    *examples, last = task.asked.text.splitlines()
    assert last.startswith("f([1000, 0]) == [")
    assert len(examples) == 1
    assert task.asked.shortest.split(";")[-1].startswith("1000 0>")
    assert task.prefix == "def f(v): return "
    for task in [*tasks_of("train"), *tasks_of("eval")]:
        assert len(task.asked.shortest) < 80
        assert len(task.asked.text.splitlines()) >= 2


def test_what_repeats_the_shown_pairs_misses_the_others(box: Sandbox) -> None:
    """A table of all that was shown is no function, and neither is a constant or the argument itself."""
    tasks = tasks_of("train")[::11]
    for write in (_table, lambda task: "None", lambda task: task.prefix[6:].split(")")[0].split(",")[0]):
        texts = [task.prefix + write(task) for task in tasks]
        outcomes = judge(tasks, texts, box, TERMS)
        assert [text for text, o in zip(texts, outcomes, strict=True) if o.passed] == []


def _table(task: CodeTask) -> str:
    pairs = [(check.call.arguments[0], check.expected) for check in checks_of(task)[: shown(task)]]
    names = task.prefix.split("(")[1].split(")")[0]
    return f"dict({[(repr(tuple(inputs)), value) for inputs, value in pairs]!r}).get(repr(({names},)), {pairs[0][1]!r})"


def test_fair_functions_do_more_than_choose() -> None:
    numbers = SUBJECTS["numbers"]
    assert is_fair(numbers, [x + 1 for (x,) in numbers.landmarks])
    assert not is_fair(numbers, [x for (x,) in numbers.landmarks])
    assert not is_fair(numbers, [x > 3 for (x,) in numbers.landmarks])


IN_WORDS = open_families(
    {name: EXAMPLES.settings(task="examples", of=name, ask="words") for name in SUBJECTS}, "train", 0
)


def test_in_words_the_reference_passes_with_words_around_it_and_another_function_fails(box: Sandbox) -> None:
    tasks = [IN_WORDS.task(bucket, index) for bucket in IN_WORDS.buckets() for index in range(3)]
    right = [task.reference or "" for task in tasks]
    answers = [f"Here it is:\n```python\n{text}\n```\nIt works." for text in right]
    fenced = [judged_text(task, text) for task, text in zip(tasks, answers, strict=True)]
    wrong = [text.replace("return ", "return None and ") for text in right]
    for texts, passes in ((right, True), (fenced, True), (wrong, False)):
        assert [o.passed for o in judge(tasks, texts, box, TERMS)] == [passes] * len(tasks)


def test_in_words_every_constant_is_said_and_no_code_is_shown() -> None:
    for bucket in IN_WORDS.buckets():
        for index in range(5):
            task = IN_WORDS.task(bucket, index)
            expression = (task.reference or "").partition("return ")[2]
            assert set(re.findall(r"\d{2}", expression)) <= set(re.findall(r"\d{2}", task.asked.text))
            assert expression not in task.asked.text


def test_both_ways_of_asking_hold_out_the_same_functions() -> None:
    for bucket in TRAIN.buckets():
        by_example, in_words = TRAIN.task(bucket, 0), IN_WORDS.task(bucket, 0)
        assert (by_example.reference or "").partition("return ")[2] == (in_words.reference or "").partition("return ")[
            2
        ]
