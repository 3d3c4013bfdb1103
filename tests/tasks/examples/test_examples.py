"""Functions from their examples: the tasks are right, told apart by their examples, and other ones in evaluation."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from kolmocli.curriculum.base import Bucket
from kolmocli.sandbox import Sandbox, open_sandbox
from kolmocli.sandbox.base import Status
from kolmocli.tasks.code.checks import Check, Checks
from kolmocli.tasks.examples.family import EXAMPLES
from kolmocli.tasks.examples.shapes import draw
from kolmocli.tasks.examples.subjects import SUBJECTS
from kolmocli.tasks.examples.task import ExampleTask, example_task, is_fair, is_held_out
from kolmocli.tasks.family import FamilyTasks, open_families
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Outcome, Terms
from kolmocli.tasks.reward import Binary

SECTIONS = {name: EXAMPLES.settings(task="examples", of=name) for name in SUBJECTS}
TRAIN, EVAL = open_families(SECTIONS, "train", 0), open_families(SECTIONS, "eval", 0)
TERMS = Terms(Binary())
EACH = 20


def some(source: FamilyTasks) -> list[ExampleTask]:
    return [source.task(bucket, index) for bucket in source.buckets() for index in range(EACH)]  # type: ignore[misc]


TASKS = {"train": some(TRAIN), "eval": some(EVAL)}


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with open_sandbox("embedded", workers=1) as sandbox:
        yield sandbox


def checks_of(task: ExampleTask) -> tuple[Check, ...]:
    assert isinstance(task.tests, Checks)
    return task.tests.checks


def behaviour_of(task: ExampleTask) -> tuple[Any, ...]:
    kept = checks_of(task)[task.shown :]
    return tuple(check.expected for check in kept[: len(SUBJECTS[task.subject].landmarks)])


def task_of(subject: str, expression: str) -> ExampleTask:
    """The first task of the easiest training bucket whose function is written so."""
    found = (TRAIN.task(Bucket(subject, 1), index) for index in count())
    return next(t for t in found if isinstance(t, ExampleTask) and t.reference == t.prefix + expression)


def outcome_of(task: ExampleTask, expression: str, box: Sandbox) -> Outcome:
    return judge([task], [task.prefix + expression], box, TERMS)[0]


def test_every_shape_returns_in_a_sandbox_what_it_returns_here(box: Sandbox) -> None:
    rng = random.Random(0)
    tasks = [
        example_task(name, draw([[shape]], 1, rng), rng, Bucket(name, 1), 0)
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
    trained = {(t.subject, repr(behaviour_of(t))) for t in TASKS["train"]}
    assert not trained & {(t.subject, repr(behaviour_of(t))) for t in [*TASKS["eval"], *other]}
    assert not {t.reference for t in TASKS["train"]} & {t.reference for t in [*TASKS["eval"], *other]}
    for split, tasks in TASKS.items():
        assert all(is_held_out(SUBJECTS[t.subject], behaviour_of(t)) == (split == "eval") for t in tasks)


def test_every_bucket_has_many_functions() -> None:
    for bucket in TRAIN.buckets():
        trained = {TRAIN.task(bucket, index).reference for index in range(80)}
        assert len(trained) > 50, bucket
        assert len({EVAL.task(bucket, index).reference for index in range(80)}) > 30, bucket


def test_landmarks_tell_functions_apart_that_are_written_differently() -> None:
    """So that nothing is held out of one that is taught as another."""
    for name, subject in SUBJECTS.items():
        seen: dict[str, str] = {}
        for task in (t for t in [*TASKS["train"], *TASKS["eval"]] if t.subject == name):
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
    task = next(t for t in TASKS["train"] if t.subject == "maps")
    *examples, last = task.asked.text.splitlines()
    assert last.startswith("f([1000, 0]) == [")
    assert len(examples) == 1
    assert task.asked.shortest.split(";")[-1].startswith("1000 0>")
    assert task.prefix == "def f(v): return "
    for task in [*TASKS["train"], *TASKS["eval"]]:
        assert len(task.asked.shortest) < 80
        assert len(task.asked.text.splitlines()) == task.shown >= 2


def test_what_repeats_the_shown_pairs_misses_the_others(box: Sandbox) -> None:
    """A table of all that was shown is no function, and neither is a constant or the argument itself."""
    tasks = TASKS["train"][::11]
    for write in (_table, lambda task: "None", lambda task: task.prefix[6:].split(")")[0].split(",")[0]):
        texts = [task.prefix + write(task) for task in tasks]
        outcomes = judge(tasks, texts, box, TERMS)
        assert [text for text, o in zip(texts, outcomes, strict=True) if o.passed] == []


def _table(task: ExampleTask) -> str:
    pairs = [(check.call.arguments[0], check.expected) for check in checks_of(task)[: task.shown]]
    names = task.prefix.split("(")[1].split(")")[0]
    return f"dict({[(repr(tuple(inputs)), value) for inputs, value in pairs]!r}).get(repr(({names},)), {pairs[0][1]!r})"


def test_a_miss_is_the_right_answer_to_another_task(box: Sandbox) -> None:
    task = task_of("numbers", "x+66")
    missed = next(f"x+{n}" for n in range(10, 99) if not _is_held_out("numbers", f"x+{n}") and n != 66)
    found = task.relabelled(outcome_of(task, missed, box), TRAIN)
    assert found is not None
    assert found.reference == task.prefix + missed
    assert found.asked.shortest.endswith(f"0>{missed[2:]}")
    assert found.bucket == task.bucket
    assert outcome_of(found, missed, box).passed
    assert not outcome_of(found, "x+66", box).passed


def _is_held_out(name: str, expression: str) -> bool:
    constant = int(expression.removeprefix("x+"))
    return is_held_out(SUBJECTS[name], [x + constant for (x,) in SUBJECTS[name].landmarks])  # type: ignore[index]


def test_what_is_held_out_is_not_taught_in_hindsight(box: Sandbox) -> None:
    task = task_of("numbers", "x+66")
    held = next(f"x+{n}" for n in range(10, 99) if _is_held_out("numbers", f"x+{n}"))
    assert task.relabelled(outcome_of(task, held, box), TRAIN) is None


@pytest.mark.parametrize("expression", ["x", "7", "x+66", "'x'", "x/2", "[x]", "1//0", "x+", "max(x,0)>5", "None"])
def test_nothing_is_learnt_from_what_is_no_function_of_the_subject(expression: str, box: Sandbox) -> None:
    """Constants, the argument itself, what passed, other types, what fails, and what is no Python."""
    task = task_of("numbers", "x+66")
    assert task.relabelled(outcome_of(task, expression, box), TRAIN) is None


def test_fair_functions_do_more_than_choose() -> None:
    numbers = SUBJECTS["numbers"]
    assert is_fair(numbers, [x + 1 for (x,) in numbers.landmarks])
    assert not is_fair(numbers, [x for (x,) in numbers.landmarks])
    assert not is_fair(numbers, [x > 3 for (x,) in numbers.landmarks])


def test_a_lost_verdict_teaches_nothing() -> None:
    task = TASKS["train"][0]
    assert task.relabelled(Outcome(str(task.reference), 1, False, Status.INFRA, None), TRAIN) is None
