"""The digit tasks: what is asked, what the answer is, and that no question of evaluation is asked in training."""

from __future__ import annotations

import re

import pytest

from kolmocli.config import Config
from kolmocli.curriculum.base import Bucket
from kolmocli.errors import UsageError
from kolmocli.tasks.answers.digits import is_held_out, reverse_digits, sum_digits
from kolmocli.tasks.answers.parsing import extract_answer, strict_answer
from kolmocli.tasks.answers.settings import ReverseDigits, SumDigits
from kolmocli.tasks.answers.task import AnswerTask
from kolmocli.tasks.family import FamilyTasks, open_families
from kolmocli.tasks.sources import evaluation_source, training_source

SUM = SumDigits.model_validate({"task": "sum_digits", "levels": [{"integers": [1, 1], "digits": [2, 2]}, {}]})
REVERSE = ReverseDigits.model_validate({"task": "reverse_digits", "levels": [{"digits": [3, 3]}, {}]})
FAMILIES = {"sums": SUM, "backwards": REVERSE}
TRAIN, EVAL = open_families(FAMILIES, "train", 0), open_families(FAMILIES, "eval", 0)


def numbers_of(task: AnswerTask) -> list[int]:
    return [int(n) for n in re.findall(r"\d+", task.asked.text)]


def test_sums_are_asked_and_worked_out() -> None:
    task = sum_digits([123, 45, 67])
    assert task.answer == 28
    assert task.asked.text == "What is the total digit sum of [123, 45, 67]?"
    assert task.asked.short == "sum 123 45 67"
    assert task.reference == "1:1 2:3 3:6\n4:10 5:15\n6:21 7:28\n[ANSWER] 28"


def test_zeros_that_a_reversed_number_would_begin_with_are_dropped() -> None:
    task = reverse_digits([1200])
    assert task.answer == 21
    assert task.asked.text == "What is 1200 reversed?"
    assert task.reference == "0 0 2 1\n[ANSWER] 21"


@pytest.mark.parametrize("make", [sum_digits, reverse_digits])
def test_the_worked_example_of_the_system_prompt_is_right(make: object) -> None:
    asked = {sum_digits: [31, 508], reverse_digits: [90720]}[make]  # type: ignore[index]
    task = make(asked)  # type: ignore[operator]
    assert task.asked.system.endswith(f"Example. {task.asked.text}\n{task.reference}")


def test_the_defaults_are_the_founding_ranges() -> None:
    sums = [numbers_of(TRAIN.task(Bucket("sums", 2), i)) for i in range(400)]
    assert {len(numbers) for numbers in sums} == {2, 3, 4}
    assert all(10 <= n <= 999 for numbers in sums for n in numbers)
    assert min(map(min, sums)) < 30
    backwards = [numbers_of(TRAIN.task(Bucket("backwards", 2), i))[0] for i in range(400)]
    assert all(100_000 <= n <= 9_999_999 for n in backwards)
    assert {len(str(n)) for n in backwards} == {6, 7}


@pytest.mark.parametrize("source", [TRAIN, EVAL], ids=["train", "eval"])
def test_every_worked_answer_is_right_and_of_the_form(source: FamilyTasks) -> None:
    for bucket in source.buckets():
        for task in (source.task(bucket, i) for i in range(50)):
            assert isinstance(task, AnswerTask)
            assert task.reference is not None
            assert strict_answer(task.reference) == extract_answer(task.reference) == task.answer
            digits = [int(d) for n in numbers_of(task) for d in str(n)]
            expected = sum(digits) if bucket.family == "sums" else int("".join(map(str, reversed(digits))))
            assert task.answer == expected


def test_a_task_is_the_same_again_and_another_with_another_seed() -> None:
    bucket = Bucket("sums", 2)
    assert open_families(FAMILIES, "train", 0).task(bucket, 7) == TRAIN.task(bucket, 7)
    assert open_families(FAMILIES, "train", 1).task(bucket, 7) != TRAIN.task(bucket, 7)


def test_no_question_of_evaluation_is_asked_in_training() -> None:
    """Whatever the seeds: of 90 numbers of two digits every one is drawn, and on one side only."""
    bucket = Bucket("sums", 1)
    sides = [
        {
            n
            for seed in range(4)
            for i in range(300)
            for n in numbers_of(open_families(FAMILIES, s, seed).task(bucket, i))
        }
        for s in ("train", "eval")
    ]
    assert not sides[0] & sides[1]
    assert len(sides[0] | sides[1]) == 90
    assert is_held_out([12, 345]) == is_held_out([345, 12])


def test_a_level_without_questions_for_evaluation_is_refused() -> None:
    family = ReverseDigits.model_validate({"task": "reverse_digits", "levels": [{"digits": [1, 1]}]})
    sides = [[n for n in range(1, 10) if is_held_out([n]) == held] for held in (False, True)]
    assert not sides[1], "the hash leaves some: take another level for this test"
    with pytest.raises(UsageError, match=r"families.small.levels\[0\]: eval: no question is left"):
        open_families({"small": family}, "eval", 0).task(Bucket("small", 1), 0)


def test_the_sources_of_a_configuration_are_digit_tasks() -> None:
    config = Config.model_validate({"families": FAMILIES, "reward": {"kind": "binary"}})
    for source in (training_source(config, print), evaluation_source(config, print)):
        assert all(isinstance(source.task(bucket, 0), AnswerTask) for bucket in source.buckets())
        assert all(source.taught(bucket) and source.size(bucket) is None for bucket in source.buckets())
